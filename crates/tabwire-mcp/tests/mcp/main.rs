//! Tests of the MCP server and a client in one process.

mod rounds;
mod server;
