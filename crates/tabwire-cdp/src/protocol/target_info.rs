//! What a browser says about one of its targets. Decides nothing.

use serde::{Deserialize, Serialize};
use tabwire_api::{BrowserContextId, TargetId};

/// A page, worker or other thing one can attach to.
///
/// Fields this version does not know are skipped; kinds it does not know stay as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetInfo {
    /// The browser's name for it.
    pub target_id: TargetId,
    /// Its kind: `page`, `iframe`, `service_worker`, `browser_ui`, ...
    #[serde(rename = "type", default)]
    pub kind: String,
    /// Its title.
    #[serde(default)]
    pub title: String,
    /// Its address.
    #[serde(default)]
    pub url: String,
    /// Whether anybody is attached.
    #[serde(default)]
    pub attached: bool,
    /// Who opened it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opener_id: Option<TargetId>,
    /// The cookie jar it lives in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser_context_id: Option<BrowserContextId>,
    /// Its finer kind: `prerender`, `portal`, ...
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtype: Option<String>,
}

impl TargetInfo {
    /// Whether it is a page a user could see.
    #[must_use]
    pub fn is_page(&self) -> bool {
        self.kind == "page" && self.subtype.as_deref().is_none_or(str::is_empty)
    }
}
