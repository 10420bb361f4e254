//! The actions of Tabwire: what a client can read and do on a page, over one CDP connection.
//!
//! The engine is one client of a browser beside others. Its caller supplies the connection, the files and the policy.

mod accept;
mod action;
mod actions;
mod agent;
mod browser;
mod capture;
mod cdp;
mod download;
mod files;
mod frames;
mod input;
pub mod limits;
mod media;
mod network;
mod page;
mod read;
mod secrets;
mod settle;
mod snapshot;
mod storage;
mod timestamp;
mod trace;
mod url;

pub use action::catalogue::catalogue;
pub use action::context::{Context, Notices};
pub use action::registry::{ACTIONS, SCRIPT_ACTIONS, SESSION_ACTIONS, find_action, find_page_action};
pub use action::result::BareValue;
pub use action::suggestion::find_similar;
pub use action::{
    Action, ActionKind, ActionOutput, CellFormat, CheckedParams, Close, Column, ContextSet, Definition,
    Effect, Example, Open, Parameter, Render, ResultTable, Secrecy, SessionAction, SessionList,
    SessionParameters, SessionRename, TabLease, TabRelease, TabUse, ToolGroup, ToolOptions, ToolResult,
};
pub use agent::page_agent;
pub use browser::tab_events::TabEvents;
pub use browser::tab_ids::TabIds;
pub use browser::visited_origins::origin_of;
pub use browser::{Browser, BrowserCounts, PageLocation, TabInfo};
pub use capture::recorder::CaptureRecorder;
pub use download::manager::DownloadRule;
pub use files::{FileKind, Files, NewFile, OutputDirectory, UploadFile};
pub use frames::policy::FramePolicy;
pub use media::screencast::{Video, VideoEncoder};
pub use network::{EgressPolicy, UrlRule};
pub use page::navigation::{DocumentResponse, LoadState, STOPPED};
pub use page::{Outline, Page};
pub use secrets::login::{LoginSelectors, LoginStore, SavedLogin, SecretText};
pub use secrets::output::OutputRedactor;
pub use snapshot::text::terminal::{visible_json, visible_text};
pub use snapshot::{bounded_failure, line_address, page_outline, plain_line, plain_lines, plain_value};
pub use storage::bytes::RestoredState;
pub use tabwire_secrets::{Passphrase, SealKey, is_sealed, open_as, seal_as, totp_code};
pub use url::checked_url;
