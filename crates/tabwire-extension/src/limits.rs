//! The bounds of this crate.

/// Commands that a cdp session may leave for a tab that is not attached yet; one more attaches it.
pub const JOURNAL_COMMANDS: usize = 256;

/// Commands that may wait for a tab to be attached.
pub const WAITING_COMMANDS: usize = 1_024;

/// Frames, workers and worlds that are remembered of one tab, so that newcomers can be told of them.
pub const REMEMBERED_PARTS: usize = 4_096;

/// Downloads under way that are followed in one browser; of more nothing is told.
pub const DOWNLOADS_FOLLOWED: usize = 256;

/// How often a tab that was just attached is looked at again because clients still take up the frames in it, each a
/// round trip; then what waits for the tab is done without them.
pub const TAKING_UP_LOOKS: u32 = 40;
