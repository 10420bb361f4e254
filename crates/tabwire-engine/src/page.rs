//! One tab's page: the driver that reaches it, what is known of it, and the refs given out for it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_cdp::{CdpError, CdpSession, Deadline, TaskGroup};
use tabwire_wire::{ErrorCode, Failure, FrameId, TargetId};
use tokio::sync::watch;

use crate::cdp_driver::{CdpDriver, Observer, PageRules};
use crate::driver::{Driver, Place, Reply, Setting};
use crate::frame_policy::FramePolicy;
use crate::limits::{CATCH_UP, OUTLINE_CHARACTERS};
use crate::network::{Containment, PageNetwork};
use crate::page_record::PageRecord;
use crate::pointer::Mouse;
use crate::snapshot::{RefTable, SnapshotMemory};

/// A handle on one tab's page; clones share it.
#[derive(Clone, Debug)]
pub struct Page {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    target: TargetId,
    main: FrameId,
    driver: Arc<dyn Driver>,
    crashed: watch::Receiver<bool>,
    record: Arc<PageRecord>,
    refs: Mutex<RefTable>,
    memory: Mutex<SnapshotMemory>,
    /// The frame that is meant where nothing else is said; none for the main one.
    chosen_frame: Mutex<Option<FrameId>>,
    /// Whether it was there once, as far as this page's life goes: one that an earlier daemon knew may be yet to come.
    has_seen_frame: AtomicBool,
    /// Held while one action's input events are sent, so that two never mix.
    hands: tokio::sync::Mutex<Mouse>,
    /// Numbers for questions to the page agent that belong together.
    pairs: AtomicU64,
}

/// What is on a page, in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outline {
    /// Where it is.
    pub url: String,
    /// Its title.
    #[serde(deserialize_with = "crate::snapshot::read_title")]
    pub title: String,
    /// Its visible text, cut at a limit.
    #[serde(deserialize_with = "crate::snapshot::read_lines")]
    pub text: String,
    /// Whether text was cut.
    pub truncated: bool,
}

impl Page {
    pub(crate) fn new(
        target: TargetId,
        session: CdpSession,
        crashed: watch::Receiver<bool>,
        tasks: &TaskGroup,
        policy: FramePolicy,
        containment: Option<Containment>,
    ) -> Self {
        let frame = FrameId::new(target.as_str());
        let network = PageNetwork::new(&frame, tasks, containment.clone(), policy.clone());
        let rules = PageRules { policy, containment, settings: network.first_settings() };
        let record = Arc::new(PageRecord::new(network));
        let observer: Arc<dyn Observer> = Arc::<PageRecord>::clone(&record);
        let driver = CdpDriver::start(session, &target, tasks, &observer, rules);
        record.network().set_frame_urls(driver.frame_urls());
        let main = driver.main_frame().clone();
        let inner = Inner {
            target,
            main,
            driver: Arc::new(driver),
            crashed,
            record,
            refs: Mutex::default(),
            memory: Mutex::default(),
            chosen_frame: Mutex::default(),
            has_seen_frame: AtomicBool::new(false),
            hands: tokio::sync::Mutex::default(),
            pairs: AtomicU64::new(1),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Whether the page's process has crashed; a reload brings it back.
    pub(crate) fn is_crashed(&self) -> bool {
        *self.inner.crashed.borrow()
    }

    /// The target the page lives in.
    #[must_use]
    pub fn target(&self) -> &TargetId {
        &self.inner.target
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.inner.driver.is_gone()
    }

    pub(crate) fn main_frame(&self) -> &FrameId {
        &self.inner.main
    }

    pub(crate) fn driver(&self) -> &dyn Driver {
        &*self.inner.driver
    }

    pub(crate) fn record(&self) -> &PageRecord {
        &self.inner.record
    }

    pub(crate) fn network(&self) -> &PageNetwork {
        self.inner.record.network()
    }

    pub(crate) fn refs(&self) -> MutexGuard<'_, RefTable> {
        self.inner.refs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last snapshots that were given, for telling what changed.
    pub(crate) fn memory(&self) -> MutexGuard<'_, SnapshotMemory> {
        self.inner.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The frame that the caller chose, if it is not the main one.
    pub(crate) fn chosen_frame(&self) -> MutexGuard<'_, Option<FrameId>> {
        self.inner.chosen_frame.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the chosen frame was there once.
    pub(crate) fn has_seen_frame(&self) -> &AtomicBool {
        &self.inner.has_seen_frame
    }

    /// Keeps other actions' input away until the guard goes.
    pub(crate) async fn take_hands(
        &self,
        deadline: Deadline,
    ) -> Result<tokio::sync::MutexGuard<'_, Mouse>, Failure> {
        let hands = self.inner.hands.lock();
        tokio::time::timeout_at(deadline.instant(), hands).await.map_err(|_| {
            Failure::new(ErrorCode::Timeout, "Another action kept the tab's mouse and keys for too long.")
                .with_hint("Let the other action finish, or use another tab.")
        })
    }

    /// Whether no action has the tab's mouse and keys.
    pub(crate) fn has_free_hands(&self) -> bool {
        self.inner.hands.try_lock().is_ok()
    }

    /// A number for two questions to the page agent that belong together.
    pub(crate) fn next_pair(&self) -> u64 {
        self.inner.pairs.fetch_add(1, Ordering::Relaxed)
    }

    /// Does something that an open dialog or a crash of the page's process must not leave waiting.
    pub(crate) async fn unless_blocked<T>(
        &self,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        self.check_unblocked()?;
        let mut crashed = self.inner.crashed.clone();
        let mut dialog = self.record().dialog();
        tokio::select! {
            biased;
            // An answer that has come counts, also when the page opened a dialog right after it.
            done = work => done,
            Ok(_) = crashed.wait_for(|crashed| *crashed) => Err(crashed_page()),
            Ok(open) = dialog.wait_for(Option::is_some) => {
                Err(open.as_ref().map_or_else(crashed_page, |dialog| dialog.to_failure()))
            }
        }
    }

    /// Fails when a dialog is open or the process has crashed: what is sent now would be done later, when nobody
    /// expects it.
    fn check_unblocked(&self) -> Result<(), Failure> {
        if self.is_crashed() {
            return Err(crashed_page());
        }
        match &*self.record().dialog().borrow() {
            Some(dialog) => Err(dialog.to_failure()),
            None => Ok(()),
        }
    }

    /// Calls a function of the page agent in the main frame and reads its answer.
    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        function: &'static str,
        argument: &Value,
        deadline: Deadline,
    ) -> Result<T, Failure> {
        self.call_in(&self.inner.main, function, argument, deadline).await
    }

