//! Targets and CDP sessions of the fake browser.

use std::collections::BTreeSet;

use serde_json::{Value, json};

/// One target.
#[derive(Clone, Debug)]
pub(crate) struct FakeTarget {
    pub(crate) kind: &'static str,
    pub(crate) context: String,
    pub(crate) opener: Option<String>,
    /// For a page: its tab.
    pub(crate) tab: Option<String>,
    pub(crate) url: String,
    pub(crate) title: String,
    /// Its owner, by the tag of the command or of its opener.
    pub(crate) owner: Option<u64>,
    /// Its partition: its context's, its opener's, or its creator's.
    pub(crate) partition: Option<&'static str>,
    /// CDP sessions that pause it.
    pub(crate) held_by: BTreeSet<String>,
}

impl FakeTarget {
    pub(crate) fn info(&self, id: &str, attached: bool) -> Value {
        let mut info = json!({
            "targetId": id, "type": self.kind, "title": self.title, "url": self.url,
            "attached": attached, "canAccessOpener": false, "browserContextId": self.context,
        });
        if let Some(opener) = &self.opener {
            info["openerId"] = json!(opener);
        }
        info
    }
}

/// One CDP session.
#[derive(Clone, Debug, Default)]
pub(crate) struct FakeSession {
    pub(crate) parent: Option<String>,
    /// `None` is the browser.
    pub(crate) target: Option<String>,
    pub(crate) discovers: bool,
    pub(crate) attaches: bool,
    pub(crate) enabled: bool,
    /// The client that sent commands on it.
    pub(crate) client: Option<u64>,
}
