//! Limits of the policy that users can notice.

/// Most rules in a policy file. Every decision scans them all.
pub const RULES: usize = 1_000;

/// Most grants and denials at a time.
pub const GRANT_ENTRIES: usize = 1_000;

/// Characters that may be sent to a site without approval after another site was read. A search query fits, a page
/// does not.
pub const FLOW_CHARACTERS: usize = 200;

/// Characters of a URL after its host that do not count as sent data.
pub const URL_FREE_CHARACTERS: usize = 64;
