//! The engine on a real Chromium: the page agent, snapshots and every action.

mod accessibility;
mod actions;
mod agent;
mod snapshot;
