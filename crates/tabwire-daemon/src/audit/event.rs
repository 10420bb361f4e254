//! Events of the audit log that are not requests: connections, questions, what pages do by themselves, and faults.

use std::sync::Arc;

use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, SessionKey, TabId};
use tabwire_audit::ClientInfo;

use crate::audit::entry::AuditEntry;
use crate::audit::writer::AuditWriter;

/// Characters of a file name that a row shows.
const FILE_NAME_CHARACTERS: usize = 80;

/// Something that happened and that no request asked for. Requests have rows of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// An MCP client has introduced itself.
    McpConnected,
    /// An MCP client is gone.
    McpDisconnected,
    /// The extension of a browser of the user has connected.
    ExtensionConnected,
    /// It is gone.
    ExtensionDisconnected,
    /// The policy asks the user.
    QuestionAsked { id: String, action: String, site: String, capability: &'static str },
    /// A question ended without an answer: its time is over, or its action was cancelled.
    QuestionExpired { id: String },
    /// A page opened a tab, or the user did in a window.
    TabOpened { url: String },
    /// A tab was closed, by no action.
    TabClosed,
    /// A tab shows another page, by no action.
    Navigated { url: String },
    /// A download began.
    DownloadBegan { url: String, name: String },
    /// The process of a page has crashed.
    TabCrashed,
    /// The browser of a session has ended or is out of reach.
    BrowserLost,
    /// Events were not delivered or not recorded, because too many came.
    EventsDropped { count: u64 },
}

impl Event {
    /// Its name in the log.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::McpConnected => "mcp_connect",
            Self::McpDisconnected => "mcp_disconnect",
            Self::ExtensionConnected => "extension_connect",
            Self::ExtensionDisconnected => "extension_disconnect",
            Self::QuestionAsked { .. } => "question_asked",
            Self::QuestionExpired { .. } => "question_expired",
            Self::TabOpened { .. } => "tab_opened",
            Self::TabClosed => "tab_closed",
            Self::Navigated { .. } => "navigated",
            Self::DownloadBegan { .. } => "download_began",
            Self::TabCrashed => "tab_crashed",
            Self::BrowserLost => "browser_lost",
            Self::EventsDropped { .. } => "events_dropped",
        }
    }

    /// Its kind, beside the effect classes of actions.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::McpConnected
            | Self::McpDisconnected
            | Self::ExtensionConnected
            | Self::ExtensionDisconnected => "connect",
            Self::QuestionAsked { .. } | Self::QuestionExpired { .. } => "policy",
            Self::TabOpened { .. }
            | Self::TabClosed
            | Self::Navigated { .. }
            | Self::DownloadBegan { .. } => "page",
            Self::TabCrashed | Self::BrowserLost | Self::EventsDropped { .. } => "fault",
        }
    }

    /// What the log may show is decided by its table of parameters.
    pub(crate) fn params(&self) -> Value {
        match self {
            Self::QuestionAsked { id, action, site, capability } => {
                json!({"id": id, "action": action, "site": site, "capability": capability})
            }
            Self::QuestionExpired { id } => json!({"id": id}),
            Self::TabOpened { url } | Self::Navigated { url } => json!({"url": url}),
            Self::DownloadBegan { url, name } => json!({"url": url, "name": plain_file_name(name)}),
            Self::EventsDropped { count } => json!({"count": count}),
            _ => Value::Null,
        }
    }

    fn failure(&self) -> Option<Failure> {
        match self {
            Self::TabCrashed => {
                Some(Failure::new(ErrorCode::TargetGone, "The process of the page has crashed."))
            }
            Self::BrowserLost => {
                Some(Failure::new(ErrorCode::BrowserGone, "The browser has ended or is out of reach."))
            }
            _ => None,
        }
    }

    /// Writes its row, without waiting for it.
    pub(crate) fn record(
        &self,
        audit: &Arc<AuditWriter>,
        session: SessionKey,
        client: ClientInfo,
        place: Option<(TabId, &str)>,
    ) {
        let mut entry = AuditEntry::of_event(audit, session, client, self);
        if let Some((tab, url)) = place {
            entry.at(tab, url);
        }
        entry.write(self.failure().as_ref());
    }
}

/// A file name that a page chose, as a row shows it: one word without the characters of sentences and markup.
fn plain_file_name(name: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "._-".contains(letter);
    name.chars()
        .take(FILE_NAME_CHARACTERS)
        .map(|letter| if is_plain(letter) { letter } else { '_' })
        .collect()
}
