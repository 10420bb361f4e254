//! Starts the browser of a session, or adopts the one of an earlier daemon.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tabwire_api::api::{Isolation, PolicyProfile, Recovery, SessionOptions};
use tabwire_api::{BrowserContextId, ErrorCode, Failure, PartitionId, Remedy, Step, TargetId, UpstreamKind};
use tabwire_browser::{BrowserRun, new_instance_id};
use tabwire_cdp::channel_pair;
use tabwire_engine::{Browser, Files, TabIds};
use tabwire_mux::{ClientOptions, Identity, OnLoss, PartitionScope, Share};

use crate::action::files::request_files::RequestFiles;
use crate::audit::entry::AuditEntry;
use crate::browser::manager::BrowserManager;
use crate::browser::served::ServedBrowser;
use crate::endpoint::mcp_connection::is_temporary;
use crate::hub::HubGone;
use crate::hub::client_guard::ClientGuard;
use crate::hub::client_label::ClientLabel;
use crate::policy::cdp_guard::GuardedClient;
use crate::rent::files::RentedFiles;
use crate::session::activity::Activity;
use crate::session::leases::{SavedLeases, milliseconds_since_1970};
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
    /// What an earlier connection to an attached browser left there.
    left: Option<LeftTabs>,
}

/// The tabs of a session in an attached browser, for the next connection to it.
struct LeftTabs {
    tab_ids: TabIds,
    leases: SavedLeases,
    own: Vec<TargetId>,
    started_at: u64,
}

impl LeftTabs {
    fn of(running: RunningRecord) -> Self {
        let own = running.own_targets();
        let RunningRecord { tab_ids, leases, started_at, .. } = running;
        Self { tab_ids, leases, own, started_at }
    }
}

