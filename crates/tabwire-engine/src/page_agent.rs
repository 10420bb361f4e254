//! The page agent's text: the parts in `page/agent/`, joined when the crate is built. Knows nothing of how it is
//! installed.

/// The script that installs the agent in the world it runs in, once for each document.
#[must_use]
pub const fn page_agent() -> &'static str {
    include_str!(concat!(env!("OUT_DIR"), "/page_agent.js"))
}
