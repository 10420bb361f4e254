//! Programs the tests drive: a fixture site, a fake browser, a fake PowerShell, a chaos proxy.
//!
//! Nothing here is part of the product. The crate depends on no other crate of the workspace, so that a
//! mistake in the product cannot hide behind the same mistake in its test double.

pub mod bench;
mod chaos_pipeline;
mod chaos_proxy;
pub mod fake_browser;
pub mod fake_powershell;
mod http_request;
pub mod limits;
mod name_server;
mod sha1;
mod site;
mod websocket;

pub use chaos_pipeline::Fault;
pub use chaos_proxy::{ChaosPlan, ChaosProxy, Endpoint};
pub use name_server::NameServer;
pub use site::{LURE_DATA, LURES, Site, WAYS_OUT, WAYS_TO_OWN};
