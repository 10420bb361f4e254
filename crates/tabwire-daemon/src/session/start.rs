//! Starts the browser of a session, or adopts the one of an earlier daemon.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use tabwire_api::api::{Isolation, PolicyProfile, Recovery, SessionOptions};
use tabwire_api::{BrowserContextId, ErrorCode, Failure, PartitionId, Remedy, Step, UpstreamKind};
use tabwire_browser::BrowserRun;
use tabwire_cdp::channel_pair;
use tabwire_engine::{Browser, Files, TabIds};
use tabwire_mux::{ClientOptions, OnLoss, PartitionScope, Share};

use crate::action::files::RequestFiles;
use crate::audit::entry::AuditEntry;
use crate::browser::manager::BrowserManager;
use crate::browser::served::ServedBrowser;
use crate::hub::HubGone;
use crate::hub::client_guard::ClientGuard;
use crate::policy::cdp_guard::GuardedClient;
use crate::session::leases::SavedLeases;
use crate::session::live::LiveSession;
use crate::session::record::{RunningRecord, SavedTab, SessionRecord};
use crate::session::{ReadySession, Session, gone, recovery};

/// The previous browser of a session.
#[derive(Default)]
struct PreviousBrowser {
    /// Why it is gone. Absent when it was stopped.
    reason: Option<String>,
    options: SessionOptions,
    tabs: Vec<SavedTab>,
    /// How it was connected.
    upstream: Option<UpstreamKind>,
    /// The run of an attached browser.
    run: Option<BrowserRun>,
    /// Tab ids and leases from an earlier daemon.
    tabs_there: Option<(TabIds, SavedLeases)>,
}

/// The parts of a live session.
struct SessionParts {
    browser: Arc<ServedBrowser>,
    asked: SessionOptions,
    options: SessionOptions,
    partition: Option<PartitionId>,
    context: Option<BrowserContextId>,
    tab_ids: Option<TabIds>,
}

impl Session {
    pub(super) async fn start_new(
        self: &Arc<Self>,
        browsers: &BrowserManager,
        start: StartOptions<'_>,
        live: &mut Option<Arc<LiveSession>>,
    ) -> Result<ReadySession, Failure> {
        let mut before = self.previous_browser(browsers, live.take()).await;
        let mut notices = Vec::new();
        let asked = start.options.clone().or(&before.options);
        let options = browsers.resolve_auto(asked.clone().or(start.defaults)).await?;
        let is_same_place = options.cdp == before.options.cdp;
        let expected =
            before.run.clone().filter(|_| is_same_place && start.replaced_browser == ReplacedBrowser::Refuse);
        let browser = browsers.obtain(&options, &self.key, expected.as_ref()).await?;
        let is_same = before.run.is_some() && browser.run() == before.run;
        let tab_ids = before.tabs_there.take().filter(|_| is_same).map(|(tab_ids, leases)| {
            self.leases.resume(leases);
            browser.keep_epoch(tab_ids.epoch());
            tab_ids.resumed()
        });
        let started = self.start(browser, (asked, options), tab_ids, &mut notices).await?;
        *live = Some(Arc::clone(&started));
        notices.extend(self.report_switch(before.upstream, started.browser.upstream).await);
        let recovery = self.bring_back(&started, before).await;
        self.remember(&started);
        Ok(ReadySession { live: started, notices, recovery })
    }

    /// Reports a change of the upstream kind, in the response and in the audit log.
    async fn report_switch(&self, before: Option<UpstreamKind>, now: UpstreamKind) -> Option<String> {
        let before = before.filter(|before| *before != now)?;
        let change = serde_json::json!({"from": before, "to": now});
        let client_info = tabwire_audit::ClientInfo::default();
        let entry =
            AuditEntry::of_ruling(&self.audit, self.key.clone(), client_info, "upstream_switch", &change);
        entry.finish(None).await;
        Some(format!(
            "Session {} now uses {now} instead of {before}. Earlier tab ids are stale.",
            self.key.name
        ))
    }

