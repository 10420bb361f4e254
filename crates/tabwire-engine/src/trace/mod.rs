//! Performance traces and web vitals.

pub(crate) mod events;
pub(crate) mod run;
pub(crate) mod summary;
pub(crate) mod web_vitals;
