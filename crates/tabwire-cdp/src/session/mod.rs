//! CDP sessions of one connection.

pub(crate) mod cdp_session;
pub(crate) mod domain_set;
pub(crate) mod state;
pub(crate) mod table;
