//! One browser: its tabs, and a `Page` handle for each tab that was used.

pub(crate) mod completion;
pub(crate) mod defaults;
pub(crate) mod end_of_use;
pub(crate) mod fetch_tab;
pub(crate) mod hidden_tab;
pub(crate) mod location;
pub(crate) mod pointer_mark;
pub(crate) mod script;
pub(crate) mod selected_frame;
pub(crate) mod sync;
pub(crate) mod tab;
pub(crate) mod visited_origins;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::json;
use tabwire_api::{BrowserContextId, ErrorCode, Failure, FrameId, Remedy, Step, TabId, TargetId};
use tabwire_cdp::{
    CdpError, CdpSession, Connection, Deadline, EventFilter, Feed, FrameSink, FrameSource, TargetInfo,
    TargetRegistry, TaskGroup,
};
use tokio::sync::watch;

use crate::browser::defaults::TabDefaults;
use crate::browser::pointer_mark::PointerMark;
use crate::browser::tab::events::mark_crashed;
use crate::browser::tab::ids::TabIds;
use crate::browser::visited_origins::VisitedOrigins;
use crate::capture::store::CaptureStore;
use crate::download::manager::DownloadManager;
use crate::feed::EventFeed;
use crate::files::Files;
use crate::limits::SETUP_DEADLINE;
use crate::media::frames::ScreencastFrames;
use crate::media::live_view::LiveView;
use crate::media::screencast::{Recording, Recordings};
use crate::page::navigation::{DocumentResponse, LoadState};
use crate::page::{Page, PageSetup};
use crate::trace::run::TraceRun;

pub use location::PageLocation;

/// How long a navigation waits for the setup of a page that was just attached.
const FIRST_SETUP_TIMEOUT: Duration = Duration::from_millis(500);

/// What the engine holds for a browser's tabs, for leak checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrowserCounts {
    /// Tabs that have an id.
    pub tabs: usize,
    /// Attached pages.
    pub pages: usize,
    /// Root frames of those pages, each of which needs agent calls of its own.
    pub frames: usize,
    /// Hidden tabs.
    pub hidden: usize,
}

/// The engine's client of one browser.
#[derive(Debug)]
pub struct Browser {
    connection: Connection,
    registry: TargetRegistry,
    state: Arc<Mutex<State>>,
    /// Locked while a page is attached, so that it is attached only once.
    attaching: tokio::sync::Mutex<()>,
    downloads: Arc<DownloadManager>,
    visited: Arc<VisitedOrigins>,
    /// The running trace; locked while one starts or stops.
    trace: tokio::sync::Mutex<Option<TraceRun>>,
    captures: CaptureStore,
    recordings: Recordings,
    view: TabDefaults,
    feed: EventFeed,
    /// The latest element that an action used.
    mark: watch::Sender<Option<PointerMark>>,
    tasks: TaskGroup,
}

#[derive(Debug)]
struct State {
    tab_ids: TabIds,
    pages: HashMap<TargetId, OpenPage>,
    /// Hidden tabs of the engine, which no list contains and no action may use.
    hidden: HashSet<TargetId>,
    /// Browser contexts that scripts have made.
    contexts: HashSet<BrowserContextId>,
}

#[derive(Debug)]
struct OpenPage {
    page: Page,
    crashed: watch::Sender<bool>,
}

impl Browser {
    /// Connects to a browser over the given frame source and sink. With `files`, all downloads are kept; without, the
    /// browser handles them itself, except those that an action requests.
    ///
    /// # Errors
    /// When the browser does not respond.
    pub async fn start(
        source: FrameSource,
        sink: FrameSink,
        tab_ids: TabIds,
        files: Option<Arc<dyn Files>>,
        tasks: &TaskGroup,
    ) -> Result<Self, Failure> {
        let connection = Connection::start(source, sink, tasks);
        let feed = EventFeed::default();
        let downloads = DownloadManager::start(&connection, files, tasks, feed.clone());
        let registry =
            TargetRegistry::start(&connection, SETUP_DEADLINE).await.map_err(CdpError::into_failure)?;
        let state = Arc::new(Mutex::new(State {
            tab_ids,
            pages: HashMap::new(),
            hidden: HashSet::new(),
            contexts: HashSet::new(),
        }));
        // A crashed target keeps its sessions, and its pending commands get no response
        // (docs/cdp/detach-discipline.md).
        let crashes = connection.browser().events(EventFilter::methods(["Target.targetCrashed"]));
        tasks.start("crashes", mark_crashed(crashes, Arc::downgrade(&state), feed.clone()));
        let attaching = tokio::sync::Mutex::new(());
        let visited = Arc::new(VisitedOrigins::default());
        let (created, changed) = (registry.on_created(), registry.on_changed());
        tasks.start("visited-origins", VisitedOrigins::follow(Arc::downgrade(&visited), created, changed));
        let tasks = tasks.clone();
        let (trace, captures) = (tokio::sync::Mutex::default(), CaptureStore::default());
        let recordings = Recordings::default();
        let browser = Self {
            connection,
            registry,
            state,
            attaching,
            downloads,
            visited,
            trace,
            captures,
            recordings,
            view: TabDefaults::default(),
            feed,
            mark: watch::Sender::default(),
            tasks,
        };
        browser.forget_closed();
        Ok(browser)
    }

