//! Checks of tests: their names, sleeps and `#[ignore]`.

pub(super) mod ignored;
pub(super) mod names;
pub(super) mod sleeps;

use super::Finding;
