//! CDP access to one page: its sessions, its frames in every process, and the page agent in each frame.

mod agent_call;
mod element_object;
mod errors;
mod events;
mod frame_access;
mod frame_command;
mod listeners;
mod process_settings;
mod raw_command;
mod script_objects;
mod session;
mod setup;
mod workers;

pub(crate) use element_object::FileInput;
pub(crate) use events::merged::MergedEvents;
pub(crate) use frame_access::FrameUrls;
pub(crate) use listeners::table::ClickListeners;
pub(crate) use process_settings::Setting;
pub(crate) use raw_command::check_method;
pub use raw_command::{RawCdp, send_raw_command};
pub(crate) use script_objects::{GivenObject, ObjectPlace, ScriptCall, ScriptReturn};
pub(crate) use session::{CommandTarget, EventObserver, PageConfig, PageSession, ResponseFuture};
pub(crate) use workers::Worker;
