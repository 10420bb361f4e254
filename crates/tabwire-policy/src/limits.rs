//! Limits of the policy, each with its reason.

/// Rules that a policy file may have: more is a mistake, and every decision walks them.
pub const RULES: usize = 1_000;

/// Grants and denials that are kept at a time: people give dozens.
pub const LEDGER_ENTRIES: usize = 1_000;

/// Characters that may be brought to a site after another one was read before somebody is asked: a search fits, a page
/// does not.
pub const FLOW_CHARACTERS: usize = 200;

/// Characters of an address behind its host that bring nothing: most pages have one that long.
pub const ADDRESS_FREE_CHARACTERS: usize = 64;

/// Sites that a session's flows are told apart by: more in one session is nobody's browsing.
pub const FLOW_SITES: usize = 1_000;

/// Letters of a site pattern: longer than any host with a path that somebody types.
pub const SITE_LETTERS: usize = 2_048;

/// Letters of an address that is judged; longer ones are not of the web, except data: and blob: ones.
pub const ADDRESS_LETTERS: usize = 2_097_152;
