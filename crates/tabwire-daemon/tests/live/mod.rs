//! A real daemon that gets raw bytes: what it admits, what it refuses, and how it behaves under abuse.
//!
//! Every test starts a daemon process of its own below a temporary directory and ends it.

mod bound;
mod dashboard;
mod descriptor_shortage;
mod launch_option;
mod live_daemon;
mod other_user;
mod page;
mod process_facts;
mod raw_http;
mod raw_websocket;
mod script_process;
mod slow_peer;
mod start;
mod transport;
mod unauthenticated;
