//! What scripts need of a browser: the tab of an event, the frames of a tab, and interception for their routes.

use serde_json::json;
use tabwire_api::{BrowserContextId, Failure, FrameId, TabId, TargetId};
use tabwire_cdp::{CdpError, Deadline};

use super::Browser;
use crate::feed::EventFeed;
use crate::limits::SETUP_DEADLINE;

/// A frame of a tab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameFacts {
    /// Its id.
    pub id: String,
    /// The frame above; none for the main frame.
    pub parent: Option<String>,
    /// Its name.
    pub name: String,
    /// Its URL.
    pub url: String,
    /// The URL that the policy judges it by.
    pub judged: String,
}

impl Browser {
    /// The events of this browser, for scripts.
    #[must_use]
    pub fn feed(&self) -> &EventFeed {
        &self.feed
    }

    /// The tab of an event: by its page, or by a frame of it.
    #[must_use]
    pub fn tab_of_event(&self, target: &TargetId) -> Option<TabId> {
        let state = self.state();
        if let Some(tab) = state.tab_ids.find_id(target) {
            return Some(tab);
        }
        let frame = FrameId::new(target.as_str());
        let owner = state.pages.iter().find(|(_, open)| open.page.session().has_frame(&frame));
        owner.and_then(|(target, _)| state.tab_ids.find_id(target))
    }

    /// Waits until the events of a tab that have arrived are in the feed.
    pub async fn sync_events(&self, tab: Option<TabId>) {
        if let Some(page) = self.attached_page(tab) {
            page.sync_events().await;
        }
    }

    /// The frames of a tab that was used, parents first.
    #[must_use]
    pub fn frames_of(&self, tab: Option<TabId>) -> Vec<FrameFacts> {
        let Some(page) = self.attached_page(tab) else { return Vec::new() };
        let facts = |frame: crate::frames::tree::FrameInfo| FrameFacts {
            judged: page.session().policy_url(&frame.id).unwrap_or_default(),
            id: frame.id.to_string(),
            parent: frame.parent.map(|parent| parent.to_string()),
            name: frame.name,
            url: frame.url,
        };
        page.session().all_frames().into_iter().map(facts).collect()
    }

    /// Attaches to a tab, so that its events are reported, and reports a dialog that is open.
    ///
    /// # Errors
    /// When there is no such tab.
    pub async fn watch_tab(&self, tab: TabId) -> Result<(), Failure> {
        let page = self.page(Some(tab)).await?;
        page.state().report_open_dialog();
        Ok(())
    }

    /// Reports the dialog that is open in a tab that was used.
    pub fn report_open_dialog(&self, tab: TabId) {
        if let Some(page) = self.attached_page(Some(tab)) {
            page.state().report_open_dialog();
        }
    }

    /// Sends the browser what it has to pause, after a script has ended its routes.
    pub async fn refresh_interception(&self) {
        for page in self.attached_pages() {
            // A page that is gone has nothing to pause.
            let _ = page.apply_interception(Deadline::after(SETUP_DEADLINE)).await;
        }
    }

    /// Makes a browser context, which ends with the connection at the latest.
    pub(crate) async fn make_context(&self, deadline: Deadline) -> Result<BrowserContextId, Failure> {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct NewContext {
            browser_context_id: BrowserContextId,
        }
        // Without it, Chromium keeps the context and its pages when the connection ends.
        let params = json!({"disposeOnDetach": true});
        let response = self.connection.browser().send("Target.createBrowserContext", &params, deadline).await;
        let made: NewContext = response.and_then(|response| response.to()).map_err(CdpError::into_failure)?;
        self.state().contexts.insert(made.browser_context_id.clone());
        Ok(made.browser_context_id)
    }

    /// The context of a target, if a script has made it.
    pub(super) fn made_context_of(&self, target: &TargetId) -> Option<BrowserContextId> {
        let context = self.registry.find(target)?.browser_context_id?;
        self.state().contexts.contains(&context).then_some(context)
    }

    /// Opens an empty tab in a context.
    pub(crate) async fn open_in_context(&self, context: &BrowserContextId) -> Result<TabId, Failure> {
        let params = json!({"url": "about:blank", "browserContextId": context, "background": true});
        let target = self.create_target(&params).await?;
        let page = self.page_for(&target).await?;
        Ok(self.tab_id(&page))
    }

    /// Ends a browser context with its tabs.
    ///
    /// # Errors
    /// When the browser refuses.
    pub async fn end_context(&self, context: &str, deadline: impl Into<Deadline>) -> Result<(), Failure> {
        self.state().contexts.remove(&BrowserContextId::new(context));
        let params = json!({"browserContextId": context});
        let browser = self.connection.browser();
        let sent = browser.send("Target.disposeBrowserContext", &params, deadline.into()).await;
        sent.map(drop).map_err(CdpError::into_failure)
    }

    /// The browser context of a tab, unless it is the default one.
    #[must_use]
    pub fn context_of_tab(&self, target: &TargetId) -> Option<String> {
        self.context_of(target).map(|context| context.to_string())
    }

    /// The page of a tab, as the target of routes.
    #[must_use]
    pub fn target_of_tab(&self, tab: Option<TabId>) -> Option<TargetId> {
        self.find_location(tab).map(|place| place.target)
    }
}
