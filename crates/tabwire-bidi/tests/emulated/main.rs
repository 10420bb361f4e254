//! The emulated browser against a scripted BiDi browser.

mod commands;
mod commands_of_stories;
mod stage;
mod stories;
