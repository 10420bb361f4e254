//! The current activity of a session, for progress output.

use serde::{Deserialize, Serialize};

use crate::TabId;

/// The current activity of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Progress {
    /// Whether its browser is being started or connected.
    pub starting: bool,
    /// The question that waits for the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalProgress>,
    /// Running downloads, the oldest first.
    pub downloads: Vec<DownloadProgress>,
    /// Tabs that are being recorded.
    pub recordings: Vec<RecordingProgress>,
}

/// A question that waits for the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalProgress {
    /// The site.
    pub site: String,
    /// What would be granted.
    pub capability: String,
    /// Seconds until it is denied.
    pub seconds_left: u64,
}

/// A running download.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DownloadProgress {
    /// The file name that the site suggests.
    pub name: String,
    /// Received bytes.
    pub bytes: u64,
    /// Total bytes, if the site reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_bytes: Option<u64>,
}

/// A tab that is being recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordingProgress {
    /// The tab.
    pub tab: TabId,
    /// The duration so far.
    pub seconds: u64,
}
