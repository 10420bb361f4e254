//! The engine on a real Chromium, or on Firefox: the page agent, snapshots and every action.

mod accessibility;
mod actions;
mod agent;
mod browser;
mod snapshot;
