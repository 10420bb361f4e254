//! Words every crate shares: ids, error codes, and the daemon's API types.
//!
//! Knows nothing of sockets, browsers or files; only names and their text forms.

pub mod api;
mod client_name;
mod error_code;
mod failure;
mod id;
mod known_names;
mod progress;
mod project_key;
mod session_key;
mod session_name;
mod tab_id;
mod upstream_kind;

pub use client_name::{ClientName, ClientNameError};
pub use error_code::ErrorCode;
pub use failure::Failure;
pub use id::{
    BrowserContextId, BrowserId, CallNumber, CdpSessionId, ClientId, FrameId, InstanceId, RealmId, TargetId,
};
pub use known_names::{KnownNames, KnownRef, KnownSession, KnownTab};
pub use progress::{DownloadProgress, Progress, RecordingProgress};
pub use project_key::{ProjectKey, ProjectKeyError};
pub use session_key::SessionKey;
pub use session_name::{SessionName, SessionNameError};
pub use tab_id::{ParseTabIdError, TabId};
pub use upstream_kind::UpstreamKind;

/// The product's version, sent in every handshake.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
