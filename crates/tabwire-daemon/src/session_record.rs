//! A session as it is remembered between daemons: its address secret, its options, its browser, its tabs.
//!
//! A hint, never a proof: whether the browser in it lives is asked of the browser's keeper.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use tabwire_browser::{BrowserRun, ProcessIdentity};
use tabwire_engine::{Browser, TabBook};

use tabwire_wire::api::SessionOptions;
use tabwire_wire::{
    BrowserContextId, BrowserId, InstanceId, ProjectKey, RealmId, SessionKey, SessionName, TabId,
};

use crate::lease_table::SavedLeases;
use crate::limits::REMEMBERED_TABS;
use crate::remembered::Remembered;

/// The version of this format; others are not read.
pub(crate) const FORMAT: u32 = 2;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SessionRecord {
    format: u32,
    pub(crate) project: ProjectKey,
    pub(crate) name: SessionName,
    pub(crate) secret: String,
    /// What callers asked for; holds over a stop.
    pub(crate) asked: SessionOptions,
    /// What its browser was last started with.
    pub(crate) options: SessionOptions,
    /// The browser it has; absent when it was stopped.
    pub(crate) running: Option<RunningRecord>,
    pub(crate) remembered: Remembered,
    /// When this was written, in milliseconds since 1970.
    pub(crate) saved_at: u64,
}

/// A session's browser.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RunningRecord {
    /// The launched browser; absent when it is attached to.
    pub(crate) browser: Option<BrowserId>,
    /// The keeper's run.
    pub(crate) instance: Option<InstanceId>,
    /// The browser's main process.
    pub(crate) process: Option<ProcessIdentity>,
    /// Which run of a browser it is attached to, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) run: Option<BrowserRun>,
    /// What the browser calls itself.
    pub(crate) version: Option<String>,
    /// Where CDP clients connect, without the secret.
    pub(crate) endpoint: String,
    /// Tells launches with other options apart.
    pub(crate) options_digest: String,
    /// The session's part of a browser that it shares.
    pub(crate) realm: Option<RealmId>,
    /// Its cookie jar there, when it has one of its own.
    pub(crate) context: Option<BrowserContextId>,
    pub(crate) book: TabBook,
    pub(crate) tabs: Vec<SavedTab>,
    /// Which of them are whose.
    #[serde(default)]
    pub(crate) leases: SavedLeases,
}

/// A tab as it can be opened again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SavedTab {
    pub(crate) tab: TabId,
    pub(crate) url: String,
    pub(crate) current: bool,
}

impl SavedTab {
    /// The tabs of a browser as they are known now.
    pub(crate) fn all_of(engine: &Browser) -> Vec<Self> {
        let tabs = engine.list_tabs().into_iter().take(REMEMBERED_TABS);
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

    /// Reads a record however damaged it may be; `None` when it is none of ours.
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
