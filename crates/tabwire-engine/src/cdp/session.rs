//! The CDP sessions of one page: one for the page, and one for each frame in a process of its own.

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use serde_json::Value;
use tabwire_api::{ErrorCode, Failure, FrameId, Remedy, Step, TargetId};
use tabwire_cdp::{CdpError, CdpSession, Deadline, Event, EventFilter, EventStream, TaskGroup};

use super::events::readers::EventReaders;
use super::process_settings::{ProcessSettings, Setting};
use super::script_objects::ScriptHandles;
use super::workers::{Worker, Workers};
use crate::frames::policy::FramePolicy;
use crate::frames::shown_documents::DocumentMark;
use crate::frames::tree::{ContextId, Frame, FrameInfo, FrameTree};
use crate::network::EgressPolicy;

/// The response to a command or an agent call. The command is sent when the future is made, not when it is polled.
pub(crate) type ResponseFuture<T, E = Failure> = Pin<Box<dyn Future<Output = Result<T, E>> + Send>>;

/// Receives every event of a page, its frames and its workers, in order.
pub(crate) trait EventObserver: Send + Sync {
    fn observe(&self, session: &CdpSession, event: &Event);

    /// A process joined the page. No command has been sent to it yet.
    fn joined(&self, session: &CdpSession);

    /// A worker of the page started or ended.
    fn worker(&self, worker: &Worker, is_start: bool);

    /// A worker wrote to its console or threw.
    fn observe_worker(&self, worker: &Worker, event: &Event);
}

/// What applies to a page from its first command on.
#[derive(Debug)]
pub(crate) struct PageConfig {
    pub(crate) policy: FramePolicy,
    pub(crate) egress: Option<EgressPolicy>,
    /// Settings that every process gets before its first document runs.
    pub(crate) settings: Vec<Setting>,
}

/// Where a command goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CommandTarget {
    /// The page's own session.
    Page,
    /// The browser's root session.
    Browser,
    /// The session of the frame's process; `Runtime.evaluate` runs in the frame's main world.
    Frame(FrameId),
}

/// The sessions of one page; clones share them.
#[derive(Clone, Debug)]
pub(crate) struct PageSession {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    session: CdpSession,
    main_frame: FrameId,
    /// The name of the agent's isolated world. Random, so that no other client's script runs in it.
    world_name: String,
    frames: Mutex<FrameTree>,
    /// Notified after every event that may have changed the frames.
    frames_changed: tokio::sync::Notify,
    policy: FramePolicy,
    egress: Option<EgressPolicy>,
    settings: ProcessSettings,
    readers: EventReaders,
    handles: ScriptHandles,
    workers: Workers,
    /// Counts commands and agent calls other than snapshots: while it stays the same, the page was only read.
    activity: AtomicU64,
    setup: tokio::sync::watch::Sender<SetupState>,
    tasks: TaskGroup,
}

/// How far the setup of the page's own session is.
#[derive(Clone, Debug)]
enum SetupState {
    Pending,
    Done,
    Failed(CdpError),
}

/// A handle that does not keep the page alive.
#[derive(Clone, Debug)]
pub(super) struct WeakPageSession(Weak<Inner>);

impl WeakPageSession {
    pub(super) fn upgrade(&self) -> Option<PageSession> {
        self.0.upgrade().map(|inner| PageSession { inner })
    }
}

impl PageSession {
    /// Starts the setup of a page and returns at once: commands that follow arrive after the setup.
    pub(crate) fn start(
        session: CdpSession,
        target: &TargetId,
        tasks: &TaskGroup,
        observer: &Arc<dyn EventObserver>,
        config: PageConfig,
    ) -> Self {
        // Chrome gives the main frame the id of its target.
        let main_frame = FrameId::new(target.as_str());
        let mut frames = FrameTree::default();
        frames.attached(&main_frame, None, &session);
        let inner = Arc::new(Inner {
            session: session.clone(),
            main_frame,
            world_name: random_world_name(),
            frames: Mutex::new(frames),
            frames_changed: tokio::sync::Notify::new(),
            policy: config.policy,
            egress: config.egress,
            settings: ProcessSettings::starting_with(config.settings),
            readers: EventReaders::default(),
            handles: ScriptHandles::default(),
            workers: Workers::default(),
            activity: AtomicU64::default(),
            setup: tokio::sync::watch::Sender::new(SetupState::Pending),
            tasks: tasks.clone(),
        });
        let page = Self { inner };
        page.start_process(session, None, observer);
        page
    }

    pub(super) fn downgrade(&self) -> WeakPageSession {
        WeakPageSession(Arc::downgrade(&self.inner))
    }

    pub(super) fn tree(&self) -> MutexGuard<'_, FrameTree> {
        self.inner.frames.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn page_session(&self) -> &CdpSession {
        &self.inner.session
    }

    pub(super) fn world_name(&self) -> &str {
        &self.inner.world_name
    }

    pub(super) fn settings(&self) -> &ProcessSettings {
        &self.inner.settings
    }

    pub(super) fn readers(&self) -> &EventReaders {
        &self.inner.readers
    }

    /// The objects of the page that scripts keep.
    pub(super) fn handles(&self) -> &ScriptHandles {
        &self.inner.handles
    }

    pub(super) fn workers(&self) -> &Workers {
        &self.inner.workers
    }

    pub(super) fn egress(&self) -> Option<&EgressPolicy> {
        self.inner.egress.as_ref()
    }

    pub(super) fn tasks(&self) -> &TaskGroup {
        &self.inner.tasks
    }

