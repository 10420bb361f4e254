//! The browser that one paired extension stands for.
//!
//! Frames that a hub writes to "the browser" go in, and so does what the extension says; frames for the hub and
//! messages for the extension come out. There is no I/O here, no task, no clock: the daemon's tasks feed it. Knows
//! nothing of sockets, files, or who the clients above are.

mod attaching;
mod browser_command;
mod capture;
mod child_target;
mod debuggee;
mod download;
mod emulated_browser;
mod extension_answer;
mod init_command;
mod journal;
pub mod limits;
pub mod link_message;
mod made_up_world;
mod override_undo;
pub mod package;
mod page_command;
mod page_event;
mod part_filter;
mod pending;
pub mod proof;
mod reply;
mod session_end;
mod tab;
mod tab_target;
mod untouched_tab;
pub mod user_word;
mod virtual_session;

pub use emulated_browser::{EmulatedBrowser, Holdings, Output};
