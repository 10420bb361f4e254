//! Actions on pages, called from the command line.

pub(crate) mod action;
pub(crate) mod capture;
pub(crate) mod evaluation;
pub(crate) mod files;
pub(crate) mod network;
pub(crate) mod reading;
pub(crate) mod state;
