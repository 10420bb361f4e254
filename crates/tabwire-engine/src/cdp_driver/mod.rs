//! Drives one page over CDP: its frames in whatever process they live, and the page agent in each.
//!
//! Knows nothing of what the agent's functions mean.

mod apply;
mod begun;
mod file_input;
mod frame_access;
mod frame_command;
mod held_object;
mod learn;
mod process_settings;
mod setup;
mod watch;
mod watchers;
mod workers;

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_cdp::{CdpError, CdpSession, Deadline, Event, EventFilter, EventStream, TaskGroup};
use tabwire_policy::Capability;
use tabwire_wire::{ErrorCode, Failure, FrameId, TargetId};
use tokio::time::Instant;

use crate::driver::{Driver, FileInput, Frame, ListedFrame, Place, Reply, Setting};
use crate::evaluation::Evaluation;
use crate::frame_policy::FramePolicy;
use crate::frame_table::{FrameTable, WorldId};
use crate::limits::MOVE_PATIENCE;
use crate::network::Containment;
use crate::page_agent::page_agent;
use crate::shown_documents::ShownMark;
use crate::snapshot::{ElementKey, PageText};

use begun::{AgentCall, Begun};
pub(crate) use frame_access::FrameUrls;
use frame_access::capability_of;
use process_settings::ProcessSettings;
use watchers::Watchers;

/// Is told what happens on a page and in its frames, in order.
pub(crate) trait Observer: Send + Sync {
    /// Takes note of an event.
    fn observe(&self, session: &CdpSession, event: &Event);

    /// A process joins the page; it has not been asked for anything yet.
    fn joined(&self, session: &CdpSession);
}

/// A page driven over CDP; clones share it.
#[derive(Clone, Debug)]
pub(crate) struct CdpDriver {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    session: CdpSession,
    main: FrameId,
    /// The agent's world; random, so that no other client's script is found in it.
    world: String,
    frames: Mutex<FrameTable>,
    policy: FramePolicy,
    containment: Option<Containment>,
    /// Told after everything that may have changed the frames.
    stirred: tokio::sync::Notify,
    settings: Mutex<ProcessSettings>,
    watchers: Mutex<Watchers>,
    /// How often something other than looking was done with the page.
    deeds: AtomicU64,
    ready: tokio::sync::watch::Sender<Setup>,
    tasks: TaskGroup,
}

/// What holds for a page from its beginning.
#[derive(Debug)]
pub(crate) struct PageRules {
    /// What may be done with its frames.
    pub(crate) policy: FramePolicy,
    /// What it may reach by ways that show it nothing.
    pub(crate) containment: Option<Containment>,
    /// What its processes are told first.
    pub(crate) settings: Vec<Setting>,
}

/// How far the page is prepared.
#[derive(Clone, Debug)]
enum Setup {
    UnderWay,
    Done,
    Failed(CdpError),
}

impl CdpDriver {
    /// Prepares a page. Returns at once: commands that follow arrive after the preparations.
    pub(crate) fn start(
        session: CdpSession,
        target: &TargetId,
        tasks: &TaskGroup,
        observer: &Arc<dyn Observer>,
        rules: PageRules,
    ) -> Self {
        let main = FrameId::new(target.as_str());
        let mut frames = FrameTable::default();
        frames.attached(&main, None, &session);
        let inner = Arc::new(Inner {
            session: session.clone(),
            main,
            world: random_world(),
            frames: Mutex::new(frames),
            policy: rules.policy,
            containment: rules.containment,
            stirred: tokio::sync::Notify::new(),
            settings: Mutex::new(ProcessSettings::starting_with(rules.settings)),
            watchers: Mutex::default(),
            deeds: AtomicU64::default(),
            ready: tokio::sync::watch::Sender::new(Setup::UnderWay),
            tasks: tasks.clone(),
        });
        let driver = Self { inner };
        driver.watch(session, None, tasks, observer);
        driver
    }

    fn frames(&self) -> MutexGuard<'_, FrameTable> {
        self.inner.frames.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watchers(&self) -> MutexGuard<'_, Watchers> {
        self.inner.watchers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn settings(&self) -> MutexGuard<'_, ProcessSettings> {
        self.inner.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn main_frame(&self) -> &FrameId {
        &self.inner.main
    }

