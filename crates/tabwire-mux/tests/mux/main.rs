//! The mux against a fake browser that responds like Chromium 156.

#![expect(clippy::unwrap_used, reason = "a test that finds nothing to unwrap has failed")]

mod browser_loss;
mod download_story;
mod exposed_story;
mod first_page_story;
mod guard_story;
mod interleaving;
mod non_flat_story;
mod partitions;
mod routing_story;
mod settings_story;
mod sharing_story;
mod support;
mod target_story;