/// The parts of a live session.
struct SessionParts {
    browser: Arc<ServedBrowser>,
    asked: SessionOptions,
    options: SessionOptions,
    partition: Option<PartitionId>,
    context: Option<BrowserContextId>,
    tab_ids: Option<TabIds>,
    started_at: u64,
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
        let mut options = browsers.resolve_auto(asked.clone().or(start.defaults)).await?;
        if !start.defaults.display.is_empty() {
            options.display.clone_from(&start.defaults.display);
        }
        decide_hiding(&mut options, start)?;
        let is_same_place = options.cdp == before.options.cdp && !options.is_rented();
        let expected =
            before.run.clone().filter(|_| is_same_place && start.replaced_browser == ReplacedBrowser::Refuse);
        let browser = browsers.obtain(&options, &self.key, expected.as_ref()).await?;
        let is_same = before.run.is_some() && browser.run() == before.run;
        let left = before.left.take().filter(|_| is_same);
        let started = self.start(browser, (asked, options), left, &mut notices).await?;
        *live = Some(Arc::clone(&started));
        notices.extend(self.report_switch(before.upstream, started.browser.upstream).await);
        let recovery = self.bring_back(&started, before).await;
        // Only now: a save before the end of the restore would replace the saved state with that of an empty browser.
        self.saver.start(self, &started);
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
            if record.options.is_rented() {
                return PreviousBrowser::of_rental(record.options, running);
            }
            if running.browser.is_none() {
                // An attached browser keeps running without the daemon; the session attaches to it again.
                let is_own = record.options.extension().is_some();
                let upstream = Some(if is_own { UpstreamKind::Extension } else { UpstreamKind::Websocket });
                let (options, run) = (record.options, running.run.clone());
                let left = Some(LeftTabs::of(running));
                return PreviousBrowser { options, run, upstream, left, ..PreviousBrowser::default() };
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
            let reason = loss_of(&live).await;
            browsers.sweep_leftover(&live.browser).await;
            // The engine has lost its tabs. The record is at most REMEMBER_AFTER older.
            let (reason, run) = (Some(reason), live.browser.run());
            let (options, upstream) = (live.options.clone(), Some(live.browser.upstream));
            let (tabs, left) = match record {
                Some(running) if live.browser.ownership.may_close() => (running.tabs, None),
                // The browser may still run: only the connection to it is lost.
                Some(running) => (Vec::new(), Some(LeftTabs::of(running))),
                None => (Vec::new(), None),
            };
            return PreviousBrowser { reason, options, upstream, tabs, run, left };
        }
        let is_own = live.browser.ownership.may_close();
        let tabs = if is_own { SavedTab::all_of(&live.engine) } else { Vec::new() };
        self.saver.save_last(self, &live).await;
        if let Err(failure) = browsers.end_session(&live).await {
            tracing::warn!(%failure, session = %self.key, "a browser did not end");
        }
        let (run, upstream) = (live.browser.run(), Some(live.browser.upstream));
        PreviousBrowser { reason: None, options: live.options.clone(), upstream, tabs, run, left: None }
    }

    /// Connects the engine to a browser that was obtained with these options.
    async fn start(
        self: &Arc<Self>,
        browser: Arc<ServedBrowser>,
        (asked, options): (SessionOptions, SessionOptions),
        left: Option<LeftTabs>,
        notices: &mut Vec<String>,
    ) -> Result<Arc<LiveSession>, Failure> {
        notices.extend(browser.descriptor.iter().flat_map(|descriptor| descriptor.warnings.iter().cloned()));
        let served = Arc::clone(&browser);
        let started = async {
            let own = left.as_ref().map(|left| left.own.clone()).unwrap_or_default();
            let (partition, context) = self.make_partition(&browser, &options, own).await?;
            let started_at = left.as_ref().map(|left| left.started_at).filter(|started| *started > 0);
            let started_at = started_at.unwrap_or_else(milliseconds_since_1970);
            let tab_ids = left.map(|left| {
                self.leases.resume(left.leases);
                browser.keep_epoch(left.tab_ids.epoch());
                left.tab_ids.resumed()
            });
            self.connect(SessionParts { browser, asked, options, partition, context, tab_ids, started_at })
                .await
        };
        let started = started.await;
        if started.is_err() {
            served.remove_user();
        }
        started
    }

    /// Creates the session's partition of a browser that it shares with other sessions or with the user. `own` are tabs
    /// that it has there already.
    async fn make_partition(
        &self,
        browser: &ServedBrowser,
        options: &SessionOptions,
        own: Vec<TargetId>,
    ) -> Result<(Option<PartitionId>, Option<BrowserContextId>), Failure> {
        // A session that was renamed keeps its partition, so the key alone is not unique.
        let partition = PartitionId::new(&format!("{}#{}", self.key, new_instance_id()?.as_str()));
        let is_shared = !browser.ownership.may_close() || browser.has_several_users();
        let (place, context) = match options.isolation() {
            Isolation::Own if !is_shared => return Ok((None, None)),
            Isolation::Own | Isolation::Shared => (PartitionScope::Tabs(own), None),
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
        let created_at = browser.descriptor.as_ref().map_or(0, |descriptor| descriptor.created_at);
        let parts = SessionParts {
            started_at: if running.started_at > 0 { running.started_at } else { created_at },
            browser,
            asked: record.asked,
            options: record.options,
            partition: running.partition,
            context: running.context,
            tab_ids: Some(running.tab_ids.resumed()),
        };
        let adopted = self.connect(parts).await?;
        self.leases.resume(running.leases);
        self.saver.resume(running.keeps_saved_state);
        self.saver.start(self, &adopted);
        self.remember(&adopted);
        *live = Some(adopted);
        Ok(())
    }

    async fn connect(self: &Arc<Self>, parts: SessionParts) -> Result<Arc<LiveSession>, Failure> {
        let SessionParts { browser, asked, options, partition, context, tab_ids, started_at } = parts;
        let (ours, theirs) = channel_pair();
        let guard =
            Some(self.policy.guard(GuardedClient::Engine, options.policy(), &self.key, browser.ownership));
        let (share, on_loss) = (Share::Released, OnLoss::Close);
        let identity = Identity { is_engine: true, ..Identity::default() };
        let partition_of_client = partition.clone();
        let share = ClientOptions {
            share,
            on_loss,
            partition: partition_of_client,
            guard,
            identity,
            ..ClientOptions::default()
        };
        let (label, is_temporary) = (self.label(), is_temporary(&self.key.name));
        let is_open = options.policy() == PolicyProfile::Open;
        let place = Some(ClientGuard::of_engine(label.clone(), is_open));
        browser.hub.join_guarded(theirs.0, theirs.1, share, place).await.map_err(gone)?;
        let tab_ids = tab_ids.unwrap_or_else(|| TabIds::new(browser.upstream, browser.take_epoch()));
        // An attached browser keeps its own download directory. With the extension the files stay there, and the session
        // gets copies.
        let keeps = browser.ownership.is_launched() || browser.upstream == UpstreamKind::Extension;
        let files = keeps.then(|| Arc::new(RequestFiles::own(&self.files)) as Arc<dyn Files>);
        let engine = Browser::start(ours.0, ours.1, tab_ids, files, &self.tasks).await?;
        if let Some(rental) = &browser.rental {
            let remote = Arc::new(RentedFiles(Arc::clone(rental)));
            engine.set_remote_files(remote, Arc::new(RequestFiles::own(&self.files)));
        }
        engine.set_viewport(options.viewport);
        engine.set_frame_policy(self.policy.frame_policy(options.policy(), &self.key));
        engine.set_download_rule(self.policy.download_rule(options.policy(), &self.key));
        if options.policy() == PolicyProfile::Guarded && browser.ownership.is_launched() {
            engine.set_egress_policy(self.policy.containment(options.policy(), &self.key));
        }
        let engine = Arc::new(engine);
        let live = Arc::new(LiveSession {
            browser,
            engine,
            asked,
            options,
            partition,
            context,
            started_at,
            label,
            is_temporary,
            is_stopped: AtomicBool::new(false),
            is_ended: AtomicBool::new(false),
        });
        self.follow(&live);
        Activity::start(self, &live);
        Ok(live)
    }

    /// What the user of the browser sees as the session's name, until a named client uses it.
    fn label(&self) -> ClientLabel {
        let name = self.key.name.as_str();
        ClientLabel::new(match name {
            "default" => "Tabwire",
            _ if is_temporary(&self.key.name) => "MCP client",
            name => name,
        })
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

impl PreviousBrowser {
    /// A rented browser of an earlier daemon, which is released.
    fn of_rental(options: SessionOptions, running: RunningRecord) -> Self {
        let reason = Some("it was rented, and released when the daemon ended".to_owned());
        let (upstream, tabs) = (Some(UpstreamKind::Websocket), running.tabs);
        Self { reason, options, upstream, tabs, ..Self::default() }
    }
}

/// Why the browser of a session is gone. A Grid or provider may say more than the connection.
async fn loss_of(live: &LiveSession) -> String {
    let HubGone(reason) = live.browser.hub.gone_reason();
    let loss = match &live.browser.rental {
        Some(rental) => rental.loss().await,
        None => None,
    };
    loss.unwrap_or_else(|| reason.to_string())
}

/// In a guarded session only the user's own configuration may hide the automation, neither a client nor a project.
fn decide_hiding(options: &mut SessionOptions, start: StartOptions<'_>) -> Result<(), Failure> {
    let is_configured = start.defaults.hide_automation == Some(true);
    let is_hidden = options.hide_automation == Some(true);
    if !is_hidden || is_configured || options.policy() != PolicyProfile::Guarded {
        return Ok(());
    }
    if start.options.hide_automation == Some(true) {
        let message = "A guarded session does not hide that its browser is automated.";
        return Err(Failure::new(ErrorCode::PolicyDenied, message).with_remedy(Remedy::new(
            "Run {} to allow it in your own configuration, or use {}.",
            [
                Step::command("tabwire config set hide_automation true"),
                Step::argument_value("policy", "open"),
            ],
        )));
    }
    // It is left from a time when it was allowed.
    options.hide_automation = None;
    Ok(())
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