    /// The previous browser of the session. Ends it if it still runs.
    async fn previous_browser(
        &self,
        browsers: &BrowserManager,
        live: Option<Arc<LiveSession>>,
    ) -> PreviousBrowser {
        let Some(live) = live else {
            let Some(record) = self.store.find(&self.key) else {
                return PreviousBrowser::default();
            };
            let Some(running) = record.running else {
                return PreviousBrowser { options: record.asked, ..PreviousBrowser::default() };
            };
            if running.browser.is_none() {
                // An attached browser keeps running without the daemon; the session attaches to it again.
                let tabs_there = Some((running.tab_ids, running.leases));
                let is_own = record.options.extension().is_some();
                let upstream = Some(if is_own { UpstreamKind::Extension } else { UpstreamKind::Websocket });
                let (options, run) = (record.options, running.run);
                return PreviousBrowser { options, run, upstream, tabs_there, ..PreviousBrowser::default() };
            }
            let reason = Some("it was gone when the daemon started".to_owned());
            let (options, upstream) = (record.options, Some(UpstreamKind::Pipe));
            return PreviousBrowser {
                reason,
                options,
                upstream,
                tabs: running.tabs,
                ..PreviousBrowser::default()
            };
        };
        let record = self.store.find(&self.key).and_then(|record| record.running);
        if live.is_gone() {
            let HubGone(reason) = live.browser.hub.gone_reason();
            browsers.sweep_leftover(&live.browser).await;
            // The engine has lost its tabs. The record is at most REMEMBER_AFTER older.
            let own = record.filter(|_| live.browser.ownership.may_close());
            let tabs = own.map(|running| running.tabs).unwrap_or_default();
            let (reason, run) = (Some(reason.to_string()), live.browser.run());
            let (options, upstream) = (live.options.clone(), Some(live.browser.upstream));
            return PreviousBrowser { reason, options, upstream, tabs, run, tabs_there: None };
        }
        let is_own = live.browser.ownership.may_close();
        let tabs = if is_own { SavedTab::all_of(&live.engine) } else { Vec::new() };
        self.saver.save_last(self, &live).await;
        if let Err(failure) = browsers.end_session(&live).await {
            tracing::warn!(%failure, session = %self.key, "a browser did not end");
        }
        let (run, upstream) = (live.browser.run(), Some(live.browser.upstream));
        PreviousBrowser { reason: None, options: live.options.clone(), upstream, tabs, run, tabs_there: None }
    }

    /// Connects the engine to a browser that was obtained with these options.
    async fn start(
        self: &Arc<Self>,
        browser: Arc<ServedBrowser>,
        (asked, options): (SessionOptions, SessionOptions),
        tab_ids: Option<TabIds>,
        notices: &mut Vec<String>,
    ) -> Result<Arc<LiveSession>, Failure> {
        notices.extend(browser.descriptor.iter().flat_map(|descriptor| descriptor.warnings.iter().cloned()));
        let served = Arc::clone(&browser);
        let started = async {
            let (partition, context) = self.make_partition(&browser, &options).await?;
            self.connect(SessionParts { browser, asked, options, partition, context, tab_ids }).await
        };
        let started = started.await;
        if started.is_err() {
            served.remove_user();
        }
        started
    }

    /// Creates the session's partition of a shared browser.
    async fn make_partition(
        &self,
        browser: &ServedBrowser,
        options: &SessionOptions,
    ) -> Result<(Option<PartitionId>, Option<BrowserContextId>), Failure> {
        let partition = PartitionId::new(&self.key.to_string());
        let (place, context) = match options.isolation() {
            Isolation::Own => return Ok((None, None)),
            Isolation::Shared => (PartitionScope::Tabs(Vec::new()), None),
            Isolation::Context => {
                let made = browser.hub.make_context(options.proxy.as_deref()).await.map_err(gone)?;
                let context = made.ok_or_else(|| {
                    Failure::new(ErrorCode::CdpError, "The browser cannot create contexts.")
                        .with_remedy(Remedy::new("Use {}.", [Step::argument_value("isolation", "own")]))
                })?;
                (PartitionScope::Context(context.clone()), Some(context))
            }
        };
        browser.hub.reserve(partition.clone(), place).await.map_err(gone)?;
        Ok((Some(partition), context))
    }

