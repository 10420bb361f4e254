//! One session: its browser, the engine that drives it, and what is remembered of it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use tabwire_browser::Ownership;
use tabwire_cdp::{TaskGroup, channel_pair};
use tabwire_engine::{Browser, Files, Page, TabBook};
use tabwire_mux::{ClientOptions, OnLoss, Share};
use tabwire_wire::api::{SessionOptions, SessionStatus};
use tabwire_wire::{ErrorCode, Failure, SessionName, UpstreamKind};
use tokio::sync::{Mutex, Semaphore};

use crate::file_shelf::FileShelf;
use crate::fleet::{Fleet, ServedBrowser, in_background};
use crate::hub::HubGone;
use crate::request_files::RequestFiles;
use crate::session_record::SessionRecord;
use crate::token::Token;

/// A session that may or may not have a browser right now.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) name: SessionName,
    pub(crate) secret: Token,
    directory: PathBuf,
    files: Arc<FileShelf>,
    tasks: TaskGroup,
    /// The one place for a CDP client, when the session serves one at a time.
    pub(crate) slot: Arc<Semaphore>,
    /// Held over the start of a browser, so that two commands never start two.
    live: Mutex<Option<Arc<LiveSession>>>,
}

/// A session with its browser.
#[derive(Debug)]
pub(crate) struct LiveSession {
    pub(crate) browser: Arc<ServedBrowser>,
    pub(crate) engine: Arc<Browser>,
    pub(crate) options: SessionOptions,
    pub(crate) since: Instant,
}

impl LiveSession {
    /// Opens a tab in a browser that has none. It is nobody's: CDP clients are shown it as a browser's first.
    pub(crate) async fn open_first_tab(&self, url: &str) -> Result<Page, Failure> {
        let opened = self.browser.hub.open_tab(url, None).await;
        let gone = |gone: HubGone| Failure::new(ErrorCode::BrowserGone, format!("{gone}."));
        let target = opened.map_err(gone)?.ok_or_else(|| {
            Failure::new(ErrorCode::CdpError, format!("The browser opened no tab for {url}."))
                .with_hint("Check the address; `tabwire status` shows how the browser is.")
        })?;
        self.engine.take_up(target).await
    }

    /// Sees to it that there is a tab.
    pub(crate) async fn ensure_tab(&self) -> Result<(), Failure> {
        if self.engine.tab_count() == 0 {
            self.open_first_tab("about:blank").await?;
        }
        Ok(())
    }
}

/// A session ready for use, with what the user should know.
pub(crate) struct Ready {
    pub(crate) live: Arc<LiveSession>,
    pub(crate) notices: Vec<String>,
}

impl Session {
    pub(crate) fn new(
        name: SessionName,
        secret: Token,
        directory: PathBuf,
        files: Arc<FileShelf>,
        tasks: TaskGroup,
    ) -> Self {
        let slot = Arc::new(Semaphore::new(1));
        Self { name, secret, directory, files, tasks, slot, live: Mutex::new(None) }
    }

    /// The session's browser, started or reached if there is none.
    pub(crate) async fn ready(&self, fleet: &Fleet, options: &SessionOptions) -> Result<Ready, Failure> {
        let mut live = self.live.lock().await;
        let mut notices = Vec::new();
        if let Some(running) = live.as_ref() {
            if !running.browser.hub.is_gone() {
                self.check_options(running, options)?;
                return Ok(Ready { live: Arc::clone(running), notices });
            }
            let HubGone(reason) = running.browser.hub.gone_reason();
            notices.push(format!(
                "The browser of session {} was gone ({reason}); its tabs are lost and a new one was started.",
                self.name
            ));
            fleet.end_leftover(&running.browser).await;
        }
        // What the session was started with stays in force when its browser has to be started again.
        let options = match live.take() {
            Some(before) if *options == SessionOptions::default() => before.options.clone(),
            None if *options == SessionOptions::default() => self.remembered_options(),
            _ => options.clone(),
        };
        let labels = vec![("session".to_owned(), self.name.to_string())];
        let browser = fleet.obtain(&options, labels).await?;
        notices.extend(browser.descriptor.iter().flat_map(|descriptor| descriptor.warnings.iter().cloned()));
        let book = self.remembered_book(&browser);
        let started = self.bring_up(browser, options, book).await?;
        *live = Some(Arc::clone(&started));
        Ok(Ready { live: started, notices })
    }

    /// The options an earlier daemon ran the session with.
    fn remembered_options(&self) -> SessionOptions {
        SessionRecord::find(&self.directory, &self.name).map(|record| record.options).unwrap_or_default()
    }

    /// The tab ids an earlier daemon gave out for the same browser.
    fn remembered_book(&self, browser: &ServedBrowser) -> Option<TabBook> {
        let id = &browser.descriptor.as_ref()?.id;
        let record = SessionRecord::find(&self.directory, &self.name)?;
        (record.browser.as_ref() == Some(id)).then(|| record.book.resumed())
    }

    /// Takes up a browser that an earlier daemon served.
    pub(crate) async fn adopt(&self, browser: Arc<ServedBrowser>) -> Result<(), Failure> {
        let (options, book) = (self.remembered_options(), self.remembered_book(&browser));
        let mut live = self.live.lock().await;
        *live = Some(self.bring_up(browser, options, book).await?);
        Ok(())
    }

