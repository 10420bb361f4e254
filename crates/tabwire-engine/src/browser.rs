//! A browser as the engine sees it: its tabs, and one page handle for each that was used.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde_json::json;
use tabwire_cdp::{
    CdpError, Connection, Deadline, FrameSink, FrameSource, TargetInfo, TargetRegistry, TaskGroup,
};
use tabwire_wire::{ErrorCode, Failure, TabId, TargetId};

use crate::limits::SETUP_DEADLINE;
use crate::page::Page;
use crate::tab_book::TabBook;

/// One tab as it is listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TabInfo {
    /// Its id.
    pub tab: TabId,
    /// The browser's own name for it.
    #[serde(skip)]
    pub target: TargetId,
    /// Its title.
    pub title: String,
    /// Its address.
    pub url: String,
    /// Whether commands that name no tab act on it.
    pub current: bool,
}

/// The engine's client of one browser.
#[derive(Debug)]
pub struct Browser {
    connection: Connection,
    registry: TargetRegistry,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    book: TabBook,
    pages: HashMap<TargetId, Page>,
}

impl Browser {
    /// Starts as a client on the given wires.
    ///
    /// # Errors
    /// When the browser does not answer.
    pub async fn start(
        source: FrameSource,
        sink: FrameSink,
        book: TabBook,
        tasks: &TaskGroup,
    ) -> Result<Self, Failure> {
        let connection = Connection::start(source, sink, tasks);
        let registry =
            TargetRegistry::start(&connection, SETUP_DEADLINE).await.map_err(CdpError::into_failure)?;
        let state = Mutex::new(State { book, pages: HashMap::new() });
        let browser = Self { connection, registry, state };
        browser.forget_closed();
        Ok(browser)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_pages(&self) -> Vec<TargetInfo> {
        self.registry.list().into_iter().filter(TargetInfo::is_page).collect()
    }

    fn forget_closed(&self) -> Vec<TargetInfo> {
        let open = self.open_pages();
        let is_open = |target: &TargetId| open.iter().any(|info| info.target_id == *target);
        let mut state = self.state();
        state.book.retain(is_open);
        state.pages.retain(|target, page| is_open(target) && !page.is_gone());
        open
    }

    /// The tabs, in the order of their ids.
    #[must_use]
    pub fn tabs(&self) -> Vec<TabInfo> {
        let open = self.forget_closed();
        let current = self.choose_current(&open);
        let mut state = self.state();
        let mut tabs: Vec<TabInfo> = open
            .into_iter()
            .map(|info| TabInfo {
                tab: state.book.id_of(&info.target_id),
                current: current.as_ref() == Some(&info.target_id),
                target: info.target_id,
                title: info.title,
                url: info.url,
            })
            .collect();
        tabs.sort_unstable_by_key(|tab| tab.tab.number);
        tabs
    }

    /// The selected tab; else the only or first one there is.
    fn choose_current(&self, open: &[TargetInfo]) -> Option<TargetId> {
        let mut state = self.state();
        if let Some(current) = state.book.current() {
            return Some(current.clone());
        }
        let mut numbered: Vec<(u32, TargetId)> = open
            .iter()
            .map(|info| (state.book.id_of(&info.target_id).number, info.target_id.clone()))
            .collect();
        numbered.sort_unstable_by_key(|(number, _)| *number);
        numbered.into_iter().next().map(|(_, target)| target)
    }

    /// The page of a tab, or of the current one.
    ///
    /// # Errors
    /// When there is no such tab, or it belongs to an earlier browser.
    pub async fn page(&self, tab: Option<TabId>) -> Result<Page, Failure> {
        let open = self.forget_closed();
        let target = match tab {
            None => self.choose_current(&open).ok_or_else(no_tab)?,
            Some(id) => self.find_target(id)?,
        };
        self.page_of(&target).await
    }

    fn find_target(&self, id: TabId) -> Result<TargetId, Failure> {
        let state = self.state();
        if !state.book.is_of_this_run(id) {
            let message = format!("Tab {id} belongs to a browser that is no longer there.");
            return Err(
                Failure::new(ErrorCode::StaleTab, message).with_hint("Run `tabwire tabs` for today's ids.")
            );
        }
        state.book.find(id).ok_or_else(|| {
            Failure::new(ErrorCode::TabNotFound, format!("There is no tab {id}; it may have been closed."))
                .with_hint("Run `tabwire tabs` to see the open ones.")
        })
    }

    async fn page_of(&self, target: &TargetId) -> Result<Page, Failure> {
        if let Some(page) = self.state().pages.get(target).filter(|page| !page.is_gone()) {
            return Ok(page.clone());
        }
        let session = self.registry.attach(target, SETUP_DEADLINE).await.map_err(CdpError::into_failure)?;
        let page = Page::new(target.clone(), session);
        self.state().pages.insert(target.clone(), page.clone());
        Ok(page)
    }

    /// The current tab's page, or a new tab's when there is none or a new one is asked for.
    ///
    /// # Errors
    /// When the browser refuses.
    pub async fn page_to_open_in(&self, new_tab: bool) -> Result<Page, Failure> {
        let open = self.forget_closed();
        let current = if new_tab { None } else { self.choose_current(&open) };
        let target = match current {
            Some(target) => target,
            None => self.create_tab().await?,
        };
        self.state().book.select(target.clone());
        self.page_of(&target).await
    }

    async fn create_tab(&self) -> Result<TargetId, Failure> {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Created {
            target_id: TargetId,
        }
        let params = json!({"url": "about:blank", "background": true});
        let browser = self.connection.browser();
        let answer = browser.send("Target.createTarget", &params, SETUP_DEADLINE).await;
        let created: Created = answer.and_then(|answer| answer.to()).map_err(CdpError::into_failure)?;
        Ok(created.target_id)
    }

    /// Closes a tab.
    ///
    /// # Errors
    /// When there is no such tab or the browser refuses.
    pub async fn close_tab(&self, tab: TabId, deadline: impl Into<Deadline>) -> Result<(), Failure> {
        let target = self.find_target(tab)?;
        let params = json!({"targetId": target});
        let browser = self.connection.browser();
        browser.send("Target.closeTarget", &params, deadline).await.map_err(CdpError::into_failure)?;
        let mut state = self.state();
        state.pages.remove(&target);
        state.book.retain(|open| *open != target);
        Ok(())
    }

    /// The id of a page's tab.
    #[must_use]
    pub fn tab_of(&self, page: &Page) -> TabId {
        self.state().book.id_of(page.target())
    }

    /// The book of tab ids, to be saved.
    #[must_use]
    pub fn book(&self) -> TabBook {
        self.state().book.clone()
    }

    /// Asks the browser what it is.
    ///
    /// # Errors
    /// When it does not answer.
    pub async fn version(&self, deadline: impl Into<Deadline>) -> Result<serde_json::Value, Failure> {
        let answer = self.connection.browser().send("Browser.getVersion", &(), deadline).await;
        answer.and_then(|answer| answer.to()).map_err(CdpError::into_failure)
    }

    /// What the connection still holds, for leak checks.
    #[must_use]
    pub fn connection(&self) -> &Connection {
        &self.connection
    }
}

fn no_tab() -> Failure {
    Failure::new(ErrorCode::TabNotFound, "The session has no open tab.")
        .with_hint("Run `tabwire open URL` to open one.")
}
