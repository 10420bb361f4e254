//! The tool `status`: the session, its browser, the current tab, and the extension if the session uses it.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};
use tabwire_api::Failure;
use tabwire_api::api::ActionRequest;

use crate::connection::Connection;
use crate::result::fence::{enclosed, harmless};

/// The members of a running session's status that a model reads, in this order.
const SHOWN: [&str; 11] = [
    "name",
    "state",
    "upstream",
    "extension",
    "tabs",
    "shared_tabs",
    "browser_version",
    "headed",
    "isolation",
    "policy",
    "crashed_tabs",
];

/// The members of the status without a browser.
const SHOWN_STOPPED: [&str; 3] = ["state", "extension", "policy"];

impl Connection {
    /// Reads the status. Starts nothing.
    pub(super) async fn call_status(&self, is_data: bool) -> Result<CallToolResult, Failure> {
        let request = ActionRequest { params: json!({}), text: false, ..self.backend.request() };
        let mut response = self.backend.act("session_status", request).await?;
        let is_active = response.result.get("active").and_then(Value::as_bool) == Some(true);
        let extension = self.backend.extension_state().await;
        let tab = if is_active { self.current_tab().await } else { None };
        if let Some(members) = response.result.as_object_mut() {
            members.extend(extension.map(|state| ("extension".to_owned(), json!(state))));
            members.extend(tab.clone().map(|tab| ("current_tab".to_owned(), tab)));
        }
        if is_data {
            return Ok(self.data_result(&response));
        }
        let mut text = status_text(&response.result, is_active);
        if let Some(tab) = tab {
            text.push_str(&tab_text(&tab));
        }
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]))
    }

    /// The tab that tools without `tab` use, as far as the policy shows it.
    async fn current_tab(&self) -> Option<Value> {
        let request = ActionRequest { params: json!({}), text: false, ..self.backend.request() };
        // Without the list the status is still of use; the next call of `tabs_list` reports the failure.
        let listed = self.backend.act("tabs_list", request).await.ok()?;
        let tabs = listed.result.get("tabs")?.as_array()?;
        tabs.iter().find(|tab| tab.get("current") == Some(&json!(true))).cloned()
    }
}

fn status_text(status: &Value, is_active: bool) -> String {
    let mut lines = Vec::new();
    let shown: &[&str] = if is_active {
        &SHOWN
    } else {
        lines.push("No browser is running; the first tool that needs one starts it.".to_owned());
        &SHOWN_STOPPED
    };
    lines.extend(shown.iter().filter_map(|name| {
        let is_shown = |value: &&Value| **value != json!([]) && **value != json!("");
        let value = status.get(name).filter(is_shown)?;
        if *name == "shared_tabs" && *value == json!(0) {
            return None;
        }
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        Some(format!("{name}: {value}"))
    }));
    lines.join("\n")
}

/// The current tab. Its title and URL come from the page.
fn tab_text(tab: &Value) -> String {
    let member = |name: &str| tab.get(name).and_then(Value::as_str).unwrap_or_default();
    let page = harmless(format!("{:?} {}", member("title"), member("url")));
    format!("\ncurrent_tab: {}\n{}", member("tab"), enclosed(&page))
}
