//! A real daemon that gets raw bytes: what it admits, what it refuses, and how it behaves under abuse.
//!
//! Every test starts a daemon process of its own below a temporary directory and ends it.

mod bound;
mod dashboard;
mod descriptor_shortage;
mod launch_option;
mod other_user;
mod page;
mod script_process;
mod slow_peer;
mod start;
mod support;
mod transport;
mod unauthenticated;
