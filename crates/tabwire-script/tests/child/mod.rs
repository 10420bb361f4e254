//! The process of a script: language, limits, sandbox.

mod events;
mod language;
mod limits;
mod process;
mod sandbox;
