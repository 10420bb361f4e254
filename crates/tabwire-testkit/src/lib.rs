//! Test doubles and servers: a fixture site, a fake agent, a fake browser, a fake Grid, a fake PowerShell, a chaos proxy.
//!
//! The crate depends on no other crate of the workspace: a bug of the product cannot hide behind the same bug in its
//! test double.

pub mod bench;
mod chaos_pipeline;
mod chaos_proxy;
pub mod fake_agent;
pub mod fake_browser;
pub mod fake_grid;
pub mod fake_powershell;
mod hostile_scripts;
mod http_request;
pub mod limits;
mod name_server;
mod sha1;
mod site;
mod size;
mod websocket;

pub use chaos_pipeline::Fault;
pub use chaos_proxy::{ChaosPlan, ChaosProxy, Endpoint};
pub use hostile_scripts::HOSTILE_SCRIPTS;
pub use name_server::NameServer;
pub use site::{EXFILTRATION_PATHS, INJECTION_DATA, INJECTIONS, OWN_SITE_PATHS, Site};
pub use size::by_size;
