//! CDP's `TargetInfo`.

use serde::{Deserialize, Serialize};
use tabwire_api::{BrowserContextId, TargetId};

/// A page, worker or other target.
///
/// Unknown fields are skipped; unknown types stay as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetInfo {
    /// The browser's id for it.
    pub target_id: TargetId,
    /// Its type: `page`, `iframe`, `service_worker`, `browser_ui`, ...
    #[serde(rename = "type", default)]
    pub kind: String,
    /// Its title.
    #[serde(default)]
    pub title: String,
    /// Its URL.
    #[serde(default)]
    pub url: String,
    /// Whether a client is attached.
    #[serde(default)]
    pub attached: bool,
    /// The target that opened it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opener_id: Option<TargetId>,
    /// Its browser context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser_context_id: Option<BrowserContextId>,
    /// Its subtype: `prerender`, `portal`, ...
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtype: Option<String>,
    /// Whether the user opened it in their own browser. The mux adds this.
    #[serde(rename = "tabwireUserTab", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_user_tab: bool,
}

impl TargetInfo {
    /// Whether it is a page that a user could see.
    #[must_use]
    pub fn is_page(&self) -> bool {
        self.kind == "page" && self.subtype.as_deref().is_none_or(str::is_empty)
    }
}
