//! Helpers for the benchmarks: timing, a browser without Tabwire, and an isolated Tabwire.

mod bare_browser;
mod detached;
mod mcp_client;
mod mcp_peer;
mod peer;
mod process;
mod sample;
mod tabwire_world;

pub use bare_browser::{BareBrowser, CHROMIUM, FLAGS, test_browser};
pub use detached::detached;
pub use mcp_client::McpClient;
pub use mcp_peer::{McpOperation, McpPeer};
pub use peer::Peer;
pub use process::{empty_program, timed};
pub use sample::{Sample, micros, ratio};
pub use tabwire_world::TabwireWorld;
