//! Drives the real binary with a real Chromium, real clients and real faults.
//!
//! Every test has its own `World`, which checks at the end that nothing is left behind.

mod browser;
mod chrome_shim;
mod cli;
mod clients;
mod faults;
mod mcp;
mod own_browser;
mod policy;
mod scripts;
mod session;
mod support;
