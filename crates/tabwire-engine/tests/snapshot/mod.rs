//! The page agent's walk on real Chromium: what is in a snapshot, what is left out, and what it costs a page.
//!
//! The agent is called as the engine calls it, in an isolated world. How its responses become lines is tested where the
//! lines are written.

mod actable;
mod hostile;
mod long_list;
mod nearness;
mod owned;
mod part;
mod plain;
mod reading;
mod search;
mod stage;
