//! Requests, intercepts, cookies and downloads.

pub(super) mod cookies;
pub(super) mod downloads;
pub(super) mod intercept;
pub(super) mod requests;
