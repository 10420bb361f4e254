//! One request in full: headers, bodies, timing, messages.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::listed::ListedRequest;
use super::message::Message;
use crate::action::Render;
use crate::network::headers::HeaderList;
use crate::snapshot::{PageText, enclose, harmless_lines};

/// Characters of a body in a result. The whole body can be saved.
const BODY_CHARACTERS: usize = 20_000;

/// A part of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Part {
    /// The request body.
    RequestBody,
    /// The response body, byte by byte.
    ResponseBody,
    /// The request headers.
    RequestHeaders,
    /// The response headers.
    ResponseHeaders,
    /// The messages of a WebSocket or event stream, as JSON.
    Messages,
}

impl Part {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::RequestBody => "request-body",
            Self::ResponseBody => "response-body",
            Self::RequestHeaders => "request-headers",
            Self::ResponseHeaders => "response-headers",
            Self::Messages => "messages",
        }
    }
}

/// A body in a result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct ShownBody {
    /// Its size in bytes.
    pub(crate) bytes: usize,
    /// Its text, cut at a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    /// Whether the text was cut.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) truncated: bool,
    /// Why it is not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) missing: Option<String>,
}

/// A saved part.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct SavedPart {
    /// The part.
    pub(crate) part: Part,
    /// Its path.
    pub(crate) path: PathBuf,
    /// Its size in bytes.
    pub(crate) bytes: usize,
}

/// One request in full.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct FullRequest {
    #[serde(flatten)]
    pub(crate) request: ListedRequest,
    /// The status text.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) status_text: String,
    /// The protocol, as the browser names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) protocol: Option<String>,
    /// The IP address of the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) server: Option<String>,
    /// The request headers.
    pub(crate) request_headers: HeaderList,
    /// The response headers.
    pub(crate) response_headers: HeaderList,
    /// The request body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) request_body: Option<ShownBody>,
    /// The response body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) response_body: Option<ShownBody>,
    /// The phases in milliseconds; -1 for absent ones.
    pub(crate) timing: Value,
    /// The last messages of a WebSocket or event stream.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) message_list: Vec<Message>,
    /// Written files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) saved: Vec<SavedPart>,
}

impl Render for FullRequest {
    fn render(&self) -> String {
        let mut body = String::new();
        let headers = |title: &str, list: &HeaderList| {
            let lines: String = list
                .iter()
                .map(|header| {
                    format!(
                        "  {}: {}\n",
                        PageText::new(&header.name).as_str(),
                        PageText::new(&header.value).as_str()
                    )
                })
                .collect();
            if lines.is_empty() { String::new() } else { format!("{title}:\n{lines}") }
        };
        body.push_str(&headers("request headers", &self.request_headers));
        body.push_str(
            &self.request_body.as_ref().map(|shown| shown.lines("request body")).unwrap_or_default(),
        );
        body.push_str(&headers("response headers", &self.response_headers));
        body.push_str(
            &self.response_body.as_ref().map(|shown| shown.lines("response body")).unwrap_or_default(),
        );
        for message in &self.message_list {
            let text = PageText::cut(&message.text, 500);
            let event =
                message.event.as_deref().map(|event| format!(" {}", PageText::cut(event, 50).as_str()));
            let direction = serde_json::to_string(&message.direction).unwrap_or_default().replace('"', "");
            let event = event.unwrap_or_default();
            body.push_str(&format!("{direction} after {} ms{event}: {}\n", message.after, text.quoted()));
        }
        let mut text = enclose(&self.request.line(), &body);
        let steps: Vec<String> = ["blocked", "dns", "connect", "ssl", "send", "wait", "receive"]
            .iter()
            .filter_map(|step| {
                let time = self.timing.get(step)?.as_f64().filter(|time| *time >= 0.0)?;
                Some(format!("{step} {time:.1} ms"))
            })
            .collect();
        text.push_str(&format!("timing: {}", steps.join(", ")));
        for saved in &self.saved {
            let (part, path) = (saved.part.as_str(), saved.path.display());
            text.push_str(&format!("\nsaved {part}: {path} ({} bytes)", saved.bytes));
        }
        text
    }
}

impl ShownBody {
    /// A text for a result, cut at a limit; `bytes` is the full length.
    pub(crate) fn of_text(shown: &str, bytes: usize) -> Self {
        let end = shown.char_indices().nth(BODY_CHARACTERS).map(|(at, _)| at);
        let cut = end.map_or(shown, |end| &shown[..end]);
        Self { bytes, text: Some(cut.to_owned()), truncated: end.is_some(), missing: None }
    }

    fn lines(&self, title: &str) -> String {
        match (&self.text, &self.missing) {
            (_, Some(why)) => format!("{title}: {why}\n"),
            (Some(text), _) => {
                let text = harmless_lines(text);
                let text = text.strip_suffix('\n').unwrap_or(&text);
                let cut = if self.truncated { ", cut; `save` it for all of it" } else { "" };
                format!("{title} ({} bytes{cut}):\n{text}\n", self.bytes)
            }
            (None, None) => format!("{title}: {} bytes, no text\n", self.bytes),
        }
    }
}
