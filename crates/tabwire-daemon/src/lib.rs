//! The daemon: sessions, the gate, HTTP routes on socket and port, and the CDP endpoint.
//!
//! Knows nothing of the command line. Everything it needs of the environment is handed to it.

mod action;
mod adopt;
mod authority;
mod browser_link;
mod caller;
mod cdp_endpoint;
mod config;
mod daemon;
mod dangerous_extension;
mod download_file;
mod ffmpeg;
mod file_fault;
mod file_shelf;
mod fleet;
mod gate;
mod handler;
mod handshake;
mod hub;
mod hub_task;
mod known;
pub mod limits;
mod listener;
mod lock;
mod log_file;
mod note;
mod paths;
mod place;
mod request_files;
mod request_folder;
mod root_directory;
mod route;
mod safe_name;
mod scribe;
mod server;
mod session;
mod session_record;
mod session_table;
mod sweeping;
mod token;
mod told_parameters;
mod told_result;
mod vault;

pub use browser_link::BrowserLink;
pub use config::DaemonConfig;
pub use daemon::{Daemon, StartOutcome};
pub use fleet::Fleet;
pub use gate::{Admitted, Door, Gate, Refusal, Scope, Secrets, Visit};
pub use handshake::Handshake;
pub use hub::{Hub, HubFacts, HubGone, HubState};
pub use log_file::LogFile;
pub use paths::Paths;
pub use route::{Access, ROUTES, Route, RouteName};
pub use token::Token;
pub use vault::{KeyPlace, Saved, Vault};
