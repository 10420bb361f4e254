//! The first message of `tabwire mcp` to the daemon. It applies to all calls of the connection.

use serde::{Deserialize, Serialize};

use super::ActionRequest;

/// The upgrade protocol of an MCP connection.
pub const MCP_UPGRADE: &str = "tabwire-mcp";

/// The form of tool results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResultForm {
    /// Text, and for clients that are known to show structured content to their models, that too.
    Auto,
    /// Text, which every client shows to its model.
    #[default]
    Text,
    /// Structured content with a schema, and the same JSON as text, for programs.
    Data,
}

/// The transport to the client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum McpTransport {
    /// MCP messages follow on the same connection.
    #[default]
    Stdio,
    /// Clients connect over HTTP, for as long as this connection is open.
    Http,
}

/// The first line of a connection, with the settings of all its calls.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct McpOpening {
    /// Defaults of every call: session, options, roots, timeout.
    pub request: ActionRequest,
    /// Whether the user named the session, which is then kept. Otherwise the connection gets its own session, which
    /// ends with it.
    pub keeps_session: bool,
    /// Groups and names of tools to add to the default ones. `-NAME` removes one.
    pub tools: Vec<String>,
    /// The form of tool results.
    pub results: ResultForm,
    /// The transport to the client.
    pub transport: McpTransport,
    /// Whether the client was connected to an earlier daemon. It then receives a report of what it lost.
    pub resumed: bool,
    /// The chat whose agent the client is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat: Option<String>,
}
