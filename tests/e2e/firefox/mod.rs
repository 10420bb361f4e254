//! Firefox over WebDriver BiDi: guarded sessions, MCP, scripts, the dashboard, and what ends and comes back.

pub(crate) mod clients;
pub(crate) mod faults;
pub(crate) mod grid;
pub(crate) mod guarded;
pub(crate) mod mcp;
pub(crate) mod pictures;
pub(crate) mod scripts;
