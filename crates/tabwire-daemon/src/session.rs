//! One session: its browser, the engine that drives it, and what is remembered of it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex as StdMutex, MutexGuard, PoisonError};
use std::time::Instant;

use tabwire_browser::BrowserRun;
use tabwire_cdp::{TaskGroup, channel_pair};
use tabwire_engine::{Browser, Files, TabBook};
use tabwire_mux::{ClientOptions, OnLoss, RealmPlace, Share};
use tabwire_policy::FlowWatch;
use tabwire_wire::api::{Difference, Isolation, PolicyProfile, Recovery, SessionOptions};
use tabwire_wire::{BrowserContextId, ErrorCode, Failure, RealmId, SessionKey, UpstreamKind};
use tokio::sync::{Mutex, Semaphore};

use crate::command_guard::GuardedClient;
use crate::file_shelf::FileShelf;
use crate::fleet::{Fleet, carried_out, in_background};
use crate::hub::HubGone;
use crate::lease_table::{LeaseTable, SavedLeases};
use crate::limits::REMEMBER_AFTER;
use crate::live_session::LiveSession;
use crate::note::Note;
use crate::place::Place;
use crate::policy_desk::PolicyDesk;
use crate::remembered::Remembered;
use crate::request_files::RequestFiles;
use crate::scribe::Scribe;
use crate::served_browser::ServedBrowser;
use crate::session_record::{RunningRecord, SavedTab, SessionRecord};
use crate::session_store::SessionStore;
use crate::state_saver::StateSaver;
use crate::token::Token;
use crate::wish::{Newcomer, Wish};

/// A session that may or may not have a browser right now.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) key: SessionKey,
    pub(crate) secret: Token,
    pub(crate) store: Arc<SessionStore>,
    files: Arc<FileShelf>,
    pub(crate) tasks: TaskGroup,
    policy: Arc<PolicyDesk>,
    scribe: Arc<Scribe>,
    /// The port CDP clients connect to.
    port: u16,
    /// The one place for a CDP client, when the session serves one at a time.
    pub(crate) slot: Arc<Semaphore>,
    /// Held over the start of a browser, so that two commands never start two.
    live: Mutex<Option<Arc<LiveSession>>>,
    remembered: StdMutex<Remembered>,
    pub(crate) leases: LeaseTable,
    /// What it has read, and has brought elsewhere.
    pub(crate) flows: Arc<StdMutex<FlowWatch>>,
    pub(crate) saver: StateSaver,
    /// Held while the session is written down, so that the newest is what stays.
    saving: Mutex<()>,
    /// Held while a client is given its tab, so that two never get the same one.
    pub(crate) choosing: Mutex<()>,
    /// Whether another name has taken over: nothing is written under this one any more.
    is_renamed: AtomicBool,
}

/// A session ready for use, with what the user should know.
pub(crate) struct Ready {
    pub(crate) live: Arc<LiveSession>,
    pub(crate) notices: Vec<String>,
    pub(crate) recovery: Option<Recovery>,
}

/// What there was before a browser has to be started.
#[derive(Default)]
struct Before {
    /// Why the browser is gone; absent when it was stopped.
    reason: Option<String>,
    options: SessionOptions,
    tabs: Vec<SavedTab>,
    /// How that browser was reached.
    upstream: Option<UpstreamKind>,
    /// The browser it was attached to.
    run: Option<BrowserRun>,
    /// Its tabs' ids and leases there, as an earlier daemon gave them.
    tabs_there: Option<(TabBook, SavedLeases)>,
}

/// What a new session is made of.
#[derive(Clone, Debug)]
pub(crate) struct Household {
    pub(crate) store: Arc<SessionStore>,
    pub(crate) files: Arc<FileShelf>,
    pub(crate) tasks: TaskGroup,
    pub(crate) policy: Arc<PolicyDesk>,
    pub(crate) scribe: Arc<Scribe>,
    pub(crate) port: u16,
}

