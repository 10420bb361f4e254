//! The MCP server in one process with its client.

mod rounds;
mod server;
