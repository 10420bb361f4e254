//! A daemon process of a test, raw bytes to it, and facts about processes.

pub(crate) mod live_daemon;
pub(crate) mod process_facts;
pub(crate) mod raw_http;
pub(crate) mod raw_websocket;
