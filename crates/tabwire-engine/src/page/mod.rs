//! One tab's page: its CDP sessions, the state that events report, and the refs of its elements.

pub(crate) mod console;
mod console_preview;
pub(crate) mod dialog;
pub(crate) mod emulation;
pub(crate) mod evaluate;
pub(crate) mod history;
pub(crate) mod init_scripts;
pub(crate) mod navigation;
pub(crate) mod snapshot_text;
pub(crate) mod state;
pub(crate) mod wait;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::{BrowserContextId, ErrorCode, Failure, FrameId, Remedy, Step, TargetId};
use tabwire_cdp::{CdpError, CdpSession, Deadline, TaskGroup};
use tokio::sync::watch;

use crate::cdp::{CommandTarget, EventObserver, PageConfig, PageSession, ResponseFuture, Setting};
use crate::feed::{EventFeed, NetworkFeed, PageFeed};
use crate::frames::policy::FramePolicy;
use crate::frames::scope::SelectedFrame;
use crate::input::mouse::Mouse;
use crate::network::{EgressPolicy, PageNetwork};
use crate::page::state::PageState;
use crate::snapshot::{RefTable, SnapshotMemory};

/// Characters of a page's text in the result of opening it.
const OUTLINE_CHARACTERS: usize = 4_000;

/// How long a result waits for events that have arrived but were not read.
pub(crate) const SYNC_TIMEOUT: Duration = Duration::from_secs(1);

/// A handle on one tab's page; clones share it.
#[derive(Clone, Debug)]
pub struct Page {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    target: TargetId,
    /// Its browser context, if a script has made it.
    jar: Option<BrowserContextId>,
    main: FrameId,
    session: PageSession,
    crashed: watch::Receiver<bool>,
    state: Arc<PageState>,
    refs: Mutex<RefTable>,
    memory: Mutex<SnapshotMemory>,
    selected_frame: SelectedFrame,
    /// Locked while one action sends input events, so that events of two actions never mix.
    input: Arc<tokio::sync::Mutex<Mouse>>,
    /// Whether the user has mouse and keyboard.
    is_taken: AtomicBool,
    /// The last id of a paired agent call.
    pairs: AtomicU64,
}

/// The text of a page, in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outline {
    /// Its URL.
    pub url: String,
    /// Its title.
    #[serde(deserialize_with = "crate::snapshot::read_title")]
    pub title: String,
    /// Its visible text, cut at `OUTLINE_CHARACTERS`.
    #[serde(deserialize_with = "crate::snapshot::read_lines")]
    pub text: String,
    /// Whether text was cut.
    pub truncated: bool,
}

/// What a page gets at its first use.
pub(crate) struct PageSetup {
    pub(crate) policy: FramePolicy,
    pub(crate) egress: Option<EgressPolicy>,
    /// Where its events go.
    pub(crate) feed: EventFeed,
    /// Its browser context, if a script has made it.
    pub(crate) jar: Option<BrowserContextId>,
}

