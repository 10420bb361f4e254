//! HTTP on the socket and the port: accepting, the gate, routes and their handlers.

pub(crate) mod agent_name;
pub(crate) mod authority;
pub(crate) mod caller;
pub(crate) mod gate;
pub(crate) mod handler;
pub(crate) mod listener;
pub(crate) mod peer_process;
pub(crate) mod route;
pub(crate) mod server;
pub(crate) mod token;
