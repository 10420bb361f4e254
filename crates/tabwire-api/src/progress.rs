//! What a session is doing, for progress output.

use serde::{Deserialize, Serialize};

use crate::TabId;

/// What a session is busy with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Progress {
    /// Whether its browser is being started or reached.
    pub starting: bool,
    /// Downloads under way, the oldest first.
    pub downloads: Vec<DownloadProgress>,
    /// Tabs that are being recorded.
    pub recordings: Vec<RecordingProgress>,
}

/// A download under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DownloadProgress {
    /// The name the site suggests.
    pub name: String,
    /// Bytes that have come.
    pub bytes: u64,
    /// Bytes that are to come in all, when the site says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_bytes: Option<u64>,
}

/// A tab that is being recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordingProgress {
    /// The tab.
    pub tab: TabId,
    /// For how long.
    pub seconds: u64,
}
