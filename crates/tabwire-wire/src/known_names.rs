//! Names a caller could use next, for completion: sessions, tabs, refs. Knows nothing of shells.

use serde::{Deserialize, Serialize};

use crate::{SessionName, TabId};

/// What is known by name, read without touching a browser.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KnownNames {
    /// The sessions there are.
    pub sessions: Vec<KnownSession>,
    /// The tabs of the session that was asked about.
    pub tabs: Vec<KnownTab>,
    /// The refs of the last snapshot of the tab that was asked about.
    pub refs: Vec<KnownRef>,
}

/// A session, for completion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownSession {
    /// Its name.
    pub name: SessionName,
    /// How many tabs it has.
    pub tabs: usize,
}

/// A tab, for completion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownTab {
    /// Its id.
    pub tab: TabId,
    /// Its title, or its address when it has none.
    pub title: String,
}

/// A ref, for completion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownRef {
    /// The ref: `e12`.
    #[serde(rename = "ref")]
    pub name: String,
    /// What the snapshot said of the element: `button "Pay"`.
    pub element: String,
}
