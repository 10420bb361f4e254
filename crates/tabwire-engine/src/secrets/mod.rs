//! Saved logins, secret fields of pages, and redaction of results.

mod beginning;
pub(crate) mod fields;
pub(crate) mod fill;
pub(crate) mod login;
pub(crate) mod output;
pub(crate) mod redaction;