    /// Adopts a browser that an earlier daemon served.
    pub(crate) async fn adopt(
        self: &Arc<Self>,
        browser: Arc<ServedBrowser>,
        record: SessionRecord,
        running: RunningRecord,
    ) -> Result<(), Failure> {
        let mut live = self.live.lock().await;
        let parts = SessionParts {
            browser,
            asked: record.asked,
            options: record.options,
            partition: running.partition,
            context: running.context,
            tab_ids: Some(running.tab_ids.resumed()),
        };
        let adopted = self.connect(parts).await?;
        self.leases.resume(running.leases);
        self.remember(&adopted);
        *live = Some(adopted);
        Ok(())
    }

    async fn connect(self: &Arc<Self>, parts: SessionParts) -> Result<Arc<LiveSession>, Failure> {
        let SessionParts { browser, asked, options, partition, context, tab_ids } = parts;
        let (ours, theirs) = channel_pair();
        let guard =
            Some(self.policy.guard(GuardedClient::Engine, options.policy(), &self.key, browser.ownership));
        let (share, on_loss) = (Share::Released, OnLoss::Close);
        let share = ClientOptions { share, on_loss, partition: partition.clone(), guard };
        let place = Some(ClientGuard::of_engine(self.key.name.to_string()));
        browser.hub.join_guarded(theirs.0, theirs.1, share, place).await.map_err(gone)?;
        let tab_ids = tab_ids.unwrap_or_else(|| TabIds::new(browser.upstream, browser.take_epoch()));
        // An attached browser keeps its own download directory. With the extension the files stay there, and the session
        // gets copies.
        let keeps = browser.ownership.may_close() || browser.upstream == UpstreamKind::Extension;
        let files = keeps.then(|| Arc::new(RequestFiles::own(&self.files)) as Arc<dyn Files>);
        let engine = Browser::start(ours.0, ours.1, tab_ids, files, &self.tasks).await?;
        engine.set_viewport(options.viewport);
        engine.set_frame_policy(self.policy.frame_policy(options.policy(), &self.key));
        engine.set_download_rule(self.policy.download_rule(options.policy(), &self.key));
        if options.policy() == PolicyProfile::Guarded && browser.ownership.may_close() {
            engine.set_egress_policy(self.policy.containment(options.policy(), &self.key));
        }
        let engine = Arc::new(engine);
        let (since, is_stopped) = (Instant::now(), AtomicBool::new(false));
        let live =
            Arc::new(LiveSession { browser, engine, asked, options, partition, context, since, is_stopped });
        self.follow(&live);
        self.saver.start(self, &live);
        Ok(live)
    }

    /// Reopens the tabs of a lost browser, and reports what was restored.
    async fn bring_back(
        self: &Arc<Self>,
        live: &Arc<LiveSession>,
        before: PreviousBrowser,
    ) -> Option<Recovery> {
        let PreviousBrowser { reason, tabs, .. } = before;
        let restart = reason.is_none();
        if restart && tabs.is_empty() {
            self.saver.restore(self, live).await;
            return None;
        }
        let recovery = recovery::bring_back(self, live, reason, tabs).await;
        (!restart).then_some(recovery)
    }
}

/// Options for starting a session's browser, or for using the running one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartOptions<'a> {
    /// Options that the caller gave. A running browser must match them.
    pub(crate) options: &'a SessionOptions,
    /// Options of the configuration, for those that the caller did not give.
    pub(crate) defaults: &'a SessionOptions,
    /// Whether to restart a browser that runs with other options.
    pub(crate) restart: bool,
    /// What to do if another browser responds at the URL of the attached one.
    pub(crate) replaced_browser: ReplacedBrowser,
}

/// What to do if another browser responds at the URL of the attached one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplacedBrowser {
    /// Fail.
    Refuse,
    /// Use it.
    Use,
}

impl<'a> StartOptions<'a> {
    /// The options of a request. A restart uses the browser that is there.
    pub(crate) const fn new(
        options: &'a SessionOptions,
        defaults: &'a SessionOptions,
        restart: bool,
    ) -> Self {
        let replaced_browser = if restart { ReplacedBrowser::Use } else { ReplacedBrowser::Refuse };
        Self { options, defaults, restart, replaced_browser }
    }
}