    /// Waits until the page is prepared.
    async fn ready(&self, deadline: Deadline) -> Result<(), Failure> {
        let mut ready = self.inner.ready.subscribe();
        let done = ready.wait_for(|setup| !matches!(setup, Setup::UnderWay));
        match tokio::time::timeout_at(deadline.instant(), done).await {
            Ok(Ok(setup)) => match &*setup {
                Setup::Failed(error) => Err(error.clone().into_failure()),
                _ => Ok(()),
            },
            _ => Err(Failure::new(ErrorCode::Timeout, "The page was not ready in time.")
                .with_hint("The page may be busy or asleep. Try again with a longer --timeout.")),
        }
    }

    fn session_at(&self, place: &Place) -> CdpSession {
        match place {
            Place::Page | Place::Frame(_) => self.inner.session.clone(),
            Place::Browser => self.inner.session.connection().browser(),
        }
    }

    /// The process and world of a frame's agent, made if there is none.
    async fn world_of(&self, frame: &FrameId, deadline: Deadline) -> Result<(CdpSession, WorldId), Failure> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Made {
            execution_context_id: WorldId,
        }
        self.ready(deadline).await?;
        let patience = deadline.instant().min(Instant::now() + MOVE_PATIENCE);
        loop {
            let found = self.frames().find(frame);
            let (session, world) = found.ok_or_else(|| frame_gone(frame))?;
            if let Some(world) = world {
                return Ok((session, world));
            }
            let params = json!({"frameId": frame, "worldName": self.inner.world});
            let made = session.send("Page.createIsolatedWorld", &params, deadline).await;
            match made.and_then(|made| made.to::<Made>()) {
                Ok(Made { execution_context_id: world }) => {
                    self.install(&session, world, deadline).await?;
                    self.frames().world_made(frame, world, &session);
                    return Ok((session, world));
                }
                // The news of where it is now comes behind the answer.
                Err(error) if Instant::now() < patience && is_frame_elsewhere(&error) => {
                    self.await_move(frame, &session, patience).await;
                }
                Err(error) => return Err(self.meaning_in(frame, error)),
            }
        }
    }

    /// Waits a moment until a frame is in another process than this session's, or gone.
    async fn await_move(&self, frame: &FrameId, from: &CdpSession, until: Instant) {
        let moved = async {
            loop {
                let stirred = self.inner.stirred.notified();
                let is_there = self.frames().find(frame).is_some_and(|(at, _)| at.id() == from.id());
                if !is_there {
                    return;
                }
                stirred.await;
            }
        };
        let _ = tokio::time::timeout_at(until, moved).await;
    }

    /// Runs the agent's script in a world.
    async fn install(&self, session: &CdpSession, world: WorldId, deadline: Deadline) -> Result<(), Failure> {
        let params = json!({"expression": page_agent(), "contextId": world.number()});
        session.send("Runtime.evaluate", &params, deadline).await.map(drop).map_err(CdpError::into_failure)
    }

    async fn call_in_time(
        self,
        frame: FrameId,
        call: AgentCall,
        mut begun: Option<Begun>,
        deadline: Deadline,
    ) -> Result<Value, Failure> {
        let mut installed = false;
        loop {
            let mut called = match begun.take() {
                Some(begun) => begun,
                None => {
                    let (session, world) = self.world_of(&frame, deadline).await?;
                    Begun::begin(&session, world, &call, deadline)?
                }
            };
            let answer = called.answer().await;
            let (session, world) = called.place();
            match answer {
                Ok(answer) => {
                    let evaluation: Evaluation = answer.to().map_err(CdpError::into_failure)?;
                    if !evaluation.is_number(begun::ABSENT) || installed {
                        return evaluation.into_agent_answer();
                    }
                    // Frames without scripts of their own have a world in which nothing was run yet.
                    installed = true;
                    self.install(&session, world, deadline).await?;
                }
                // Never run: the world had gone before.
                Err(error) if is_missing_world(&error) => self.frames().world_gone(world, &session),
                Err(error) if is_document_gone(&error) => return Err(document_gone()),
                Err(error) => return Err(self.meaning_in(&frame, error)),
            }
        }
    }

    /// What an error of a command to a frame means. Chromium keeps commands back from a page that is on its way to
    /// another document, from its start until the answer begins (156), however long the server takes.
    fn meaning_in(&self, frame: &FrameId, error: CdpError) -> Failure {
        if is_missing_world(&error) || is_document_gone(&error) {
            return document_gone();
        }
        if !matches!(error, CdpError::Timeout { .. }) {
            return error.into_failure();
        }
        let leaving_for = {
            let frames = self.frames();
            frames.leaving_for(frame).or_else(|| frames.leaving_for(&self.inner.main))
        };
        match leaving_for {
            None => error.into_failure(),
            Some(address) => Failure::new(
                ErrorCode::Timeout,
                format!(
                    "The page is on its way to {}, which has not answered; until it does, nothing can be asked of it.",
                    PageText::cut(&address, 200).as_str()
                ),
            )
            .with_hint("Give it more time with --timeout, or go elsewhere: `tabwire open URL`."),
        }
    }
}

