//! A real daemon, spoken to in raw bytes: what it lets in, what it refuses, and how it bears abuse.
//!
//! Every test starts a daemon process of its own below a temporary directory and ends it.

mod bound;
mod descriptor_shortage;
mod door;
mod launch_option;
mod live_daemon;
mod page;
mod process_facts;
mod raw_http;
mod raw_websocket;
mod slow_peer;
mod start;
mod stranger;
mod unproved;
