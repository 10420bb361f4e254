//! Upgraded connections: CDP clients, MCP clients and Chrome shims.

pub(crate) mod cdp;
pub(crate) mod chrome;
pub(crate) mod chrome_connection;
pub(crate) mod connections;
pub(crate) mod mcp;
pub(crate) mod mcp_clients;
pub(crate) mod mcp_connection;
