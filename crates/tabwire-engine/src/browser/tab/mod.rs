//! The tabs of a browser: their ids, names, order, events and end.

pub(crate) mod close;
pub(crate) mod current;
pub(crate) mod events;
pub(crate) mod ids;
pub(crate) mod list;
pub(crate) mod name;
pub(crate) mod new_page;