    /// Sets the viewport that pages get at their first use, whatever the size of the window.
    pub fn set_viewport(&self, viewport: Option<(u16, u16)>) {
        self.view.set(viewport);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_pages(&self) -> Vec<TargetInfo> {
        let mut open = self.registry.list();
        let mut state = self.state();
        // A closed tab needs no entry.
        state.hidden.retain(|hidden| open.iter().any(|info| info.target_id == *hidden));
        open.retain(|info| info.is_page() && !state.hidden.contains(&info.target_id));
        open
    }

    /// The origins that tabs and frames have visited.
    pub(crate) fn visited_origins(&self) -> BTreeSet<String> {
        for info in self.open_pages() {
            self.visited.note(&info.url);
        }
        self.visited.list()
    }

    /// The pages that were used and still exist.
    pub(crate) fn attached_pages(&self) -> Vec<Page> {
        self.state().pages.values().map(|open| open.page.clone()).filter(|page| !page.is_gone()).collect()
    }

    fn forget_closed(&self) -> Vec<TargetInfo> {
        let open = self.open_pages();
        let is_open = |target: &TargetId| open.iter().any(|info| info.target_id == *target);
        let mut state = self.state();
        state.tab_ids.retain(is_open);
        state.hidden.retain(|target| self.registry.find(target).is_some());
        state.pages.retain(|target, open| is_open(target) && !open.page.is_gone());
        open
    }

    /// The page of a tab, or of the current one, if it was used. Sends no command.
    pub(crate) fn attached_page(&self, tab: Option<TabId>) -> Option<Page> {
        let target = match tab {
            None => self.current_target(&self.open_pages())?,
            Some(id) => self.find_target(id).ok()?,
        };
        self.find_page(&target)
    }

    /// The page of a tab, or of the current one.
    ///
    /// # Errors
    /// When there is no such tab, or it belongs to an earlier browser.
    pub async fn page(&self, tab: Option<TabId>) -> Result<Page, Failure> {
        let open = self.forget_closed();
        let target = match tab {
            None => self.current_target(&open).ok_or_else(no_tab)?,
            Some(id) => self.find_target(id)?,
        };
        self.page_for(&target).await
    }

    fn find_target(&self, id: TabId) -> Result<TargetId, Failure> {
        let state = self.state();
        if !state.tab_ids.is_of_this_run(id) {
            let message = format!("Tab {id} belongs to a browser that is gone.");
            return Err(Failure::new(ErrorCode::StaleTab, message)
                .with_remedy(Remedy::new("The current ids: {}.", [Step::action("tabs_list")])));
        }
        state.tab_ids.find(id).ok_or_else(|| {
            Failure::new(ErrorCode::TabNotFound, format!("There is no tab {id}; it may have been closed."))
                .with_remedy(Remedy::new("The open ones: {}.", [Step::action("tabs_list")]))
        })
    }

    pub(crate) async fn page_for(&self, target: &TargetId) -> Result<Page, Failure> {
        if let Some(page) = self.find_page(target) {
            return Ok(page);
        }
        let _attaching = self.attaching.lock().await;
        if let Some(page) = self.find_page(target) {
            return Ok(page);
        }
        let session = self.registry.attach(target, SETUP_DEADLINE).await.map_err(CdpError::into_failure)?;
        let (crashed, watcher) = watch::channel(false);
        let setup = PageSetup {
            policy: self.view.policy(),
            egress: self.view.egress(),
            feed: self.feed.clone(),
            jar: self.made_context_of(target),
        };
        let page = Page::new(target.clone(), session, watcher, &self.tasks, setup);
        page.selected_frame().restore(self.state().tab_ids.selected_frame(target).cloned());
        self.state().pages.insert(target.clone(), OpenPage { page: page.clone(), crashed });
        self.view.apply(&page).await;
        Ok(page)
    }

    fn find_page(&self, target: &TargetId) -> Option<Page> {
        self.state().pages.get(target).map(|open| open.page.clone()).filter(|page| !page.is_gone())
    }

    /// Clears the crash mark: the page has a process again.
    pub(crate) fn clear_crash(&self, target: &TargetId) {
        if let Some(open) = self.state().pages.get(target) {
            open.crashed.send_replace(false);
        }
    }

    /// Navigates a page to a URL and waits until it has loaded. Restarts a crashed page.
    ///
    /// # Errors
    /// When the URL cannot be loaded, or not within the deadline.
    pub async fn navigate(
        &self,
        page: &Page,
        url: &str,
        state: LoadState,
        deadline: Deadline,
    ) -> Result<DocumentResponse, Failure> {
        self.navigate_from(page, url, None, state, deadline).await
    }

    /// The same with the referer that the request has.
    ///
    /// # Errors
    /// As `navigate`.
    pub(crate) async fn navigate_from(
        &self,
        page: &Page,
        url: &str,
        referer: Option<&str>,
        state: LoadState,
        deadline: Deadline,
    ) -> Result<DocumentResponse, Failure> {
        self.clear_crash(page.target());
        // Wait for the setup of the page's session: Chromium 156 loses request events of the new process when a page
        // navigates before that. A crashed page never responds, so the wait is short and its result is ignored.
        let _ = page.session().wait_ready(Deadline::after(FIRST_SETUP_TIMEOUT)).await;
        let response = page.navigate(url, referer, state, deadline).await?;
        // The crash event may have arrived after the first `clear_crash`.
        self.clear_crash(page.target());
        Ok(response)
    }

    /// A feed of targets that are created from now on.
    pub(crate) fn opened(&self) -> Feed<TargetInfo> {
        self.registry.on_created()
    }

    /// Feeds of targets that are created, changed and destroyed from now on.
    pub(crate) fn target_feeds(&self) -> (Feed<TargetInfo>, Feed<TargetInfo>, Feed<TargetInfo>) {
        (self.registry.on_created(), self.registry.on_changed(), self.registry.on_destroyed())
    }

    /// The URL of a page in the browser's target list.
    pub(crate) fn find_url(&self, page: &Page) -> Option<String> {
        self.registry.find(page.target()).map(|info| info.url)
    }

    /// The browser context of a target, unless it is the default one.
    pub(crate) fn context_of(&self, target: &TargetId) -> Option<BrowserContextId> {
        self.open_pages().into_iter().find(|info| info.target_id == *target)?.browser_context_id
    }

    /// The browser's downloads.
    pub(crate) fn downloads(&self) -> &DownloadManager {
        &self.downloads
    }

    /// The captures of actions in this browser.
    pub(crate) fn captures(&self) -> &CaptureStore {
        &self.captures
    }

    /// The tabs that are being recorded.
    pub(crate) fn recordings(&self) -> &Recordings {
        &self.recordings
    }

    /// Records a page in a CDP session of its own, so that screenshots in other sessions do not stop the screencast.
    pub(crate) async fn record(
        &self,
        page: &Page,
        recorded: ScreencastFrames,
        deadline: Deadline,
    ) -> Result<Recording, Failure> {
        let session = self.registry.attach(page.target(), deadline).await.map_err(CdpError::into_failure)?;
        Recording::start(session, recorded, page.start_screenshot_check(), &self.tasks, deadline).await
    }

    /// A tab for the user's live view, in a CDP session of its own.
    ///
    /// # Errors
    /// When the tab is gone or does not respond.
    pub async fn live_view(&self, tab: TabId, deadline: Deadline) -> Result<LiveView, Failure> {
        let page = self.page(Some(tab)).await?;
        let session = self.registry.attach(page.target(), deadline).await.map_err(CdpError::into_failure)?;
        LiveView::start(page, session, deadline).await
    }

    /// The running trace of the browser.
    pub(crate) fn trace(&self) -> &tokio::sync::Mutex<Option<TraceRun>> {
        &self.trace
    }

    /// Whether an attached page has this frame.
    pub(crate) fn has_frame(&self, frame: &FrameId) -> bool {
        let state = self.state();
        state.pages.values().any(|open| open.page.session().has_frame(frame))
    }

    /// Opens a hidden tab with the cookies and storage of a context, and attaches to it.
    ///
    /// In Chromium 156 a tab without a window (`in_window` false) downloads nothing.
    pub(crate) async fn open_hidden_tab(
        &self,
        context: Option<&BrowserContextId>,
        in_window: bool,
    ) -> Result<(TargetId, CdpSession), Failure> {
        let mut params = json!({"url": "about:blank", "background": true, "hidden": !in_window});
        if let Some(context) = context {
            params["browserContextId"] = json!(context);
        }
        let target = self.create_target(&params).await?;
        self.state().hidden.insert(target.clone());
        match self.registry.attach(&target, SETUP_DEADLINE).await {
            Ok(session) => Ok((target, session)),
            Err(error) => {
                self.close_hidden_tab(&target);
                Err(error.into_failure())
            }
        }
    }

    /// Closes a hidden tab without waiting.
    pub(crate) fn close_hidden_tab(&self, target: &TargetId) {
        // It stays in the list of hidden tabs: the browser lists it until it is closed.
        let params = json!({"targetId": target});
        let closing = self.connection.browser().begin("Target.closeTarget", &params, SETUP_DEADLINE);
        self.tasks.start("close-hidden-tab", async move {
            // Await the response: a command whose `PendingResponse` is dropped may never be sent.
            if let Ok(closing) = closing {
                let _ = closing.response().await;
            }
        });
    }

    /// The id of a target's tab.
    pub(crate) fn tab_id_of_target(&self, target: &TargetId) -> TabId {
        self.state().tab_ids.id_of(target)
    }

    async fn create_tab(&self, background: bool) -> Result<TargetId, Failure> {
        self.create_target(&json!({"url": "about:blank", "background": background})).await
    }

    async fn create_target(&self, params: &serde_json::Value) -> Result<TargetId, Failure> {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct CreatedTarget {
            target_id: TargetId,
        }
        let browser = self.connection.browser();
        let response = browser.send("Target.createTarget", params, SETUP_DEADLINE).await;
        let created: CreatedTarget =
            response.and_then(|response| response.to()).map_err(CdpError::into_failure)?;
        Ok(created.target_id)
    }

    /// A tab, or the current one, with its last reported URL. Sends no command.
    #[must_use]
    pub fn find_tab_url(&self, tab: Option<TabId>) -> Option<(TabId, String)> {
        let target = match tab {
            None => self.current_target(&self.open_pages())?,
            Some(id) => self.find_target(id).ok()?,
        };
        let url = self.registry.find(&target)?.url;
        Some((self.tab_id_of_target(&target), url))
    }

    /// The id of a page's tab.
    #[must_use]
    pub fn tab_id(&self, page: &Page) -> TabId {
        self.state().tab_ids.id_of(page.target())
    }

    /// A copy of the tab ids, to save them.
    #[must_use]
    pub fn tab_ids(&self) -> TabIds {
        self.state().tab_ids.clone()
    }

    /// The response to `Browser.getVersion`.
    ///
    /// # Errors
    /// When the browser does not respond.
    pub async fn version(&self, deadline: impl Into<Deadline>) -> Result<serde_json::Value, Failure> {
        let response = self.connection.browser().send("Browser.getVersion", &(), deadline).await;
        response.and_then(|response| response.to()).map_err(CdpError::into_failure)
    }

    /// Counts of what the engine holds for tabs, for leak checks.
    #[must_use]
    pub fn counts(&self) -> BrowserCounts {
        let state = self.state();
        BrowserCounts {
            tabs: state.tab_ids.count(),
            pages: state.pages.len(),
            frames: state.pages.values().map(|open| open.page.session().readable_roots().len()).sum(),
            hidden: state.hidden.len(),
        }
    }

    /// The CDP connection, for leak checks.
    #[must_use]
    pub fn connection(&self) -> &Connection {
        &self.connection
    }
}

fn no_tab() -> Failure {
    Failure::new(ErrorCode::TabNotFound, "The session has no open tab.")
        .with_remedy(Remedy::new("{} opens one.", [Step::action("open").with("url", "URL")]))
}