impl Session {
    pub(crate) fn new(key: SessionKey, secret: Token, remembered: Remembered, household: Household) -> Self {
        let Household { store, files, tasks, policy, scribe, port } = household;
        Self {
            key,
            secret,
            store,
            files,
            tasks,
            policy,
            scribe,
            port,
            slot: Arc::new(Semaphore::new(1)),
            live: Mutex::new(None),
            remembered: StdMutex::new(remembered),
            leases: LeaseTable::default(),
            flows: Arc::default(),
            saver: StateSaver::default(),
            saving: Mutex::new(()),
            choosing: Mutex::new(()),
            is_renamed: AtomicBool::new(false),
        }
    }

    pub(crate) fn remembered(&self) -> MutexGuard<'_, Remembered> {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session's browser, started or reached if there is none.
    pub(crate) async fn ready(
        self: &Arc<Self>,
        fleet: &Arc<Fleet>,
        wish: Wish<'_>,
    ) -> Result<Ready, Failure> {
        if let Some(ready) = self.find_ready(self.live.lock().await.as_ref(), wish)? {
            return Ok(ready);
        }
        let (session, fleet) = (Arc::clone(self), Arc::clone(fleet));
        let (options, defaults) = (wish.options.clone(), wish.defaults.clone());
        let Wish { restart, newcomer, .. } = wish;
        // A caller that leaves while a browser starts must not leave one behind that nobody knows of.
        carried_out(&self.tasks, async move {
            let wish = Wish { options: &options, defaults: &defaults, restart, newcomer };
            let mut live = session.live.lock().await;
            match session.find_ready(live.as_ref(), wish)? {
                Some(ready) => Ok(ready),
                None => session.start_anew(&fleet, wish, &mut live).await,
            }
        })
        .await
    }

    /// The browser that runs, if it is as wished for; nothing when one has to be started.
    fn find_ready(&self, live: Option<&Arc<LiveSession>>, wish: Wish<'_>) -> Result<Option<Ready>, Failure> {
        let Some(running) = live.filter(|running| !running.is_gone()) else { return Ok(None) };
        let differences = wish.options.differences(&running.options);
        if differences.is_empty() {
            let notices = self.told_otherwise(wish.defaults, &running.options);
            return Ok(Some(Ready { live: Arc::clone(running), notices, recovery: None }));
        }
        if wish.restart { Ok(None) } else { Err(self.other_options(&differences)) }
    }

    /// Ends the session's browser and starts it with the same tabs.
    pub(crate) async fn restart(self: &Arc<Self>, fleet: &Fleet, wish: Wish<'_>) -> Result<Ready, Failure> {
        let mut live = self.live.lock().await;
        self.start_anew(fleet, wish, &mut live).await
    }

    async fn start_anew(
        self: &Arc<Self>,
        fleet: &Fleet,
        wish: Wish<'_>,
        live: &mut Option<Arc<LiveSession>>,
    ) -> Result<Ready, Failure> {
        let mut before = self.look_back(fleet, live.take()).await;
        let mut notices = Vec::new();
        let asked = wish.options.clone().or(&before.options);
        let options = fleet.settle_way(asked.clone().or(wish.defaults)).await?;
        let is_same_place = options.cdp == before.options.cdp;
        let expected = before.run.clone().filter(|_| is_same_place && wish.newcomer == Newcomer::Refused);
        let browser = fleet.obtain(&options, &self.key, expected.as_ref()).await?;
        let is_same = before.run.is_some() && browser.run() == before.run;
        let book = before.tabs_there.take().filter(|_| is_same).map(|(book, leases)| {
            self.leases.resume(leases);
            browser.keep_epoch(book.epoch());
            book.resumed()
        });
        let started = self.start(browser, (asked, options), book, &mut notices).await?;
        *live = Some(Arc::clone(&started));
        notices.extend(self.note_switch(before.upstream, started.browser.upstream).await);
        let recovery = self.bring_back(&started, before).await;
        self.remember(&started);
        Ok(Ready { live: started, notices, recovery })
    }

    /// A session that is reached in another way than before says so, in its answer and in the journal.
    async fn note_switch(&self, before: Option<UpstreamKind>, now: UpstreamKind) -> Option<String> {
        let before = before.filter(|before| *before != now)?;
        let told = serde_json::json!({"from": before, "to": now});
        let asker = tabwire_journal::Asker::default();
        let note = Note::of_ruling(&self.scribe, self.key.clone(), asker, "upstream_switch", &told);
        note.finish(None).await;
        Some(format!(
            "Session {} is served over {now} now, and was over {before}: ids of tabs from before are stale.",
            self.key.name
        ))
    }

