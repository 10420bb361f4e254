//! BiDi messages and values.

pub(crate) mod async_script;
pub(crate) mod message;
pub(crate) mod plain_value;
pub(crate) mod remote_value;
pub(crate) mod script_text;
