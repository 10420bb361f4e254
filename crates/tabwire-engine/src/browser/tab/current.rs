//! The current tab: the one that commands use when they name none.

use tabwire_api::{Failure, TabId, TargetId};
use tabwire_cdp::TargetInfo;

use crate::browser::Browser;
use crate::page::Page;

impl Browser {
    /// The selected tab, else the first one that the user did not open.
    pub(in crate::browser) fn current_target(&self, open: &[TargetInfo]) -> Option<TargetId> {
        let mut state = self.state();
        if let Some(current) = state.tab_ids.current() {
            return Some(current.clone());
        }
        let mut numbered: Vec<(u32, TargetId)> = open
            .iter()
            .filter(|info| !info.is_user_tab)
            .map(|info| (state.tab_ids.id_of(&info.target_id).number, info.target_id.clone()))
            .collect();
        numbered.sort_unstable_by_key(|(number, _)| *number);
        numbered.into_iter().next().map(|(_, target)| target)
    }

    /// Opens a tab, and with `selects` makes it the current one.
    pub(crate) async fn new_tab(&self, background: bool, selects: bool) -> Result<Page, Failure> {
        let target = self.create_tab(background).await?;
        if !background {
            self.state().tab_ids.brought_to_front(target.clone());
        }
        if selects { self.select_target(target).await } else { self.page_for(&target).await }
    }

    /// Makes a tab the current one.
    ///
    /// # Errors
    /// When there is no such tab.
    pub async fn select_tab(&self, tab: TabId) -> Result<(), Failure> {
        self.select(tab, true).await.map(drop)
    }

    /// The target of a tab, if it is known.
    #[must_use]
    pub fn find_target_of(&self, tab: TabId) -> Option<TargetId> {
        self.find_target(tab).ok()
    }

    /// The targets of the tabs that the user did not open.
    #[must_use]
    pub fn own_targets(&self) -> Vec<TargetId> {
        self.list_tabs().into_iter().filter(|info| !info.shared).map(|info| info.target).collect()
    }

    /// The tab that was selected, if it is open.
    #[must_use]
    pub fn selected_tab(&self) -> Option<TabId> {
        self.forget_closed();
        let mut state = self.state();
        let selected = state.tab_ids.current().cloned()?;
        Some(state.tab_ids.id_of(&selected))
    }

    /// The tab that commands use when they name none.
    #[must_use]
    pub fn current_tab(&self) -> Option<TabId> {
        let open = self.forget_closed();
        let current = self.current_target(&open)?;
        Some(self.tab_id_of_target(&current))
    }

    /// The page of a tab, which with `selects` becomes the current one.
    pub(crate) async fn select(&self, tab: TabId, selects: bool) -> Result<Page, Failure> {
        self.forget_closed();
        let target = self.find_target(tab)?;
        if selects { self.select_target(target).await } else { self.page_for(&target).await }
    }

    /// The page of the current tab, or of a new tab if requested. `None` when no tab is open.
    ///
    /// # Errors
    /// When the browser refuses.
    pub async fn page_for_open(&self, new_tab: bool) -> Result<Option<Page>, Failure> {
        let open = self.forget_closed();
        let target = match self.current_target(&open) {
            None => return Ok(None),
            Some(_) if new_tab => self.create_tab(true).await?,
            Some(current) => current,
        };
        self.select_target(target).await.map(Some)
    }

    /// The page of a target, without making its tab the current one.
    ///
    /// # Errors
    /// When there is no such tab.
    pub async fn use_target(&self, target: &TargetId) -> Result<Page, Failure> {
        self.page_for(target).await
    }

    /// Makes a tab the current one.
    ///
    /// # Errors
    /// When there is no such tab.
    pub async fn select_target(&self, target: TargetId) -> Result<Page, Failure> {
        let page = self.page_for(&target).await?;
        self.state().tab_ids.select(target);
        Ok(page)
    }
}
