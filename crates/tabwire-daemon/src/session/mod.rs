//! One session: its browser, the engine that drives it, and its saved record.

mod activity;
pub(crate) mod autosave;
pub(crate) mod commands;
pub(crate) mod leases;
pub(crate) mod live;
pub(crate) mod memory;
pub(crate) mod record;
pub(crate) mod recovery;
pub(crate) mod start;
pub(crate) mod status;
pub(crate) mod store;
pub(crate) mod survey;
pub(crate) mod tab_choice;
pub(crate) mod table;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex as StdMutex, MutexGuard, PoisonError};
use std::time::Duration;

use tabwire_api::api::{Difference, Recovery, SessionOptions};
use tabwire_api::{ErrorCode, Failure, Remedy, SessionKey, Step};
use tabwire_cdp::TaskGroup;
use tabwire_policy::FlowTracker;
use tokio::sync::{Mutex, Semaphore};

use crate::action::files::output_dirs::OutputDirs;
use crate::audit::writer::AuditWriter;
use crate::browser::background::{in_background, run_to_completion};
use crate::browser::manager::BrowserManager;
use crate::endpoint::cdp::open_port::OpenPort;
use crate::http::token::Token;
use crate::hub::HubGone;
use crate::policy::store::PolicyStore;
use crate::session::activity::Activity;
use crate::session::autosave::StateAutosave;
use crate::session::leases::LeaseTable;
use crate::session::live::LiveSession;
use crate::session::memory::Remembered;
use crate::session::record::SessionRecord;
use crate::session::start::StartOptions;
use crate::session::store::SessionStore;

/// How long tab changes are collected before the session record is written.
const REMEMBER_AFTER: Duration = Duration::from_millis(250);

/// A session, with or without a browser.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) key: SessionKey,
    pub(crate) secret: Token,
    pub(crate) store: Arc<SessionStore>,
    files: Arc<OutputDirs>,
    pub(crate) tasks: TaskGroup,
    policy: Arc<PolicyStore>,
    audit: Arc<AuditWriter>,
    /// The port CDP clients connect to.
    port: u16,
    /// The slot for the CDP client of a single-client session.
    pub(crate) slot: Arc<Semaphore>,
    /// The port without a secret, while the user keeps one open.
    open_port: StdMutex<Option<OpenPort>>,
    /// Held while a browser starts, so that two commands never start two.
    live: Mutex<Option<Arc<LiveSession>>>,
    remembered: StdMutex<Remembered>,
    pub(crate) leases: LeaseTable,
    /// The sites it has read, and the data it took to other sites.
    pub(crate) flows: Arc<StdMutex<FlowTracker>>,
    pub(crate) saver: StateAutosave,
    /// Held while the record is written, so that the newest one is kept.
    saving: Mutex<()>,
    /// Held while a client is assigned a tab, so that two never get the same one.
    pub(crate) choosing: Mutex<()>,
    /// Whether the session was renamed: nothing is written under this name any more.
    is_renamed: AtomicBool,
}

/// A session with its browser, and notices for the user.
pub(crate) struct ReadySession {
    pub(crate) live: Arc<LiveSession>,
    pub(crate) notices: Vec<String>,
    pub(crate) recovery: Option<Recovery>,
}

/// The parts of the daemon that a session uses.
#[derive(Clone, Debug)]
pub(crate) struct SessionDeps {
    pub(crate) store: Arc<SessionStore>,
    pub(crate) files: Arc<OutputDirs>,
    pub(crate) tasks: TaskGroup,
    pub(crate) policy: Arc<PolicyStore>,
    pub(crate) audit: Arc<AuditWriter>,
    pub(crate) port: u16,
}

impl Session {
    pub(crate) fn new(key: SessionKey, secret: Token, remembered: Remembered, deps: SessionDeps) -> Self {
        let SessionDeps { store, files, tasks, policy, audit, port } = deps;
        Self {
            key,
            secret,
            store,
            files,
            tasks,
            policy,
            audit,
            port,
            slot: Arc::new(Semaphore::new(1)),
            open_port: StdMutex::new(None),
            live: Mutex::new(None),
            remembered: StdMutex::new(remembered),
            leases: LeaseTable::default(),
            flows: Arc::default(),
            saver: StateAutosave::default(),
            saving: Mutex::new(()),
            choosing: Mutex::new(()),
            is_renamed: AtomicBool::new(false),
        }
    }