    /// Calls a function of the page agent in a frame and reads its answer.
    pub(crate) async fn call_in<T: DeserializeOwned>(
        &self,
        frame: &FrameId,
        function: &'static str,
        argument: &Value,
        deadline: Deadline,
    ) -> Result<T, Failure> {
        self.check_unblocked()?;
        let called = self.driver().call(frame, function, argument, deadline);
        let value = self.unless_blocked(called).await?;
        serde_json::from_value(value).map_err(|error| {
            let message = format!("The page agent's answer to {function} is not understood: {error}.");
            Failure::new(ErrorCode::Internal, message)
        })
    }

    /// Sends a command to the page and waits for its answer.
    pub(crate) async fn command(
        &self,
        method: &'static str,
        params: &Value,
        deadline: Deadline,
    ) -> Result<Value, Failure> {
        self.check_unblocked()?;
        let answer = self.begin(method, params, deadline);
        self.unless_blocked(async { answer.await.map_err(|error| self.driver().meaning(error)) }).await
    }

    /// Sends a command to the page now and lets its answer be awaited later.
    pub(crate) fn begin(
        &self,
        method: &'static str,
        params: &Value,
        deadline: Deadline,
    ) -> Reply<Value, CdpError> {
        self.begin_at(&Place::Page, method, params, deadline)
    }

    /// The same for a place on the page.
    pub(crate) fn begin_at(
        &self,
        place: &Place,
        method: &'static str,
        params: &Value,
        deadline: Deadline,
    ) -> Reply<Value, CdpError> {
        self.driver().command(place, method, params, deadline)
    }

    /// Waits until the page's record includes every event that has come by now.
    pub(crate) async fn catch_up(&self) -> Result<(), Failure> {
        self.driver().caught_up(Deadline::after(CATCH_UP)).await
    }

    /// Makes a setting hold in every process of the page, those that join later too.
    pub(crate) async fn set_everywhere(
        &self,
        setting: &Setting,
        deadline: Deadline,
    ) -> Result<Value, Failure> {
        let answer = self.driver().set_everywhere(setting, deadline);
        self.unless_blocked(async { answer.await.map_err(|error| self.driver().meaning(error)) }).await
    }

    /// Waits for answers that came of one breath; the first error counts.
    pub(crate) async fn answered(&self, replies: Vec<Reply<Value, CdpError>>) -> Result<(), Failure> {
        self.unless_blocked(async {
            for reply in replies {
                reply.await.map_err(|error| self.driver().meaning(error))?;
            }
            Ok(())
        })
        .await
    }

    /// Says where the page is and what it is called.
    pub(crate) async fn place(&self, deadline: Deadline) -> Result<crate::settle::Place, Failure> {
        self.call("place", &json!({}), deadline).await
    }

    /// Says what is on the page.
    ///
    /// # Errors
    /// When the page cannot be read.
    pub async fn outline(&self, deadline: Deadline) -> Result<Outline, Failure> {
        self.call("outline", &json!({"limit": OUTLINE_CHARACTERS}), deadline).await
    }
}

pub(crate) fn crashed_page() -> Failure {
    Failure::new(ErrorCode::TargetGone, "The page's process has crashed.")
        .with_hint("Open an address in the tab to bring it back: `tabwire open URL`.")
}
