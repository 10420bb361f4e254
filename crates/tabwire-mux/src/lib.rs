//! Many CDP clients over one browser, as a pure state machine.
//!
//! Frames and clock readings go in, frames to send come out. There is no I/O here, no task, no clock: the
//! daemon's tasks feed it. Knows nothing of sockets, of processes, or of what a page is.

mod announce;
mod auto_attach;
mod backlog;
mod browser_command;
mod browser_target;
mod claims;
mod client;
mod client_queue;
mod context_table;
mod counters;
mod crash;
mod default_context;
mod document_hold;
mod document_sources;
mod downloads;
mod event_guard;
mod filter;
mod first_tab;
mod frame_moves;
mod frame_tree;
mod frame_watch;
mod from_browser;
mod from_client;
mod guard;
mod guarded_parts;
mod hold;
mod house;
pub mod limits;
mod link;
mod loss;
mod mux;
mod output;
mod ownership;
mod page_frames;
mod page_settings;
mod pending;
mod probe;
mod realm;
mod realm_table;
mod recovery;
mod reply;
mod rewrite;
mod session_table;
mod session_watch;
mod settings_repeat;
mod source_watch;
mod tab_partner;
mod target_entry;
mod target_table;
mod veil;
mod waiting;

pub use client::{ClientOptions, OnLoss, Share};
pub use client_queue::{ClientQueue, Overflow, Push};
pub use counters::Counters;
pub use default_context::COMMANDS_IN_A_CONTEXT;
pub use guard::{FrameNeed, Guard, GuardedCommand, GuardedEvent, GuardedPlace, SharedGuard};
pub use guarded_parts::{GuardedParts, NamedFrame, NamedParts, SeenFrames};
pub use link::LinkState;
pub use loss::{LossSignals, LossVerdict, WeakSignal};
pub use mux::{Leftovers, Mux};
pub use output::{CloseReason, FrameClass, Output};
pub use realm_table::RealmPlace;
pub use session_watch::SeenRequest;
