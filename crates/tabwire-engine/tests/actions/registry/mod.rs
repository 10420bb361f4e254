//! Checks over every action of the registry.

pub(crate) mod bad_input;
pub(crate) mod page_agent_traces;
pub(crate) mod parameter_needs;
pub(crate) mod round_trips;
pub(crate) mod valid_parameters;
