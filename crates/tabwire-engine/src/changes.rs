//! What an action changed, as its answer tells it.

use schemars::JsonSchema;
use serde::Serialize;
use tabwire_wire::TabId;

use crate::dialog::Dialog;
use crate::download_log::Download;
use crate::limits::QUOTED_CHARACTERS;
use crate::snapshot::{PageText, line_address, quoted_lines};

/// What changed while an action ran. What did not change is left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Changes {
    /// The page's new address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The page's new title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Whether the page went to another document.
    #[serde(skip_serializing_if = "is_false")]
    pub navigated: bool,
    /// Whether the page was still loading when the answer was given.
    #[serde(skip_serializing_if = "is_false")]
    pub still_loading: bool,
    /// Whether the page's content changed.
    #[serde(skip_serializing_if = "is_false")]
    pub content: bool,
    /// Requests the page made and that were over when the answer was given.
    #[serde(skip_serializing_if = "is_zero")]
    pub requests: u32,
    /// Tabs the page opened.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>")]
    pub new_tabs: Vec<TabId>,
    /// A dialog the page opened; it waits for an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialog: Option<Dialog>,
    /// Downloads that began.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub downloads: Vec<Download>,
    /// A file chooser waits for files: `single` or `multiple`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_chooser: Option<String>,
    /// Errors the page wrote to its console.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub console_errors: Vec<String>,
    /// The element's value afterwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// What changed in the snapshot, when it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Changes {
    /// The changes as lines, one each.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(value) = &self.value {
            lines.push(format!("value: {}", quoted_lines(value, QUOTED_CHARACTERS)));
        }
        if let Some(url) = &self.url {
            lines.push(format!("url: {}", line_address(url)));
        } else if self.navigated {
            lines.push("the page was loaded anew".to_owned());
        }
        if let Some(title) = &self.title {
            lines.push(format!("title: {}", crate::snapshot::title(title).quoted()));
        }
        if self.still_loading {
            lines.push("still loading: wait with `tabwire wait-for --load`".to_owned());
        }
        lines.extend(self.new_tabs.iter().map(|tab| format!("new tab: {tab}")));
        if let Some(dialog) = &self.dialog {
            lines.push(format!("dialog: {} (answer with `tabwire dialog`)", dialog.phrase()));
        }
        lines.extend(self.downloads.iter().map(|download| format!("download: {}", download.line())));
        if let Some(mode) = &self.file_chooser {
            lines.push(format!("file chooser: {mode} (give files with `tabwire upload`)"));
        }
        let error =
            |text: &String| format!("console error: {}", PageText::cut(text, QUOTED_CHARACTERS).quoted());
        lines.extend(self.console_errors.iter().map(error));
        if let Some(snapshot) = &self.snapshot {
            lines.push(snapshot.clone());
        }
        lines
    }
}
