//! The page agent's walk on real Chromium: what a snapshot contains and omits.
//!
//! The tests call the agent as the engine does, in an isolated world. Tests of the snapshot's text are in
//! `src/snapshot`.

mod actable;
mod hostile;
mod long_list;
mod looks;
mod nearness;
mod owned;
mod part;
mod plain;
mod reading;
mod search;
mod stage;
