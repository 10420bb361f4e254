//! BiDi messages and values.

pub(crate) mod message;
pub(crate) mod remote_value;
pub(crate) mod script_text;
