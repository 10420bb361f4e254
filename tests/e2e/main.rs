//! Drives the real binary with real browsers, real clients and real faults.
//!
//! Every test has its own `World`, which checks at the end that nothing is left behind.

mod browser;
mod chat;
mod chrome_shim;
mod cli;
mod clients;
mod dashboard;
mod faults;
mod firefox;
mod install;
mod mcp;
mod own_browser;
mod panel;
mod policy;
mod recordings;
mod remote;
mod scripts;
mod session;
mod support;