    pub(crate) fn remembered(&self) -> MutexGuard<'_, Remembered> {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn open_port(&self) -> MutexGuard<'_, Option<OpenPort>> {
        self.open_port.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session's browser. Starts one, or connects to one, if there is none.
    pub(crate) async fn ready(
        self: &Arc<Self>,
        browsers: &Arc<BrowserManager>,
        start: StartOptions<'_>,
    ) -> Result<ReadySession, Failure> {
        if let Some(ready) = self.find_ready(self.live.lock().await.as_ref(), start)? {
            return Ok(ready);
        }
        let (session, browsers) = (Arc::clone(self), Arc::clone(browsers));
        let (options, defaults) = (start.options.clone(), start.defaults.clone());
        let StartOptions { restart, replaced_browser, .. } = start;
        // A caller that is cancelled during the start must not leak a browser.
        run_to_completion(&self.tasks, async move {
            let start = StartOptions { options: &options, defaults: &defaults, restart, replaced_browser };
            let mut live = session.live.lock().await;
            match session.find_ready(live.as_ref(), start)? {
                Some(ready) => Ok(ready),
                None => session.start_new(&browsers, start, &mut live).await,
            }
        })
        .await
    }

    /// The running browser, if its options match; `None` when one has to be started.
    fn find_ready(
        &self,
        live: Option<&Arc<LiveSession>>,
        start: StartOptions<'_>,
    ) -> Result<Option<ReadySession>, Failure> {
        let Some(running) = live.filter(|running| !running.is_gone()) else { return Ok(None) };
        let differences = start.options.differences(&running.options);
        if differences.is_empty() {
            let notices = self.option_notices(start.defaults, &running.options);
            return Ok(Some(ReadySession { live: Arc::clone(running), notices, recovery: None }));
        }
        if start.restart { Ok(None) } else { Err(self.options_differ(&differences)) }
    }

    /// Restarts the session's browser with the same tabs.
    pub(crate) async fn restart(
        self: &Arc<Self>,
        browsers: &BrowserManager,
        start: StartOptions<'_>,
    ) -> Result<ReadySession, Failure> {
        let mut live = self.live.lock().await;
        self.start_new(browsers, start, &mut live).await
    }

    /// Writes the record whenever the tabs change, while the browser lives.
    fn follow(self: &Arc<Self>, live: &Arc<LiveSession>) {
        let mut changes = live.engine.tab_events();
        let (session, live) = (Arc::downgrade(self), Arc::downgrade(live));
        self.tasks.start("remember-tabs", async move {
            while changes.next().await {
                tokio::time::sleep(REMEMBER_AFTER).await;
                let (Some(session), Some(live)) = (session.upgrade(), live.upgrade()) else { return };
                if live.is_gone() {
                    return;
                }
                session.save(&live).await;
            }
        });
    }

    /// Writes the record in the background.
    pub(crate) fn remember(self: &Arc<Self>, live: &Arc<LiveSession>) {
        let (session, live) = (Arc::clone(self), Arc::clone(live));
        self.tasks.start("remember-session", async move { session.save(&live).await });
    }

    /// Writes the record. A failure is logged, and the last record stays.
    pub(crate) async fn save(self: &Arc<Self>, live: &LiveSession) {
        let _ = self.try_save(live).await;
    }

    async fn try_save(&self, live: &LiveSession) -> Result<(), Failure> {
        let _saving = self.saving.lock().await;
        let is_over = live.is_stopped.load(Ordering::Acquire) || self.is_renamed.load(Ordering::Acquire);
        if live.is_gone() || is_over {
            // The last record stays: it has the last tabs of the browser, or says that the session was stopped or renamed.
            return Ok(());
        }
        let mut record = self.record();
        (record.asked, record.options) = (live.asked.clone(), live.options.clone());
        record.running = Some(live.to_record(self.endpoint(), self.leases.saved(), self.saver.is_paused()));
        self.write(record).await
    }

    /// Where CDP clients connect, without the secret.
    pub(crate) fn endpoint(&self) -> String {
        format!("ws://127.0.0.1:{}", self.port)
    }

    fn record(&self) -> SessionRecord {
        let remembered = self.remembered().clone();
        SessionRecord::new(self.key.clone(), self.secret.expose().to_owned(), remembered)
    }

    async fn write(&self, record: SessionRecord) -> Result<(), Failure> {
        let store = Arc::clone(&self.store);
        let written = in_background(move || store.write(&record)).await;
        if let Err(failure) = &written {
            tracing::warn!(%failure, session = %self.key, "a session record could not be written");
        }
        written
    }

    /// Writes the session's memory to its record, with or without a browser.
    pub(crate) async fn save_remembered(self: &Arc<Self>) -> Result<(), Failure> {
        match self.find_live().await.filter(|live| !live.is_gone()) {
            Some(live) => self.try_save(&live).await,
            None => {
                let _saving = self.saving.lock().await;
                let mut record = self.store.find(&self.key).unwrap_or_else(|| self.record());
                record.remembered = self.remembered().clone();
                self.write(record).await
            }
        }
    }

    /// Takes the browser from the session, and records the session as stopped with its options. The caller ends the browser.
    pub(crate) async fn take_live(self: &Arc<Self>) -> Option<Arc<LiveSession>> {
        drop(self.open_port().take());
        let taken = self.live.lock().await.take()?;
        if !taken.is_gone() {
            self.saver.save_last(self, &taken).await;
        }
        let _saving = self.saving.lock().await;
        taken.is_stopped.store(true, Ordering::Release);
        let mut record = self.record();
        (record.asked, record.options) = (taken.asked.clone(), taken.options.clone());
        // Logged. The browser ends anyway.
        let _ = self.write(record).await;
        Some(taken)
    }

    /// Renames the session's files. Pending writes under the old name are dropped.
    pub(crate) async fn rename_files(&self, to: &SessionKey) -> Result<(), Failure> {
        let _saving = self.saving.lock().await;
        self.store.rename(&self.key, to)?;
        self.is_renamed.store(true, Ordering::Release);
        Ok(())
    }

    /// Moves the browser to the session under its new name.
    pub(crate) async fn move_to(self: &Arc<Self>, heir: &Arc<Self>) {
        drop(self.open_port().take());
        let mut live = self.live.lock().await;
        let mut theirs = heir.live.lock().await;
        if let Some(running) = live.take() {
            heir.follow(&running);
            Activity::start(heir, &running);
            heir.saver.start(heir, &running);
            heir.remember(&running);
            *theirs = Some(running);
        }
        heir.leases.take_from(&self.leases);
        heir.saver.take_from(&self.saver);
    }

    /// The session's browser, if it has one.
    pub(crate) async fn find_live(&self) -> Option<Arc<LiveSession>> {
        self.live.lock().await.clone()
    }

    /// The session's browser, without waiting; `Err` while it starts.
    pub(crate) fn peek_live(&self) -> Result<Option<Arc<LiveSession>>, Starting> {
        self.live.try_lock().map(|live| live.clone()).map_err(|_| Starting)
    }

    fn option_notices(&self, defaults: &SessionOptions, running: &SessionOptions) -> Vec<String> {
        // Launch options in the configuration do not apply to an attached browser.
        if running.is_remote() && !defaults.is_remote() {
            return Vec::new();
        }
        let differences = defaults.differences(running).into_iter().map(|one| {
            format!(
                "The configuration sets {} to {}, but session {} runs with {}. `tabwire session restart` applies it.",
                one.option, one.asked, self.key.name, one.running
            )
        });
        differences.collect()
    }

    fn options_differ(&self, differences: &[Difference]) -> Failure {
        let name = &self.key.name;
        let list: Vec<String> = differences
            .iter()
            .map(|one| format!("{} is {}, not {}", one.option, one.running, one.asked))
            .collect();
        let message = format!("Session {name} already runs with other options: {}.", list.join("; "));
        let names: Vec<&str> = differences.iter().map(|one| one.option).collect();
        Failure::new(ErrorCode::BadArgs, message)
            .with_remedy(Remedy::new(
                "Omit the options, set {} to restart the browser with them, or use another {}.",
                [Step::argument("restart"), Step::argument("session")],
            ))
            .with_details(serde_json::json!({"options": names}))
    }
}

/// The session's browser is starting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Starting;

pub(crate) fn gone(gone: HubGone) -> Failure {
    Failure::new(ErrorCode::BrowserGone, format!("{gone}."))
        .with_remedy("Run the command again. It restarts the browser with its tabs.")
}
