//! The mux against a fake browser that responds like Chromium 156.

#![expect(clippy::unwrap_used, reason = "a test that finds nothing to unwrap has failed")]

mod browser_loss;
mod download_story;
mod fake_browser;
mod fake_page;
mod guard_story;
mod interleaving;
mod model;
mod partitions;
mod routing_story;
mod settings_story;
mod sharing_story;
mod stage;
mod step;
mod target_story;
