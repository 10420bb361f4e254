//! Names for shell completion: sessions, tabs, refs.

use serde::{Deserialize, Serialize};

use crate::{SessionName, TabId};

/// Names for completion, read without contacting a browser.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KnownNames {
    /// All sessions.
    pub sessions: Vec<KnownSession>,
    /// The tabs of the requested session.
    pub tabs: Vec<KnownTab>,
    /// The refs of the last snapshot of the requested tab.
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
    /// Its title, or its URL if it has no title.
    pub title: String,
}

/// A ref, for completion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownRef {
    /// The ref: `e12`.
    #[serde(rename = "ref")]
    pub name: String,
    /// The element as in the snapshot: `button "Pay"`.
    pub element: String,
}
