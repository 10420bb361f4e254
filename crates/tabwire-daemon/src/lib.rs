//! The daemon: sessions, browsers, the HTTP API on socket and port, and the endpoints for CDP and MCP clients.

mod action;
mod audit;
mod browser;
mod chat;
mod config;
mod control;
mod daemon;
mod dashboard;
mod endpoint;
mod extension;
mod handshake;
mod http;
mod hub;
pub mod limits;
mod lock;
mod log;
mod paths;
mod policy;
mod rent;
mod script;
mod session;
mod stored_format;
mod trail;
mod vault;
mod wsl;

pub use crate::action::files::protected_path::{OutputKind, refuse_protected};
pub use crate::browser::link::BrowserLink;
pub use crate::browser::manager::BrowserManager;
pub use crate::chat::agent::table::{InstalledAgent, PROGRAM_VARIABLES, find_agents};
pub use crate::dashboard::dashboard_schema;
pub use crate::extension::key::find_extension_key;
pub use crate::http::gate::{AdmittedRequest, Gate, Refusal, RequestHead, Scope, Secrets, Transport};
pub use crate::http::route::{Access, DASHBOARD_ROUTES, ROUTES, Route, RouteName};
pub use crate::http::token::Token;
pub use crate::hub::{Hub, HubFacts, HubGone, HubState};
pub use crate::log::file::LogFile;
pub use crate::log::sink::{LogSink, lost_log_lines};
pub use crate::policy::approvals::{
    ApprovalDecision, ApprovalId, ApprovalOutcome, ApprovalQueue, ApprovalRequest, ApprovalWatcher,
    DecidedApproval, PendingApproval,
};
pub use crate::session::survey::{FoundRecord, RecordState, survey_records};
pub use config::DaemonConfig;
pub use daemon::{Daemon, StartOutcome};
pub use handshake::Handshake;
pub use paths::Paths;
pub use trail::{Trail, html};
pub use vault::{KeyPlace, SaveResult, Vault};
