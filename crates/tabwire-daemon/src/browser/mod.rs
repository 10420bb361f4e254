//! The browsers that the daemon serves.

pub(crate) mod adopt;
mod attach_failure;
pub(crate) mod background;
pub(crate) mod bidi;
pub(crate) mod link;
pub(crate) mod manager;
pub(crate) mod rented;
pub(crate) mod served;
pub(crate) mod shim_browsers;
pub(crate) mod sweep;
