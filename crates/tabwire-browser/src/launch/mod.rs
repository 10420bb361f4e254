//! Chooses the browser to start, and builds its command line.

pub(crate) mod browser_kind;
pub(crate) mod debugging_pipe;
pub mod finder;
pub mod firefox;
pub(crate) mod flag;
pub(crate) mod hidden_automation;
pub(crate) mod launcher_flag;
pub(crate) mod other_engine;
pub(crate) mod sandbox;
pub(crate) mod spec;
