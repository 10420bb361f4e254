//! The browsers that the daemon serves.

pub(crate) mod adopt;
pub(crate) mod link;
pub(crate) mod manager;
pub(crate) mod served;
pub(crate) mod shim_browsers;
pub(crate) mod sweep;
