//! The messages of the protocol, parsed leniently: a part with a wrong type counts as absent.

pub mod agent_info;
pub mod content;
pub mod line_buffer;
pub mod options;
pub mod question;
pub mod rpc;
pub(crate) mod text;
pub mod update;
