//! The pages of the fixture site. Each file serves one family of paths; its `find` returns `None` for other paths.

pub(super) mod account;
pub(super) mod cors;
pub(super) mod download;
pub(super) mod echo;
pub(super) mod exfiltration;
pub(super) mod framed_pages;
pub(super) mod generated_pages;
pub(super) mod policy_pages;
pub(super) mod prompt_injection;
pub(super) mod redirects;
pub(super) mod static_pages;