    /// What the session had before, whose browser is ended here if it still runs.
    async fn look_back(&self, fleet: &Fleet, live: Option<Arc<LiveSession>>) -> Before {
        let Some(live) = live else {
            let Some(record) = self.store.find(&self.key) else {
                return Before::default();
            };
            let Some(running) = record.running else {
                return Before { options: record.asked, ..Before::default() };
            };
            if running.browser.is_none() {
                // Somebody else's browser goes on without us; it is attached to again.
                let tabs_there = Some((running.book, running.leases));
                let is_own = record.options.extension().is_some();
                let upstream = Some(if is_own { UpstreamKind::Extension } else { UpstreamKind::Websocket });
                let (options, run) = (record.options, running.run);
                return Before { options, run, upstream, tabs_there, ..Before::default() };
            }
            let reason = Some("it was no longer there when the daemon came up".to_owned());
            let (options, upstream) = (record.options, Some(UpstreamKind::Pipe));
            return Before { reason, options, upstream, tabs: running.tabs, ..Before::default() };
        };
        let record = self.store.find(&self.key).and_then(|record| record.running);
        if live.is_gone() {
            let HubGone(reason) = live.browser.hub.gone_reason();
            fleet.end_leftover(&live.browser).await;
            // The engine has seen the last of its tabs; what was written down is at most a moment older.
            let own = record.filter(|_| live.browser.ownership.may_close());
            let tabs = own.map(|running| running.tabs).unwrap_or_default();
            let (reason, run) = (Some(reason.to_string()), live.browser.run());
            let (options, upstream) = (live.options.clone(), Some(live.browser.upstream));
            return Before { reason, options, upstream, tabs, run, tabs_there: None };
        }
        let is_own = live.browser.ownership.may_close();
        let tabs = if is_own { SavedTab::all_of(&live.engine) } else { Vec::new() };
        self.saver.save_last(self, &live).await;
        if let Err(failure) = fleet.end_session(&live).await {
            tracing::warn!(%failure, session = %self.key, "a browser did not end");
        }
        let (run, upstream) = (live.browser.run(), Some(live.browser.upstream));
        Before { reason: None, options: live.options.clone(), upstream, tabs, run, tabs_there: None }
    }

    /// Becomes a client of a browser that was started or reached with these options.
    async fn start(
        self: &Arc<Self>,
        browser: Arc<ServedBrowser>,
        (asked, options): (SessionOptions, SessionOptions),
        book: Option<TabBook>,
        notices: &mut Vec<String>,
    ) -> Result<Arc<LiveSession>, Failure> {
        notices.extend(browser.descriptor.iter().flat_map(|descriptor| descriptor.warnings.iter().cloned()));
        let served = Arc::clone(&browser);
        let started = async {
            let (realm, context) = self.make_realm(&browser, &options).await?;
            self.bring_up(Parts { browser, asked, options, realm, context, book }).await
        };
        let started = started.await;
        if started.is_err() {
            served.remove_user();
        }
        started
    }

    /// The session's own part of a browser that it shares.
    async fn make_realm(
        &self,
        browser: &ServedBrowser,
        options: &SessionOptions,
    ) -> Result<(Option<RealmId>, Option<BrowserContextId>), Failure> {
        let realm = RealmId::new(&self.key.to_string());
        let (place, context) = match options.isolation() {
            Isolation::Own => return Ok((None, None)),
            Isolation::Shared => (RealmPlace::Tabs(Vec::new()), None),
            Isolation::Context => {
                let made = browser.hub.make_context(options.proxy.as_deref()).await.map_err(gone)?;
                let context = made.ok_or_else(|| {
                    Failure::new(ErrorCode::CdpError, "The browser makes no contexts.")
                        .with_hint("Use --isolation own.")
                })?;
                (RealmPlace::Context(context.clone()), Some(context))
            }
        };
        browser.hub.reserve(realm.clone(), place).await.map_err(gone)?;
        Ok((Some(realm), context))
    }

