//! The first message of `tabwire mcp` to the daemon; it holds for all calls of the connection.

use serde::{Deserialize, Serialize};

use super::ActionRequest;

/// The name under which a connection is upgraded to MCP.
pub const MCP_UPGRADE: &str = "tabwire-mcp";

/// Where results carry the text for the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResultForm {
    /// Data of tools whose result is data, text of all others; text alone for clients that know no data.
    #[default]
    Auto,
    /// In text blocks: what every client shows its model.
    Text,
    /// As structured content with a schema, for programs.
    Data,
}

/// How a connection reaches its client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum McpTransport {
    /// Frames follow on the same connection.
    #[default]
    Stdio,
    /// Clients come over HTTP, for as long as the connection stays.
    Http,
}

/// The first line of a connection: what holds for all its calls.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct McpOpening {
    /// What every call begins with: session, options, roots, time.
    pub request: ActionRequest,
    /// Whether the user named the session and keeps it. Otherwise one is made for the connection and ends with it.
    pub keeps_session: bool,
    /// Groups and names of tools, added to the usual ones; `-NAME` takes one away.
    pub tools: Vec<String>,
    /// Where results carry the text for the model.
    pub answers: ResultForm,
    /// How the client is reached.
    pub transport: McpTransport,
    /// Whether the client was connected to an earlier daemon. It then gets a report of what it lost.
    pub resumed: bool,
}
