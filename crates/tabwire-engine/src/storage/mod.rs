//! Cookies, local storage, and the saved browser state.

pub(crate) mod bytes;
pub(crate) mod collect;
pub(crate) mod cookie;
pub(crate) mod jar;
pub(crate) mod state;
pub(crate) mod view;
