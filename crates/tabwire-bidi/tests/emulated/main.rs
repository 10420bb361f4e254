//! The emulated browser against a scripted BiDi browser.

mod commands;
mod stage;
mod stories;
