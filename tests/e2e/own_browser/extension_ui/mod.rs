//! The extension's popup and options.

pub(crate) mod appearance;
pub(crate) mod keyboard;
mod names;
mod popup;
mod shared_parts;
pub(crate) mod states;
