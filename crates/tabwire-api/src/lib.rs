//! Types that every crate shares: ids, errors with their remedies, and the daemon's API.

pub mod api;
mod count;
mod error_code;
mod failure;
mod http1;
mod ids;
mod known_names;
mod log_visibility;
mod progress;
mod remedy;
mod upstream_kind;

pub use count::count;
pub use error_code::ErrorCode;
pub use failure::Failure;
pub use http1::HttpHead;
pub use ids::{
    BrowserContextId, BrowserId, CallNumber, CdpSessionId, ClientId, ClientName, ClientNameError, FrameId,
    InstanceId, ParseTabIdError, PartitionId, ProjectKey, ProjectKeyError, SessionKey, SessionName,
    SessionNameError, TabId, TargetId,
};
pub use known_names::{KnownNames, KnownRef, KnownSession, KnownTab};
pub use log_visibility::LogVisibility;
pub use progress::{ApprovalProgress, DownloadProgress, Progress, RecordingProgress};
pub use remedy::{Remedy, Step};
pub use upstream_kind::UpstreamKind;

/// The product's version, sent in every handshake.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
