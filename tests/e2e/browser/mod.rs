//! Actions on pages, called from the command line.

pub(crate) mod action;
pub(crate) mod capture;
pub(crate) mod evaluation;
pub(crate) mod files;
pub(crate) mod firefox;
pub(crate) mod network;
pub(crate) mod outputs;
pub(crate) mod raw_cdp;
pub(crate) mod reading;
pub(crate) mod state;
