//! Many CDP clients over one browser, as a pure state machine.
//!
//! Frames and clock readings go in, frames to send come out. There is no I/O here, no task, no clock: the
//! daemon's tasks feed it. Knows nothing of sockets, of processes, or of what a page is.

mod announce;
mod auto_attach;
mod browser_command;
mod client;
mod client_queue;
mod counters;
mod filter;
mod from_browser;
mod from_client;
mod gate;
mod house;
pub mod limits;
mod link;
mod mux;
mod output;
mod ownership;
mod pending;
mod probe;
mod reply;
mod rewrite;
mod session_table;
mod target_entry;
mod target_table;
mod waiting;

pub use client::{ClientOptions, OnLoss, Share};
pub use client_queue::{ClientQueue, Overflow, Push};
pub use counters::Counters;
pub use link::LinkState;
pub use mux::{Leftovers, Mux};
pub use output::{CloseReason, FrameClass, Output};