    async fn bring_up(
        &self,
        browser: Arc<ServedBrowser>,
        options: SessionOptions,
        book: Option<TabBook>,
    ) -> Result<Arc<LiveSession>, Failure> {
        let (ours, theirs) = channel_pair();
        let share = ClientOptions { share: Share::Released, on_loss: OnLoss::Close, realm: None };
        let gone = |gone: HubGone| Failure::new(ErrorCode::BrowserGone, format!("{gone}."));
        browser.hub.join(theirs.0, theirs.1, share).await.map_err(gone)?;
        let book = book.unwrap_or_else(|| TabBook::new(browser.upstream, epoch_of(&browser)));
        // What a browser of its user's own downloads is its user's business.
        let keeps = browser.ownership.may_close();
        let files = keeps.then(|| Arc::new(RequestFiles::own(&self.files)) as Arc<dyn Files>);
        let engine = Arc::new(Browser::start(ours.0, ours.1, book, files, &self.tasks).await?);
        let live = Arc::new(LiveSession { browser, engine, options, since: Instant::now() });
        self.remember(&live);
        Ok(live)
    }

    fn check_options(&self, running: &LiveSession, options: &SessionOptions) -> Result<(), Failure> {
        if *options == SessionOptions::default() || *options == running.options {
            return Ok(());
        }
        let message = format!("Session {} already runs with other options.", self.name);
        Err(Failure::new(ErrorCode::BadArgs, message).with_hint(format!(
            "Leave the options out, run `tabwire close --session {}` first, or choose another --session.",
            self.name
        )))
    }

    /// Saves what a later daemon needs, in the background.
    pub(crate) fn remember(&self, live: &LiveSession) {
        let record = SessionRecord::new(
            self.name.clone(),
            self.secret.expose().to_owned(),
            live.options.clone(),
            live.browser.descriptor.as_ref().map(|descriptor| descriptor.id.clone()),
            live.engine.book(),
        );
        let directory = self.directory.clone();
        self.tasks.start("remember-session", async move {
            if let Err(failure) = in_background(move || record.write(&directory)).await {
                tracing::warn!(%failure, "a session could not be saved");
            }
        });
    }

    /// Lets go of the session's browser; the caller decides whether to end it.
    pub(crate) async fn take_live(&self) -> Option<Arc<LiveSession>> {
        let taken = self.live.lock().await.take();
        SessionRecord::remove(&self.directory, &self.name);
        taken
    }

    /// The session's browser if it has one now.
    pub(crate) async fn find_live(&self) -> Option<Arc<LiveSession>> {
        self.live.lock().await.clone()
    }

    /// The session's browser if it has one and is not just getting another; waits for nothing.
    pub(crate) fn peek_live(&self) -> Option<Arc<LiveSession>> {
        self.live.try_lock().ok()?.clone()
    }

    /// Whether the session's browser is being started or reached.
    pub(crate) fn is_starting(&self) -> bool {
        self.live.try_lock().is_err()
    }

    /// How the session is; never starts anything. A session that is starting says so.
    pub(crate) async fn status(&self) -> Option<SessionStatus> {
        let live = match self.live.try_lock() {
            Ok(live) => live.clone()?,
            Err(_) => return Some(starting(&self.name)),
        };
        let facts = live.browser.hub.facts().await;
        let state = match &facts {
            Ok(_) => "active".to_owned(),
            Err(gone) => gone.to_string(),
        };
        let descriptor = live.browser.descriptor.as_ref();
        let (clients, pending, held, astray, misrouted, events_dropped) = match &facts {
            Err(_) => (0, 0, 0, 0, 0, 0),
            Ok(facts) => {
                let (held, counted) = (facts.leftovers, facts.counters);
                let astray = counted.answers_unknown + counted.events_unowned;
                let held = held.sessions + held.contexts + held.holds + held.pending;
                (facts.clients, facts.pending, held, astray, counted.answers_misrouted, facts.events_dropped)
            }
        };
        Some(SessionStatus {
            name: self.name.clone(),
            state,
            ownership: ownership_word(live.browser.ownership).to_owned(),
            upstream: live.browser.upstream.to_string(),
            browser_pid: descriptor.map(|descriptor| descriptor.browser.pid()),
            keeper_pid: descriptor.map(|descriptor| descriptor.keeper.pid()),
            browser_version: descriptor.and_then(|descriptor| descriptor.version.clone()),
            profile: descriptor.map(|descriptor| descriptor.profile.display().to_string()),
            tabs: live.engine.tab_count(),
            clients,
            pending,
            held,
            astray,
            misrouted,
            events_dropped,
            uptime_seconds: live.since.elapsed().as_secs(),
        })
    }
}

const fn ownership_word(ownership: Ownership) -> &'static str {
    if ownership.may_close() { "launched" } else { "attached" }
}

/// Tells this browser run from others in tab ids.
fn epoch_of(browser: &ServedBrowser) -> u16 {
    let digits = match &browser.descriptor {
        Some(descriptor) => descriptor.id.as_str().chars().take(4).collect::<String>(),
        None => format!("{:04x}", browser.since.elapsed().subsec_nanos() & 0xffff),
    };
    u16::from_str_radix(&digits, 16).unwrap_or(1)
}

fn starting(name: &SessionName) -> SessionStatus {
    SessionStatus {
        name: name.clone(),
        state: "starting".to_owned(),
        ownership: "launched".to_owned(),
        upstream: UpstreamKind::Pipe.to_string(),
        browser_pid: None,
        keeper_pid: None,
        browser_version: None,
        profile: None,
        tabs: 0,
        clients: 0,
        pending: 0,
        held: 0,
        astray: 0,
        misrouted: 0,
        events_dropped: 0,
        uptime_seconds: 0,
    }
}
