//! CDP access to one page: its sessions, its frames in every process, and the page agent in each frame.

mod agent_call;
mod click_listeners;
mod element_object;
mod errors;
mod event_readers;
mod events;
mod frame_access;
mod frame_command;
mod listener_table;
mod merged_events;
mod process_settings;
mod session;
mod setup;
mod workers;

pub(crate) use element_object::FileInput;
pub(crate) use frame_access::FrameUrls;
pub(crate) use listener_table::ClickListeners;
pub(crate) use merged_events::MergedEvents;
pub(crate) use process_settings::Setting;
pub(crate) use session::{CommandTarget, EventObserver, PageConfig, PageSession, ResponseFuture};
