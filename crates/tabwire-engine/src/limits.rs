//! Bounds of the engine, each with its reason.

use std::time::Duration;

/// Characters of a page's text that are returned when a page is opened.
pub const OUTLINE_CHARACTERS: usize = 4_000;

/// Largest result of an evaluation that is returned whole.
pub const RESULT_BYTES: usize = 256 * 1024;

/// How long setting up a tab (attaching, enabling) may take.
pub const SETUP_DEADLINE: Duration = Duration::from_secs(10);

/// Tab numbers set aside ahead of use, so that a crash never gives one out twice.
pub const TAB_NUMBERS_AHEAD: u32 = 64;
