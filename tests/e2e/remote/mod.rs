//! Browsers of Grids and providers. Most tests use a fake Grid with fake browsers, which start at once.

mod grid;
mod loss;
mod manifests;
mod provider;
mod real_grid;
mod refusals;
mod scale;

use crate::support::fake_grid::FakeGrid;
use crate::support::world::{Outcome, World};

/// Starts a session's browser from a Grid.
fn rent(world: &World, grid: &FakeGrid, session: &str) -> Outcome {
    world.run(&["--json", "--session", session, "session", "start", "--grid", &grid.url()])
}

/// The names of the records of rented browsers.
fn records(world: &World) -> Vec<String> {
    world.files("state/rentals")
}
