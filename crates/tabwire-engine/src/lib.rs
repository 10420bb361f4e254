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
mod feed;
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
pub use action::typescript::typescript_actions;
pub use action::{
    Action, ActionKind, ActionOutput, CellFormat, CheckedParams, Close, Column, ContextSet, Definition,
    Effect, Example, Open, Parameter, Render, ResultTable, Secrecy, SessionAction, SessionList,
    SessionParameters, SessionRename, TabLease, TabRelease, TabUse, ToolGroup, ToolOptions, ToolResult,
};
pub use actions::tabs_list::SHARED_TAB;
pub use agent::page_agent;
pub use browser::pointer_mark::PointerMark;
pub use browser::script::FrameFacts;
pub use browser::tab::events::TabEvents;
pub use browser::tab::ids::TabIds;
pub use browser::tab::list::TabInfo;
pub use browser::visited_origins::origin_of;
pub use browser::{Browser, BrowserCounts, PageLocation};
pub use capture::recorder::CaptureRecorder;
pub use cdp::{RawCdp, send_raw_command};
pub use download::manager::DownloadRule;
pub use feed::{EventFeed, EventKind, EventKinds, FeedEvent, Subscription};
pub use files::{FileKind, Files, NewFile, OutputDirectory, RemoteFileFuture, RemoteFiles, UploadFile};
pub use frames::policy::FramePolicy;
pub use input::user_input::UserInput;
pub use media::live_view::{LiveDialog, LiveEvent, LiveFrame, LiveView, Steering};
pub use media::screencast::{Video, VideoEncoder};
pub use media::viewport_jpeg::viewport_jpeg;
pub use network::{EgressPolicy, UrlRule};
pub use page::navigation::{DocumentResponse, LoadState, STOPPED};
pub use page::{Outline, Page, taken_over};
pub use secrets::login::{LoginSelectors, LoginStore, SavedLogin, SecretText};
pub use secrets::output::OutputRedactor;
pub use snapshot::text::terminal::{visible_json, visible_text};
pub use snapshot::{bounded_failure, line_address, page_outline, plain_line, plain_lines, plain_value};
pub use storage::bytes::RestoredState;
pub use tabwire_secrets::{Passphrase, SealKey, is_sealed, open_as, seal_as, totp_code};
pub use url::checked_url;
