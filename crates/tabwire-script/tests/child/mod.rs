//! The process of a script: language, limits, sandbox.

mod language;
mod limits;
mod process;
mod sandbox;