    pub(super) fn count_activity(&self) {
        self.inner.activity.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn activity(&self) -> u64 {
        self.inner.activity.load(Ordering::Relaxed)
    }

    pub(super) fn set_ready(&self, result: Result<(), CdpError>) {
        self.inner.setup.send_replace(match result {
            Ok(()) => SetupState::Done,
            Err(error) => SetupState::Failed(error),
        });
    }

    pub(super) fn notify_frames_changed(&self) {
        self.inner.frames_changed.notify_waiters();
    }

    /// Resolves at the first frame change after which the check holds; at once when it holds now.
    pub(super) async fn frames_satisfy(&self, check: impl Fn(&Self) -> bool) {
        loop {
            // Registered before the check: a change between the two must not be lost.
            let changed = self.inner.frames_changed.notified();
            if check(self) {
                return;
            }
            changed.await;
        }
    }

    /// Waits until the setup of the page's own session is done.
    pub(crate) async fn wait_ready(&self, deadline: Deadline) -> Result<(), Failure> {
        let mut setup = self.inner.setup.subscribe();
        let done = setup.wait_for(|setup| !matches!(setup, SetupState::Pending));
        match tokio::time::timeout_at(deadline.instant(), done).await {
            Ok(Ok(setup)) => match &*setup {
                SetupState::Failed(error) => Err(error.clone().into_failure()),
                _ => Ok(()),
            },
            _ => Err(Failure::new(ErrorCode::Timeout, "The page was not ready in time.").with_remedy(
                Remedy::new("The page may be busy. Retry with a longer {}.", [Step::argument("timeout")]),
            )),
        }
    }

    /// Waits until the page's state includes every event that has arrived by now. A flood of events ends the wait at
    /// the deadline.
    pub(crate) async fn sync_events(&self, deadline: Deadline) {
        self.inner.readers.sync(deadline).await;
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.inner.session.is_gone()
    }

    /// The CDP session on the page's own target.
    pub(crate) fn cdp_session(&self) -> &CdpSession {
        &self.inner.session
    }

    pub(crate) fn policy(&self) -> &FramePolicy {
        &self.inner.policy
    }

    pub(crate) fn main_frame(&self) -> &FrameId {
        &self.inner.main_frame
    }

    /// The root frames that may be read, the main frame first, parents before children.
    pub(crate) fn readable_roots(&self) -> Vec<Frame> {
        let roots = self.tree().roots();
        self.inner.policy.readable(roots)
    }

    /// All root frames, the main frame first, parents before children.
    pub(crate) fn roots(&self) -> Vec<Frame> {
        self.tree().roots()
    }

    /// Every frame of the page, parents before children.
    pub(crate) fn all_frames(&self) -> Vec<FrameInfo> {
        self.tree().all()
    }

    pub(crate) fn has_frame(&self, frame: &FrameId) -> bool {
        self.tree().find(frame).is_some()
    }

    /// The URL by which the policy judges a frame; `None` when the page has no such frame.
    pub(crate) fn policy_url(&self, frame: &FrameId) -> Option<String> {
        self.tree().policy_url(frame)
    }

    /// Every frame that the policy judges separately, with its policy URL; the main frame first.
    pub(crate) fn policy_urls(&self) -> Vec<(FrameId, String)> {
        self.tree().policy_urls()
    }

    /// A mark in the history of shown documents, for `documents_since`.
    pub(crate) fn document_mark(&self) -> DocumentMark {
        self.tree().shown().mark()
    }

    /// The policy URLs of all documents shown since the mark; `None` when there were too many to remember.
    pub(crate) fn documents_since(&self, mark: DocumentMark) -> Option<Vec<String>> {
        self.tree().shown().since(mark)
    }

    /// Resolves when the readable root frames differ from these.
    pub(crate) fn frames_differ_from(&self, known: Vec<FrameId>) -> impl Future<Output = ()> + Send + use<> {
        let page = self.clone();
        async move {
            page.frames_satisfy(|page| !page.readable_roots().iter().map(|frame| &frame.id).eq(&known)).await;
        }
    }

    /// The execution context of the agent in a frame's document; another document has another context.
    pub(crate) fn agent_context_id(&self, frame: &FrameId) -> Option<ContextId> {
        self.tree().find(frame)?.1
    }

    /// The URL that the frame, or the page, is navigating to.
    pub(super) fn pending_url(&self, frame: &FrameId) -> Option<String> {
        let tree = self.tree();
        tree.pending_url(frame).or_else(|| tree.pending_url(self.main_frame()))
    }

    /// Whether the frame, or the page, is navigating to another document.
    pub(crate) fn is_navigating(&self, frame: &FrameId) -> bool {
        self.pending_url(frame).is_some()
    }

    /// Subscribes to events of the page and of its frames' processes. An event is in its stream before the response
    /// to a command that the browser responded to after the event.
    pub(crate) fn events(&self, methods: &[&'static str]) -> Vec<EventStream> {
        let sessions = self.tree().sessions();
        sessions.iter().map(|session| session.events(EventFilter::methods(methods.iter().copied()))).collect()
    }

    /// Sends a command. Commands arrive in the order of these calls.
    pub(crate) fn command(
        &self,
        target: &CommandTarget,
        method: &'static str,
        params: &Value,
        deadline: Deadline,
    ) -> ResponseFuture<Value, CdpError> {
        self.count_activity();
        let session = match target {
            CommandTarget::Frame(frame) => return self.command_in(frame, method, params, deadline),
            CommandTarget::Page => self.inner.session.clone(),
            CommandTarget::Browser => self.inner.session.connection().browser(),
        };
        let pending = session.begin(method, params, deadline);
        Box::pin(async move { pending?.response().await.and_then(|response| response.to()) })
    }
}

fn random_world_name() -> String {
    let mut bytes = [0_u8; 8];
    // Without randomness the name is only easier to guess.
    let _ = getrandom::fill(&mut bytes);
    format!("tabwire-{:016x}", u64::from_le_bytes(bytes))
}
