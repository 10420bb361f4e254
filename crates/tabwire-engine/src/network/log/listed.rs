//! One request in a list: sanitised, without secrets, on one line.

use schemars::JsonSchema;
use serde::Serialize;

use super::entry::{Origin, Outcome, RequestEntry};
use super::resource_kind::ResourceKind;
use crate::snapshot::{LinkTarget, PageText};
use tabwire_secrets::mask_url;

/// Most characters of a URL on a line.
const LINE_CHARACTERS: usize = 160;

/// One request in a list.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct ListedRequest {
    /// Its number, for `request N`.
    pub(crate) number: u64,
    /// Its method.
    pub(crate) method: String,
    /// Its URL; secret parameters are masked.
    pub(crate) url: String,
    /// Its resource type.
    #[serde(rename = "type")]
    pub(crate) kind: ResourceKind,
    /// The status of its response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<u16>,
    /// `pending`, `done`, `redirected` or `failed`.
    pub(crate) state: &'static str,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    /// The source of a response that did not come from the network: a cache, the service worker, a route.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<String>,
    /// Bytes received over the network.
    pub(crate) bytes: u64,
    /// Its duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) milliseconds: Option<u64>,
    /// Number of messages of a WebSocket or event stream.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) messages: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl From<&RequestEntry> for ListedRequest {
    fn from(entry: &RequestEntry) -> Self {
        let (state, error) = match &entry.outcome {
            Outcome::UnderWay => ("pending", None),
            Outcome::Done => ("done", None),
            Outcome::Redirected => ("redirected", None),
            Outcome::Failed(error) => ("failed", Some(error.clone())),
        };
        Self {
            number: entry.number,
            method: entry.method.clone(),
            url: mask_url(&entry.url),
            kind: entry.kind,
            status: entry.status(),
            state,
            error,
            from: entry.origin.map(Origin::describe),
            bytes: entry.bytes,
            milliseconds: entry.milliseconds(),
            messages: entry.message_count,
        }
    }
}

impl Origin {
    /// The source of a response as text.
    pub(crate) fn describe(self) -> String {
        match self {
            Self::MemoryCache => "memory cache".to_owned(),
            Self::DiskCache => "disk cache".to_owned(),
            Self::PrefetchCache => "prefetch cache".to_owned(),
            Self::ServiceWorker => "service worker".to_owned(),
            Self::Route(number) => format!("route {number}"),
            Self::HarReplay => "archive".to_owned(),
        }
    }
}

impl ListedRequest {
    /// The request on one line; its text cannot break the line.
    pub(crate) fn line(&self) -> String {
        let url = LinkTarget::new(&self.url).within(LINE_CHARACTERS).to_string();
        // The mask is our own text and needs no escaping.
        let url = url.replace("%E2%80%A2", "•");
        let method = PageText::cut(&self.method, 20);
        let mut line = format!("{} {} {}", self.number, method.as_str(), url);
        line.push_str(&format!(" {}", self.kind.as_str()));
        match (&self.error, self.status) {
            (Some(error), _) => line.push_str(&format!(" failed: {}", PageText::cut(error, 100).as_str())),
            (None, Some(status)) => line.push_str(&format!(" {status}")),
            (None, None) => line.push_str(&format!(" {}", self.state)),
        }
        if let Some(from) = &self.from {
            line.push_str(&format!(" (from {from})"));
        }
        if self.bytes > 0 {
            line.push_str(&format!(" {} B", self.bytes));
        }
        if let Some(time) = self.milliseconds {
            line.push_str(&format!(" {time} ms"));
        }
        if self.messages > 0 {
            line.push_str(&format!(" {}", tabwire_api::count(self.messages, "message")));
        }
        line
    }
}