impl Driver for CdpDriver {
    fn frames(&self) -> Vec<Frame> {
        let roots = self.frames().roots();
        self.inner.policy.readable(roots)
    }

    fn every_frame(&self) -> Vec<Frame> {
        self.frames().roots()
    }

    fn policy(&self) -> &FramePolicy {
        &self.inner.policy
    }

    fn judged_url(&self, frame: &FrameId) -> Option<String> {
        self.frames().judged_url(frame)
    }

    fn shown_mark(&self) -> ShownMark {
        self.frames().shown().mark()
    }

    fn shown_since(&self, mark: ShownMark) -> Option<Vec<String>> {
        self.frames().shown().since(mark)
    }

    fn judged_frames(&self) -> Vec<(FrameId, String)> {
        self.frames().judged()
    }

    fn frames_other_than(&self, known: Vec<FrameId>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let driver = self.clone();
        Box::pin(async move {
            loop {
                let stirred = driver.inner.stirred.notified();
                if !Driver::frames(&driver).iter().map(|frame| &frame.id).eq(&known) {
                    return;
                }
                stirred.await;
            }
        })
    }

    fn call(
        &self,
        frame: &FrameId,
        function: &'static str,
        argument: &Value,
        deadline: Deadline,
    ) -> Reply<Value> {
        if let Err(failure) = self.check(frame, capability_of(function)) {
            return Box::pin(async { Err(failure) });
        }
        if function != "snapshot" {
            self.inner.deeds.fetch_add(1, Ordering::Relaxed);
        }
        let call = AgentCall::new(function, argument);
        let known = self.frames().find(frame);
        let begun = match known {
            Some((session, Some(world))) => match Begun::begin(&session, world, &call, deadline) {
                Ok(begun) => Some(begun),
                Err(failure) => return Box::pin(async { Err(failure) }),
            },
            _ => None,
        };
        Box::pin(self.clone().call_in_time(frame.clone(), call, begun, deadline))
    }

    fn apply(&self, frame: &FrameId, key: ElementKey, function: String, deadline: Deadline) -> Reply<Value> {
        if let Err(failure) = self.check(frame, Capability::Eval) {
            return Box::pin(async { Err(failure) });
        }
        self.inner.deeds.fetch_add(1, Ordering::Relaxed);
        let (driver, frame) = (self.clone(), frame.clone());
        Box::pin(async move { driver.apply_in_page(&frame, key, &function, deadline).await })
    }

    fn name_frame(&self, frame: &Frame, deadline: Deadline) -> Reply<()> {
        let (driver, frame) = (self.clone(), frame.clone());
        Box::pin(async move { driver.tell_owner(&frame, deadline).await })
    }

    fn learn_listeners(&self, frame: &FrameId) -> Reply<bool> {
        self.learn(frame)
    }

    fn command(
        &self,
        place: &Place,
        method: &'static str,
        params: &Value,
        deadline: Deadline,
    ) -> Reply<Value, CdpError> {
        self.inner.deeds.fetch_add(1, Ordering::Relaxed);
        if let Place::Frame(frame) = place {
            return self.command_in(frame, method, params, deadline);
        }
        let begun = self.session_at(place).begin(method, params, deadline);
        Box::pin(async move { begun?.answer().await.and_then(|answer| answer.to()) })
    }

    fn prepared(&self, deadline: Deadline) -> Reply<()> {
        let driver = self.clone();
        Box::pin(async move { driver.ready(deadline).await })
    }

    fn caught_up(&self, deadline: Deadline) -> Reply<()> {
        self.catch_up(deadline)
    }

    fn set_everywhere(&self, setting: &Setting, deadline: Deadline) -> Reply<Value, CdpError> {
        self.set(setting, deadline)
    }

    fn take_back_script(&self, key: &str, deadline: Deadline) -> Reply<(), CdpError> {
        self.take_back(key, deadline)
    }

