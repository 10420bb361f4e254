//! Screenshots, screencasts and videos of a page.

pub(crate) mod annotate;
pub(crate) mod frames;
pub(crate) mod live_casts;
pub(crate) mod live_view;
pub(crate) mod screencast;
pub(crate) mod screenshot;
pub(crate) mod screenshot_check;
pub(crate) mod viewport_jpeg;
