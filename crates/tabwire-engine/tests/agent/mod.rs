//! The page agent's acting parts on real Chromium: finding, waiting, guarding, filling, settling.
//!
//! The agent's functions are called as the engine calls them, in an isolated world; input is sent as the engine
//! sends it. Pages move by themselves: no test waits for time to pass.

mod clicking;
mod filling;
mod frames;
mod moving;
mod parts;
mod settling;
mod stage;
mod targets;
mod waiting;