impl Page {
    pub(crate) fn new(
        target: TargetId,
        session: CdpSession,
        crashed: watch::Receiver<bool>,
        tasks: &TaskGroup,
        setup: PageSetup,
    ) -> Self {
        let PageSetup { policy, egress, feed, jar } = setup;
        let frame = FrameId::new(target.as_str());
        let network = PageNetwork::new(
            &frame,
            tasks,
            egress.clone(),
            policy.clone(),
            NetworkFeed::new(feed.clone(), &target),
        );
        let config = PageConfig { policy, egress, settings: network.first_settings() };
        let state = Arc::new(PageState::new(network, PageFeed::new(feed.clone(), &target)));
        let observer: Arc<dyn EventObserver> = Arc::<PageState>::clone(&state);
        let session = PageSession::start(session, &target, tasks, &observer, config);
        state.network().set_frame_urls(session.frame_urls());
        let main = session.main_frame().clone();
        let inner = Inner {
            target,
            jar,
            main,
            session,
            crashed,
            state,
            refs: Mutex::default(),
            memory: Mutex::default(),
            selected_frame: SelectedFrame::default(),
            input: Arc::default(),
            is_taken: AtomicBool::new(false),
            pairs: AtomicU64::new(1),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Follows whether the page's process has crashed.
    pub(crate) fn crash_changes(&self) -> watch::Receiver<bool> {
        self.inner.crashed.clone()
    }

    /// Whether the page's process crashed. A navigation brings it back.
    pub(crate) fn is_crashed(&self) -> bool {
        *self.inner.crashed.borrow()
    }

    /// The target the page lives in.
    #[must_use]
    pub fn target(&self) -> &TargetId {
        &self.inner.target
    }

    /// Sends a storage command for the page's context. Chromium 156 means the default context, even on a page, and takes
    /// another one only on the browser's session.
    pub(crate) fn begin_storage(
        &self,
        method: &'static str,
        mut params: Value,
        deadline: Deadline,
    ) -> ResponseFuture<Value, CdpError> {
        let Some(jar) = &self.inner.jar else { return self.begin(method, &params, deadline) };
        params["browserContextId"] = json!(jar);
        self.begin_on(&CommandTarget::Browser, method, &params, deadline)
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.inner.session.is_gone()
    }

    pub(crate) fn main_frame(&self) -> &FrameId {
        &self.inner.main
    }

    pub(crate) fn session(&self) -> &PageSession {
        &self.inner.session
    }

    pub(crate) fn state(&self) -> &PageState {
        &self.inner.state
    }

    pub(crate) fn network(&self) -> &PageNetwork {
        self.inner.state.network()
    }

    pub(crate) fn refs(&self) -> MutexGuard<'_, RefTable> {
        self.inner.refs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last snapshots, for deltas.
    pub(crate) fn memory(&self) -> MutexGuard<'_, SnapshotMemory> {
        self.inner.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The frame that `frame` selected.
    pub(crate) fn selected_frame(&self) -> &SelectedFrame {
        &self.inner.selected_frame
    }

    /// Locks mouse and keyboard for one action.
    pub(crate) async fn lock_input(
        &self,
        deadline: Deadline,
    ) -> Result<tokio::sync::MutexGuard<'_, Mouse>, Failure> {
        let input = self.inner.input.lock();
        tokio::time::timeout_at(deadline.instant(), input).await.map_err(|_| {
            if self.inner.is_taken.load(Ordering::Acquire) {
                return taken_over();
            }
            Failure::new(ErrorCode::Timeout, "Another action is still sending input to this tab.")
                .with_remedy("Wait until it ends, or use another tab.")
        })
    }

    /// Locks mouse and keyboard for the user, until the guard is dropped. Actions that send input wait.
    pub(crate) async fn take_input(&self, deadline: Deadline) -> Option<TakenInput> {
        let taking = Arc::clone(&self.inner.input).lock_owned();
        let guard = tokio::time::timeout_at(deadline.instant(), taking).await.ok()?;
        self.inner.is_taken.store(true, Ordering::Release);
        Some(TakenInput { page: self.clone(), _guard: guard })
    }

    /// Whether no action has mouse and keyboard locked.
    pub(crate) fn is_input_free(&self) -> bool {
        self.inner.input.try_lock().is_ok()
    }

    /// An id for two agent calls that belong together.
    pub(crate) fn next_pair(&self) -> u64 {
        self.inner.pairs.fetch_add(1, Ordering::Relaxed)
    }

    /// Runs a future that an open dialog or a crash ends with a failure: Chrome then sends no response.
    pub(crate) async fn unless_blocked<T>(
        &self,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        self.check_unblocked()?;
        let mut crashed = self.inner.crashed.clone();
        let mut dialog = self.state().dialog();
        tokio::select! {
            biased;
            // A response that arrived counts, even when the page opened a dialog right after it.
            done = work => done,
            Ok(_) = crashed.wait_for(|crashed| *crashed) => Err(crashed_page()),
            Ok(open) = dialog.wait_for(Option::is_some), if !self.state().is_scripted() => {
                Err(open.as_ref().map_or_else(crashed_page, |dialog| dialog.to_failure()))
            }
        }
    }

    /// Fails when a dialog is open or the process crashed: Chrome would run the command later, when the dialog closes.
    fn check_unblocked(&self) -> Result<(), Failure> {
        if self.is_crashed() {
            return Err(crashed_page());
        }
        match &*self.state().dialog().borrow() {
            // A script closes it.
            Some(_) if self.state().is_scripted() => Ok(()),
            Some(dialog) => Err(dialog.to_failure()),
            None => Ok(()),
        }
    }

    /// Calls a function of the page agent in the main frame.
    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        function: &'static str,
        argument: &Value,
        deadline: Deadline,
    ) -> Result<T, Failure> {
        self.call_in(&self.inner.main, function, argument, deadline).await
    }

