//! The saved record of a session: the secret of its URL, its options, its browser and its tabs.
//!
//! Only the browser's keeper knows whether the browser in a record still lives.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use tabwire_browser::{BrowserRun, ProcessIdentity};
use tabwire_engine::{Browser, TabIds};

use tabwire_api::api::SessionOptions;
use tabwire_api::{
    BrowserContextId, BrowserId, InstanceId, PartitionId, ProjectKey, SessionKey, SessionName, TabId,
    TargetId,
};

use crate::session::leases::SavedLeases;
use crate::session::memory::Remembered;

/// Tabs of a session that are opened again after a crash.
const REMEMBERED_TABS: usize = 50;

/// The version of the format. Other versions are not read.
pub(crate) const FORMAT: u32 = 2;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SessionRecord {
    format: u32,
    pub(crate) project: ProjectKey,
    pub(crate) name: SessionName,
    pub(crate) secret: String,
    /// The options that callers gave. They survive a stop.
    pub(crate) asked: SessionOptions,
    /// The options that its browser was last started with.
    pub(crate) options: SessionOptions,
    /// Its browser. Absent when it was stopped.
    pub(crate) running: Option<RunningRecord>,
    pub(crate) remembered: Remembered,
    /// When the record was written, in milliseconds since 1970.
    pub(crate) saved_at: u64,
}

/// A session's browser.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RunningRecord {
    /// The launched browser. Absent for an attached one.
    pub(crate) browser: Option<BrowserId>,
    /// The keeper's run.
    pub(crate) instance: Option<InstanceId>,
    /// The browser's main process.
    pub(crate) process: Option<ProcessIdentity>,
    /// The run of an attached browser, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) run: Option<BrowserRun>,
    /// The browser's product and version.
    pub(crate) version: Option<String>,
    /// Where CDP clients connect, without the secret.
    pub(crate) endpoint: String,
    /// Digest of the launch options.
    pub(crate) options_digest: String,
    /// The session's partition of a shared browser.
    #[serde(alias = "realm")]
    pub(crate) partition: Option<PartitionId>,
    /// Its browser context there, with `--isolation context`.
    pub(crate) context: Option<BrowserContextId>,
    #[serde(alias = "book")]
    pub(crate) tab_ids: TabIds,
    pub(crate) tabs: Vec<SavedTab>,
    /// The targets of the tabs that are the session's own. Absent in older records: all tabs are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) own: Option<Vec<TargetId>>,
    /// When the browser was started or first connected, in milliseconds since 1970; 0 in older records.
    #[serde(default)]
    pub(crate) started_at: u64,
    /// Leases and current tabs of clients.
    #[serde(default)]
    pub(crate) leases: SavedLeases,
    /// Whether the saved state could not be restored, so that it is not replaced.
    #[serde(default)]
    pub(crate) keeps_saved_state: bool,
}

/// A tab to reopen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SavedTab {
    pub(crate) tab: TabId,
    pub(crate) url: String,
    pub(crate) current: bool,
}

impl RunningRecord {
    /// The targets of its own tabs.
    pub(crate) fn own_targets(&self) -> Vec<TargetId> {
        self.own.clone().unwrap_or_else(|| self.tab_ids.targets())
    }
}

impl SavedTab {
    /// The current tabs of a session, without those that the user opened.
    pub(crate) fn all_of(engine: &Browser) -> Vec<Self> {
        let tabs = engine.list_tabs().into_iter().filter(|info| !info.shared).take(REMEMBERED_TABS);
        tabs.map(|info| Self { tab: info.tab, url: info.url, current: info.current }).collect()
    }
}

impl SessionRecord {
    pub(crate) fn new(key: SessionKey, secret: String, remembered: Remembered) -> Self {
        Self {
            format: FORMAT,
            project: key.project,
            name: key.name,
            secret,
            asked: SessionOptions::default(),
            options: SessionOptions::default(),
            running: None,
            remembered,
            saved_at: 0,
        }
    }

    pub(crate) fn key(&self) -> SessionKey {
        SessionKey::new(self.project.clone(), self.name.clone())
    }

    /// Parses a record; `None` when it is damaged or has another format.
    pub(crate) fn parse(content: &[u8]) -> Option<Self> {
        let record: Self = serde_json::from_slice(content).ok()?;
        (record.format == FORMAT).then_some(record)
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let saved_at = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        serde_json::to_vec_pretty(&Self { saved_at, ..self.clone() }).unwrap_or_default()
    }
}
