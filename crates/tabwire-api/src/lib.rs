//! Types that every crate shares: ids, errors with their remedies, and the daemon's API.

pub mod api;
mod client_name;
mod count;
mod error_code;
mod failure;
mod http1;
mod id;
mod known_names;
mod log_visibility;
mod progress;
mod project_key;
mod remedy;
mod session_key;
mod session_name;
mod tab_id;
mod upstream_kind;

pub use client_name::{ClientName, ClientNameError};
pub use count::count;
pub use error_code::ErrorCode;
pub use failure::Failure;
pub use http1::HttpHead;
pub use id::{
    BrowserContextId, BrowserId, CallNumber, CdpSessionId, ClientId, FrameId, InstanceId, PartitionId,
    TargetId,
};
pub use known_names::{KnownNames, KnownRef, KnownSession, KnownTab};
pub use log_visibility::LogVisibility;
pub use progress::{ApprovalProgress, DownloadProgress, Progress, RecordingProgress};
pub use project_key::{ProjectKey, ProjectKeyError};
pub use remedy::{Remedy, Step};
pub use session_key::SessionKey;
pub use session_name::{SessionName, SessionNameError};
pub use tab_id::{ParseTabIdError, TabId};
pub use upstream_kind::UpstreamKind;

/// The product's version, sent in every handshake.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