    /// Takes up a browser that an earlier daemon served.
    pub(crate) async fn adopt(
        self: &Arc<Self>,
        browser: Arc<ServedBrowser>,
        record: SessionRecord,
        running: RunningRecord,
    ) -> Result<(), Failure> {
        let mut live = self.live.lock().await;
        let parts = Parts {
            browser,
            asked: record.asked,
            options: record.options,
            realm: running.realm,
            context: running.context,
            book: Some(running.book.resumed()),
        };
        let adopted = self.bring_up(parts).await?;
        self.leases.resume(running.leases);
        self.remember(&adopted);
        *live = Some(adopted);
        Ok(())
    }

    async fn bring_up(self: &Arc<Self>, parts: Parts) -> Result<Arc<LiveSession>, Failure> {
        let Parts { browser, asked, options, realm, context, book } = parts;
        let (ours, theirs) = channel_pair();
        let guard =
            Some(self.policy.guard(GuardedClient::Engine, options.policy(), &self.key, browser.ownership));
        let (share, on_loss) = (Share::Released, OnLoss::Close);
        let share = ClientOptions { share, on_loss, realm: realm.clone(), guard };
        let place = Some(Place::of_engine(self.key.name.to_string()));
        browser.hub.join_in_place(theirs.0, theirs.1, share, place).await.map_err(gone)?;
        let book = book.unwrap_or_else(|| TabBook::new(browser.upstream, browser.take_epoch()));
        // Where a browser that somebody else runs saves files is that one's business. Through an extension nothing
        // changes that: the files stay there, and the session has copies.
        let keeps = browser.ownership.may_close() || browser.upstream == UpstreamKind::Extension;
        let files = keeps.then(|| Arc::new(RequestFiles::own(&self.files)) as Arc<dyn Files>);
        let engine = Browser::start(ours.0, ours.1, book, files, &self.tasks).await?;
        engine.set_viewport(options.viewport);
        engine.set_frame_policy(self.policy.frame_policy(options.policy(), &self.key));
        engine.set_download_rule(self.policy.download_rule(options.policy(), &self.key));
        if options.policy() == PolicyProfile::Guarded && browser.ownership.may_close() {
            engine.set_containment(self.policy.containment(options.policy(), &self.key));
        }
        let engine = Arc::new(engine);
        let (since, is_stopped) = (Instant::now(), AtomicBool::new(false));
        let live =
            Arc::new(LiveSession { browser, engine, asked, options, realm, context, since, is_stopped });
        self.follow(&live);
        self.saver.start(self, &live);
        Ok(live)
    }

    /// Writes the session down whenever its tabs have changed, for as long as its browser is there.
    fn follow(self: &Arc<Self>, live: &Arc<LiveSession>) {
        let mut changes = live.engine.tab_changes();
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

    /// Saves what a later daemon needs, in the background.
    pub(crate) fn remember(self: &Arc<Self>, live: &Arc<LiveSession>) {
        let (session, live) = (Arc::clone(self), Arc::clone(live));
        self.tasks.start("remember-session", async move { session.save(&live).await });
    }

    /// Writes the session down as it is now; what goes wrong is logged, the last record stays.
    pub(crate) async fn save(self: &Arc<Self>, live: &LiveSession) {
        let _ = self.try_save(live).await;
    }

    async fn try_save(&self, live: &LiveSession) -> Result<(), Failure> {
        let _saving = self.saving.lock().await;
        let is_over = live.is_stopped.load(Ordering::Acquire) || self.is_renamed.load(Ordering::Acquire);
        if live.is_gone() || is_over {
            // What is written of a browser's last tabs stays, and that a session was stopped or renamed.
            return Ok(());
        }
        let mut record = self.record();
        (record.asked, record.options) = (live.asked.clone(), live.options.clone());
        record.running = Some(live.to_record(self.endpoint(), self.leases.saved()));
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
            tracing::warn!(%failure, session = %self.key, "a session could not be saved");
        }
        written
    }

    /// Writes down what the session remembers, with or without a browser.
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

