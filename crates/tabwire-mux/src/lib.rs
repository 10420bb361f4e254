//! Many CDP clients over one browser, as a pure state machine.
//!
//! Frames and clock readings go in, frames to send come out. It does no I/O, starts no task and reads no clock: the
//! daemon's hub feeds it.

mod client;
mod control;
mod counters;
mod downloads;
mod guard;
pub mod limits;
mod mux;
mod output;
mod partition;
mod routing;
mod session;
mod state;
mod target;

pub use client::queue::{ClientQueue, Overflow, Push};
pub use client::state::{ClientOptions, FirstPage, Identity, OnLoss, Share};
pub use control::link::LinkState;
pub use control::loss::{LossSignals, LossVerdict, WeakSignal};
pub use counters::Counters;
pub use guard::parts::{GuardedParts, NamedFrame, NamedParts, SeenFrames};
pub use guard::session_watch::SeenRequest;
pub use guard::{FrameNeed, Guard, GuardedCommand, GuardedEvent, GuardedScope, SharedGuard};
pub use mux::{Mux, ResourceCounts};
pub use output::{CloseReason, FrameClass, Output};
pub use partition::default_context::COMMANDS_IN_A_CONTEXT;
pub use partition::table::PartitionScope;
