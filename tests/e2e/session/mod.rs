//! Sessions: how they start, what they remember, how they share a browser and how they end.

pub(crate) mod appearance;
pub(crate) mod attachment;
pub(crate) mod concurrency;
pub(crate) mod isolation;
pub(crate) mod lease;
pub(crate) mod lifecycle;
pub(crate) mod logins;
pub(crate) mod memory;
pub(crate) mod options;
pub(crate) mod own_tabs;
pub(crate) mod profile;
pub(crate) mod recovery;
pub(crate) mod remote_address;
