//! One request as it is told in full: headers, bodies, timing, messages. Knows nothing of where they come from.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::header_list::HeaderList;
use super::listed_request::ListedRequest;
use super::message::Message;
use crate::action::Render;
use crate::limits::BODY_CHARACTERS;
use crate::snapshot::{PageText, enclose, harmless_lines};

/// A part of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Part {
    /// What was sent.
    RequestBody,
    /// What came back, byte by byte.
    ResponseBody,
    /// The headers that were sent.
    RequestHeaders,
    /// The headers that came back.
    ResponseHeaders,
    /// The messages of a WebSocket or an event stream, as JSON.
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

/// A body as it is shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct ShownBody {
    /// How many bytes it has.
    pub(crate) bytes: usize,
    /// As text, cut at a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    /// Whether the text was cut.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) truncated: bool,
    /// Why it is not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) missing: Option<String>,
}

/// A part that was saved.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Saved {
    /// Which part.
    pub(crate) part: Part,
    /// Where it is.
    pub(crate) path: PathBuf,
    /// How many bytes it has.
    pub(crate) bytes: usize,
}

/// One request in full.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct FullRequest {
    #[serde(flatten)]
    pub(crate) request: ListedRequest,
    /// The server's word for the status.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) status_text: String,
    /// The protocol, as the browser calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) protocol: Option<String>,
    /// The server's address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) server: Option<String>,
    /// The headers that were sent.
    pub(crate) request_headers: HeaderList,
    /// The headers that came back.
    pub(crate) response_headers: HeaderList,
    /// What was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) request_body: Option<ShownBody>,
    /// What came back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) response_body: Option<ShownBody>,
    /// The steps in milliseconds; -1 for those it had not.
    pub(crate) timing: Value,
    /// The last messages of a WebSocket or an event stream.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) message_list: Vec<Message>,
    /// Files that were written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) saved: Vec<Saved>,
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
    /// A text as it is shown, cut at a limit; `bytes` is the length of the whole.
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
                let cut = if self.truncated { ", cut; --save for all of it" } else { "" };
                format!("{title} ({} bytes{cut}):\n{text}\n", self.bytes)
            }
            (None, None) => format!("{title}: {} bytes, no text\n", self.bytes),
        }
    }
}
