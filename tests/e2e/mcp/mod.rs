//! `tabwire mcp` and the MCP endpoint, driven by MCP clients.

pub(crate) mod arguments;
pub(crate) mod canary;
pub(crate) mod client;
pub(crate) mod every_tool;
pub(crate) mod faults;
pub(crate) mod http_client;
pub(crate) mod policy;
pub(crate) mod sdk;
pub(crate) mod server;
pub(crate) mod setup;
pub(crate) mod stock;
pub(crate) mod threats;
