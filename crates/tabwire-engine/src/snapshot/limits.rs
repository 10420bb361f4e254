//! Bounds of snapshots, each with its reason.

/// Characters a token is taken for when a budget is given in tokens.
pub(crate) const CHARACTERS_PER_TOKEN: usize = 4;

/// Tokens of a snapshot unless told otherwise.
pub(crate) const SNAPSHOT_TOKENS: usize = 4_000;

/// Characters of a snapshot that are never exceeded, in full mode either.
pub(crate) const SNAPSHOT_CHARACTERS: usize = 1024 * 1024;

/// A snapshot longer than this is written densely: several things on a line, fewer refs and targets.
pub(crate) const SPACIOUS_CHARACTERS: usize = 3_000;

/// Characters of a line on which several things stand.
pub(crate) const LINE_CHARACTERS: usize = 160;

/// Levels of nesting that are told apart; what is deeper stands on the last one.
pub(crate) const SNAPSHOT_DEPTH: u16 = 32;

/// Characters of any one string of a page that are kept.
pub(crate) const STRING_CHARACTERS: usize = 8_192;

/// Characters of a link's target that are written.
pub(crate) const TARGET_CHARACTERS: usize = 60;

/// Refs a tab keeps; the oldest go first.
pub(crate) const REFS: usize = 65_536;

/// Characters of a page's own address that are written.
pub(crate) const URL_CHARACTERS: usize = 160;

/// Additions and removals a delta has at most; beyond that the whole snapshot is shorter to read.
pub(crate) const DELTA_STEPS: usize = 400;

/// Snapshots remembered for deltas, one for each way of asking.
pub(crate) const REMEMBERED_SNAPSHOTS: usize = 4;

/// Characters of what is searched for.
pub(crate) const PATTERN_CHARACTERS: usize = 1_000;

/// Bytes a regular expression may take when it is compiled.
pub(crate) const PATTERN_MEMORY: usize = 1024 * 1024;

/// Characters of a page that are searched at a time.
pub(crate) const PORTION_CHARACTERS: usize = 1024 * 1024;

/// Matches of a search that are shown.
pub(crate) const MATCHES: usize = 40;

/// A row or list item of at most this many nodes is shown whole when something in it matches.
pub(crate) const ROW_NODES: usize = 16;
