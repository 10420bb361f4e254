//! MCP resources: the page, its console and requests, the audit log.

use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::{Value, json};
use tabwire_api::Failure;
use tabwire_api::api::ActionRequest;

use crate::connection::Connection;
use crate::limits::JOURNAL_ROWS;
use crate::result::ResultText;
use crate::result::fence::{enclosed, fenced, harmless};

/// Where the rest of a cut answer is.
const ANSWERS: &str = "tabwire://answers/";

/// The address of the rest of a cut answer.
pub(crate) fn result_uri(handle: &str) -> String {
    format!("{ANSWERS}{handle}")
}

/// A resource and the action that reads it; none for the journal.
struct Readable {
    uri: &'static str,
    name: &'static str,
    description: &'static str,
    mime_type: &'static str,
    action: Option<&'static str>,
}

const READABLE: &[Readable] = &[
    Readable {
        uri: "tabwire://snapshot",
        name: "snapshot",
        description: "What is on the page, with refs.",
        mime_type: "text/plain",
        action: Some("snapshot"),
    },
    Readable {
        uri: "tabwire://page.md",
        name: "page",
        description: "The page's main content as Markdown.",
        mime_type: "text/markdown",
        action: Some("read_as_markdown"),
    },
    Readable {
        uri: "tabwire://console",
        name: "console",
        description: "What the page wrote to its console.",
        mime_type: "text/plain",
        action: Some("console"),
    },
    Readable {
        uri: "tabwire://requests",
        name: "requests",
        description: "The requests the page made.",
        mime_type: "text/plain",
        action: Some("requests"),
    },
    Readable {
        uri: "tabwire://journal",
        name: "journal",
        description: "What was asked of this session last, and what came of it.",
        mime_type: "text/plain",
        action: None,
    },
];

/// Everything that can be read.
pub(crate) fn resources() -> Vec<Resource> {
    let listed = READABLE.iter().map(|readable| {
        Resource::new(readable.uri, readable.name)
            .with_description(readable.description)
            .with_mime_type(readable.mime_type)
    });
    listed.collect()
}

/// What can be read by a name that answers give.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let rest = ResourceTemplate::new(format!("{ANSWERS}{{handle}}"), "rest of an answer");
    vec![rest.with_description("Goes on with an answer that was cut.").with_mime_type("text/plain")]
}

impl Connection {
    /// Reads a resource; nothing when there is none at that address.
    pub(crate) async fn read(&self, uri: &str) -> Option<Result<ReadResourceResult, Failure>> {
        if let Some(handle) = uri.strip_prefix(ANSWERS) {
            let stretch = self.truncated_results().next(handle);
            return Some(stretch.map(|stretch| contents(uri, "text/plain", enclosed(&stretch.text))));
        }
        let readable = READABLE.iter().find(|readable| readable.uri == uri)?;
        let text = match readable.action {
            Some(action) => self.read_with(action).await,
            None => {
                let rows = self.backend.journal(&self.backend.request(), JOURNAL_ROWS).await;
                rows.map(|rows| enclosed(&harmless(rows)))
            }
        };
        Some(text.map(|text| contents(uri, readable.mime_type, text)))
    }

    async fn read_with(&self, name: &str) -> Result<String, Failure> {
        let all = if name == "console" { json!({"all": true}) } else { json!({}) };
        let request = ActionRequest { params: all, text: true, ..self.backend.request() };
        let response = self.backend.act(name, request).await?;
        let text = response.text.unwrap_or_default();
        let text = ResultText::of_action(text);
        let stretch = self.truncated_results().first(text.body);
        let is_part = stretch.next.is_some();
        let mut told = if is_part { enclosed(&stretch.text) } else { fenced(&stretch.text) };
        if !text.after.is_empty() {
            told.push_str(&format!("\n{}", text.after));
        }
        if let Some(handle) = stretch.next {
            told.push_str(&format!("\ncut; go on at {}", result_uri(&handle)));
        }
        Ok(told)
    }
}

fn contents(uri: &str, mime_type: &str, text: String) -> ReadResourceResult {
    ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(mime_type)])
}

/// A failure as data of a protocol error: resources have no other way to say it.
pub(crate) fn failure_data(failure: &Failure) -> Value {
    json!({"code": failure.code, "hint": failure.remedy.as_ref().map(tabwire_api::Remedy::for_mcp)})
}
