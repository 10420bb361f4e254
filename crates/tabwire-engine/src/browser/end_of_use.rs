//! The end of the use of tabs in a browser that the user runs.

use serde_json::json;
use tabwire_api::{TabId, TargetId};
use tabwire_cdp::Deadline;

use crate::browser::Browser;
use crate::page::Page;

impl Browser {
    /// Records that a command brought a page to the front of its window.
    pub(crate) fn note_brought_to_front(&self, page: &Page) {
        self.state().tab_ids.brought_to_front(page.target().clone());
    }

    /// The tabs of the session's own that the user looks at: in front of their window, though no command brought them
    /// there. A headless browser shows no tab to the user.
    pub async fn tabs_in_front(&self, deadline: Deadline) -> Vec<TargetId> {
        // A headless tab in front is `visible` too. Only the user agent says `HeadlessChrome`; `product`
        // does not.
        let version = self.version(deadline).await.unwrap_or_default();
        if version.to_string().contains("Headless") {
            return Vec::new();
        }
        let mut found = Vec::new();
        for info in self.list_tabs().into_iter().filter(|info| !info.shared) {
            if self.state().tab_ids.was_brought_to_front(&info.target) {
                continue;
            }
            let Ok(page) = self.page_for(&info.target).await else { continue };
            let params = json!({"expression": "document.visibilityState", "returnByValue": true});
            let response = page.command("Runtime.evaluate", &params, deadline).await.unwrap_or_default();
            if response.pointer("/result/value").is_some_and(|value| value == "visible") {
                found.push(info.target);
            }
        }
        found
    }

    /// Detaches from a tab, which stays open. A later use attaches again.
    pub async fn detach_tab(&self, tab: TabId, deadline: Deadline) {
        let Ok(target) = self.find_target(tab) else { return };
        let Some(open) = self.state().pages.remove(&target) else { return };
        let params = json!({"sessionId": open.page.session().cdp_session().id()});
        // A session that ended meanwhile is detached.
        let _ = self.connection.browser().send("Target.detachFromTarget", &params, deadline).await;
    }
}
