//! Hostile agents and pages: attempts to get around a guarded session.

mod agent;
pub(crate) mod bypass;
mod hard_cases;
mod page;
