//! MCP resources: the page, its console and requests, the audit log.

use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::{Value, json};
use tabwire_api::Failure;
use tabwire_api::api::ActionRequest;

use crate::connection::Connection;
use crate::result::ResultText;
use crate::result::fence::{enclosed, fenced, harmless};

/// Rows of the audit log that are shown.
const AUDIT_ROWS: usize = 50;

/// URI prefix of the rest of a truncated result.
const REST_URI: &str = "tabwire://results/";

/// The URI of the rest of a truncated result.
pub(crate) fn result_uri(handle: &str) -> String {
    format!("{REST_URI}{handle}")
}

/// A resource and the action that reads it; `None` for the audit log.
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
        description: "The elements of the page, with refs.",
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
        description: "The page's console messages.",
        mime_type: "text/plain",
        action: Some("console"),
    },
    Readable {
        uri: "tabwire://requests",
        name: "requests",
        description: "The page's network requests.",
        mime_type: "text/plain",
        action: Some("requests"),
    },
    Readable {
        uri: "tabwire://log",
        name: "log",
        description: "The latest requests of this session and their results.",
        mime_type: "text/plain",
        action: None,
    },
];

/// All resources.
pub(crate) fn resources() -> Vec<Resource> {
    let listed = READABLE.iter().map(|readable| {
        Resource::new(readable.uri, readable.name)
            .with_description(readable.description)
            .with_mime_type(readable.mime_type)
    });
    listed.collect()
}

/// The resource templates.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let rest = ResourceTemplate::new(format!("{REST_URI}{{handle}}"), "rest of a result");
    vec![rest.with_description("The rest of a truncated result.").with_mime_type("text/plain")]
}

impl Connection {
    /// Reads a resource; `None` if the URI is unknown.
    pub(crate) async fn read(&self, uri: &str) -> Option<Result<ReadResourceResult, Failure>> {
        if let Some(handle) = uri.strip_prefix(REST_URI) {
            let part = self.truncated_results().next(handle);
            return Some(part.map(|part| contents(uri, "text/plain", enclosed(&part.text))));
        }
        let readable = READABLE.iter().find(|readable| readable.uri == uri)?;
        let text = match readable.action {
            Some(action) => self.read_with(action).await,
            None => {
                let rows = self.backend.audit_rows(&self.backend.request(), AUDIT_ROWS).await;
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
        let part = self.truncated_results().first(text.body);
        let is_part = part.next.is_some();
        let mut content = if is_part { enclosed(&part.text) } else { fenced(&part.text) };
        if !text.after.is_empty() {
            content.push_str(&format!("\n{}", text.after));
        }
        if let Some(handle) = part.next {
            content.push_str(&format!("\ncut; continue at {}", result_uri(&handle)));
        }
        Ok(content)
    }
}

fn contents(uri: &str, mime_type: &str, text: String) -> ReadResourceResult {
    ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(mime_type)])
}

/// A failure as data of a protocol error. Resources have no error results.
pub(crate) fn failure_data(failure: &Failure) -> Value {
    json!({"code": failure.code, "hint": failure.remedy.as_ref().map(tabwire_api::Remedy::for_mcp)})
}