    fn events(&self, methods: &[&'static str]) -> Vec<EventStream> {
        let sessions = self.frames().sessions();
        sessions.iter().map(|session| session.events(EventFilter::methods(methods.iter().copied()))).collect()
    }

    fn all_frames(&self) -> Vec<ListedFrame> {
        self.frames().all()
    }

    fn held_frame(&self, frame: &FrameId, key: ElementKey, deadline: Deadline) -> Reply<Option<FrameId>> {
        let (driver, frame) = (self.clone(), frame.clone());
        Box::pin(async move { driver.find_held_frame(&frame, key, deadline).await })
    }

    fn has_frame(&self, frame: &FrameId) -> bool {
        self.frames().find(frame).is_some()
    }

    fn world_of(&self, frame: &FrameId) -> Option<WorldId> {
        self.frames().find(frame)?.1
    }

    fn is_leaving(&self, frame: &FrameId) -> bool {
        let frames = self.frames();
        frames.leaving_for(frame).or_else(|| frames.leaving_for(&self.inner.main)).is_some()
    }

    fn file_input(&self, frame: &FrameId, input: FileInput, deadline: Deadline) -> Reply<Value> {
        let (driver, frame) = (self.clone(), frame.clone());
        Box::pin(async move { driver.ask_file_input(&frame, input, deadline).await })
    }

    fn give_files(
        &self,
        frame: &FrameId,
        input: FileInput,
        files: &[PathBuf],
        deadline: Deadline,
    ) -> Reply<()> {
        if let Err(failure) = self.check(frame, Capability::Upload) {
            return Box::pin(async { Err(failure) });
        }
        let (driver, frame, files) = (self.clone(), frame.clone(), files.to_vec());
        Box::pin(async move { driver.set_file_input(&frame, input, &files, deadline).await })
    }

    fn meaning(&self, error: CdpError) -> Failure {
        self.meaning_in(&self.inner.main, error)
    }

    fn is_gone(&self) -> bool {
        self.inner.session.is_gone()
    }
}

impl CdpDriver {
    /// Tells the world above which of its elements holds the frame.
    async fn tell_owner(&self, frame: &Frame, deadline: Deadline) -> Result<(), Failure> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Owner {
            backend_node_id: i64,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Object {
            object_id: String,
        }
        #[derive(Deserialize)]
        struct Resolved {
            object: Object,
        }
        let Some(holder) = &frame.holder else { return Ok(()) };
        let (session, world) = self.world_of(holder, deadline).await?;
        if self.frames().is_named(&frame.id, world) {
            return Ok(());
        }
        let failed = CdpError::into_failure;
        let params = json!({"frameId": frame.id});
        let owner = session.send("DOM.getFrameOwner", &params, deadline).await.map_err(failed)?;
        let owner: Owner = owner.to().map_err(failed)?;
        let params = json!({"backendNodeId": owner.backend_node_id, "executionContextId": world.number()});
        let resolved = session.send("DOM.resolveNode", &params, deadline).await.map_err(failed)?;
        let resolved: Resolved = resolved.to().map_err(failed)?;
        let params = json!({
            "objectId": resolved.object.object_id,
            "functionDeclaration": "function (frame) { tabwire.nameFrame({ element: this, frame }); }",
            "arguments": [{"value": frame.id}],
        });
        session.send("Runtime.callFunctionOn", &params, deadline).await.map_err(failed)?;
        let params = json!({"objectId": resolved.object.object_id});
        // The answer is of no interest.
        let _ = session.begin("Runtime.releaseObject", &params, deadline);
        self.frames().named(&frame.id, world);
        Ok(())
    }
}

fn random_world() -> String {
    let mut bytes = [0_u8; 8];
    // Without randomness the name is only less private.
    let _ = getrandom::fill(&mut bytes);
    format!("tabwire-{:016x}", u64::from_le_bytes(bytes))
}

fn is_missing_world(error: &CdpError) -> bool {
    matches!(error, CdpError::Protocol { message, .. } if message.contains("Cannot find context"))
}

/// Whether a process does not have the frame: it is in another, or gone.
fn is_frame_elsewhere(error: &CdpError) -> bool {
    matches!(error, CdpError::Protocol { message, .. } if message.contains("No frame for given id"))
}

fn is_document_gone(error: &CdpError) -> bool {
    let CdpError::Protocol { message, .. } = error else { return false };
    ["context was destroyed", "navigated or closed", "Promise was collected"]
        .iter()
        .any(|words| message.contains(words))
}

/// The page went to another document in the middle of a call; it may or may not have done its work.
pub(crate) fn document_gone() -> Failure {
    Failure::new(ErrorCode::TargetGone, "The page went to another document in the meantime.")
        .with_hint("Take a new `tabwire snapshot` and try again.")
}

fn frame_gone(frame: &FrameId) -> Failure {
    Failure::new(ErrorCode::TargetGone, format!("The frame {frame} is no longer on the page."))
        .with_hint("Take a new `tabwire snapshot` and try again.")
}
