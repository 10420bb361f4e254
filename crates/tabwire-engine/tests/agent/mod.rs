//! The page agent's input functions on real Chromium: locating, waiting, guarding, filling, settling.
//!
//! The tests call the agent as the engine does, in an isolated world, and send the same input. Pages change by
//! themselves; no test sleeps.

mod clicking;
mod filling;
mod frames;
mod moving;
mod parts;
mod settling;
mod stage;
mod targets;
mod waiting;
