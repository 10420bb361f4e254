//! The shape of CDP messages.

pub mod discovery;
pub mod envelope;
pub(crate) mod event;
pub mod lenient_json;
pub(crate) mod message;
pub mod page_frames;
pub mod reply;
pub(crate) mod response;
pub(crate) mod target_filter;
pub(crate) mod target_info;