    /// Calls a function of the page agent in a frame.
    pub(crate) async fn call_in<T: DeserializeOwned>(
        &self,
        frame: &FrameId,
        function: &'static str,
        argument: &Value,
        deadline: Deadline,
    ) -> Result<T, Failure> {
        let value = self.call_value(frame, function, argument, deadline).await?;
        serde_json::from_value(value).map_err(|error| {
            let message = format!("Unexpected result of the page agent function {function}: {error}.");
            Failure::new(ErrorCode::Internal, message)
        })
    }

    async fn call_value(
        &self,
        frame: &FrameId,
        function: &'static str,
        argument: &Value,
        deadline: Deadline,
    ) -> Result<Value, Failure> {
        self.check_unblocked()?;
        self.unless_blocked(self.session().call(frame, function, argument, deadline)).await
    }

    /// Sends a command to the page and waits for the response.
    pub(crate) async fn command(
        &self,
        method: &'static str,
        params: &Value,
        deadline: Deadline,
    ) -> Result<Value, Failure> {
        self.check_unblocked()?;
        let response = self.begin(method, params, deadline);
        self.unless_blocked(async { response.await.map_err(|error| self.session().failure(error)) }).await
    }

    /// Sends a command to the page now; the future resolves to the response.
    pub(crate) fn begin(
        &self,
        method: &'static str,
        params: &Value,
        deadline: Deadline,
    ) -> ResponseFuture<Value, CdpError> {
        self.begin_on(&CommandTarget::Page, method, params, deadline)
    }

    /// The same for another target.
    pub(crate) fn begin_on(
        &self,
        target: &CommandTarget,
        method: &'static str,
        params: &Value,
        deadline: Deadline,
    ) -> ResponseFuture<Value, CdpError> {
        self.session().command(target, method, params, deadline)
    }

    /// Waits until the page's state includes every event that has arrived by now.
    pub(crate) async fn sync_events(&self) {
        self.session().sync_events(Deadline::after(SYNC_TIMEOUT)).await;
    }

    /// Applies a setting in every process of the page, including those that join later.
    pub(crate) async fn set_everywhere(
        &self,
        setting: &Setting,
        deadline: Deadline,
    ) -> Result<Value, Failure> {
        let response = self.session().apply_setting(setting, deadline);
        self.unless_blocked(async { response.await.map_err(|error| self.session().failure(error)) }).await
    }

    /// Waits for the responses of a batch; fails with the first error.
    pub(crate) async fn wait_all(
        &self,
        responses: Vec<ResponseFuture<Value, CdpError>>,
    ) -> Result<(), Failure> {
        self.unless_blocked(async {
            for response in responses {
                response.await.map_err(|error| self.session().failure(error))?;
            }
            Ok(())
        })
        .await
    }

    /// URL and title of the page.
    pub(crate) async fn info(&self, deadline: Deadline) -> Result<crate::settle::PageInfo, Failure> {
        self.call("location", &json!({}), deadline).await
    }

    /// A short text of the page.
    ///
    /// # Errors
    /// When the page cannot be read.
    pub async fn outline(&self, deadline: Deadline) -> Result<Outline, Failure> {
        self.call("outline", &json!({"limit": OUTLINE_CHARACTERS}), deadline).await
    }
}

/// Mouse and keyboard of a page, locked for the user.
#[derive(Debug)]
pub(crate) struct TakenInput {
    page: Page,
    _guard: tokio::sync::OwnedMutexGuard<Mouse>,
}

impl Drop for TakenInput {
    fn drop(&mut self) {
        self.page.inner.is_taken.store(false, Ordering::Release);
    }
}

/// The failure of an action on a tab that the user drives.
#[must_use]
pub fn taken_over() -> Failure {
    Failure::new(ErrorCode::TakenOver, "The user has taken over this tab.").with_remedy(Remedy::new(
        "Wait until the user gives it back and try again, or open another tab with {}.",
        [Step::action("tab_new")],
    ))
}

pub(crate) fn crashed_page() -> Failure {
    Failure::new(ErrorCode::TargetGone, "The page's process crashed.")
        .with_remedy(Remedy::new("Run {} in the tab to restart it.", [Step::action("navigate")]))
}
