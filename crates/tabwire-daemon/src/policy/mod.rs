//! The policy in force: its store, approvals, and the guard on CDP commands.

pub(crate) mod api;
pub(crate) mod approvals;
pub(crate) mod asking;
#[cfg(test)]
mod cdp_corpus_tests;
pub(crate) mod cdp_guard;
pub(crate) mod cdp_rules;
pub(crate) mod logins;
pub(crate) mod standing;
pub(crate) mod store;