    /// Lets go of the session's browser; the caller decides whether to end it. What was asked for stays remembered.
    pub(crate) async fn take_live(self: &Arc<Self>) -> Option<Arc<LiveSession>> {
        let taken = self.live.lock().await.take()?;
        if !taken.is_gone() {
            self.saver.save_last(self, &taken).await;
        }
        let _saving = self.saving.lock().await;
        taken.is_stopped.store(true, Ordering::Release);
        let mut record = self.record();
        (record.asked, record.options) = (taken.asked.clone(), taken.options.clone());
        // Logged; the browser ends all the same.
        let _ = self.write(record).await;
        Some(taken)
    }

    /// Gives the session's files another name, which nothing that is still under way brings back.
    pub(crate) async fn rename_files(&self, to: &SessionKey) -> Result<(), Failure> {
        let _saving = self.saving.lock().await;
        self.store.rename(&self.key, to)?;
        self.is_renamed.store(true, Ordering::Release);
        Ok(())
    }

    /// Gives the session's browser to the same session under another name.
    pub(crate) async fn hand_over(self: &Arc<Self>, heir: &Arc<Self>) {
        let mut live = self.live.lock().await;
        let mut theirs = heir.live.lock().await;
        if let Some(running) = live.take() {
            heir.follow(&running);
            heir.saver.start(heir, &running);
            heir.remember(&running);
            *theirs = Some(running);
        }
        heir.leases.take_from(&self.leases);
        heir.saver.take_from(&self.saver);
    }

    /// The session's browser if it has one now.
    pub(crate) async fn find_live(&self) -> Option<Arc<LiveSession>> {
        self.live.lock().await.clone()
    }

    /// The session's browser without waiting; `Err` while it is starting.
    pub(crate) fn peek_live(&self) -> Result<Option<Arc<LiveSession>>, Starting> {
        self.live.try_lock().map(|live| live.clone()).map_err(|_| Starting)
    }

    fn told_otherwise(&self, defaults: &SessionOptions, running: &SessionOptions) -> Vec<String> {
        // How browsers are launched says nothing about one that was attached to.
        if running.address().is_some() && defaults.address().is_none() {
            return Vec::new();
        }
        let differences = defaults.differences(running).into_iter().map(|one| {
            format!(
                "The configuration says {} {}, and session {} runs with {}; `tabwire session restart` applies it.",
                one.option, one.asked, self.key.name, one.running
            )
        });
        differences.collect()
    }

    fn other_options(&self, differences: &[Difference]) -> Failure {
        let name = &self.key.name;
        let told: Vec<String> = differences
            .iter()
            .map(|one| format!("{} is {}, not {}", one.option, one.running, one.asked))
            .collect();
        let message = format!("Session {name} already runs with other options: {}.", told.join("; "));
        let list: Vec<&str> = differences.iter().map(|one| one.option).collect();
        Failure::new(ErrorCode::BadArgs, message)
            .with_hint("Leave the options out, add --restart to start its browser anew with them, or choose another --session.")
            .with_details(serde_json::json!({"options": list}))
    }
}

/// A session's browser is being started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Starting;

/// What a session with a browser is put together from.
struct Parts {
    browser: Arc<ServedBrowser>,
    asked: SessionOptions,
    options: SessionOptions,
    realm: Option<RealmId>,
    context: Option<BrowserContextId>,
    book: Option<TabBook>,
}

pub(crate) fn gone(gone: HubGone) -> Failure {
    Failure::new(ErrorCode::BrowserGone, format!("{gone}."))
        .with_hint("Run the command again: it starts the browser anew, with the tabs it had.")
}

impl Session {
    /// Opens again what a lost browser had, and says what came back.
    async fn bring_back(self: &Arc<Self>, live: &Arc<LiveSession>, before: Before) -> Option<Recovery> {
        let Before { reason, tabs, .. } = before;
        let restart = reason.is_none();
        if restart && tabs.is_empty() {
            self.saver.restore_first(self, live).await;
            return None;
        }
        let recovery = crate::recovery::bring_back(self, live, reason, tabs).await;
        (!restart).then_some(recovery)
    }
}
