//! The extension's popup and options.

mod keyboard;
mod popup;
