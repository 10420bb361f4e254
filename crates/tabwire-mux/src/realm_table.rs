//! Realms: parts of one browser that see nothing of each other. Knows who lives where, not what a target is.

use std::collections::BTreeMap;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use tabwire_wire::{BrowserContextId, RealmId, TargetId};

/// Where a realm lives in the browser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RealmPlace {
    /// In a browser context of its own, which its clients take for the default one.
    Context(BrowserContextId),
    /// In the default context beside others, with tabs of its own: these, and what comes of them.
    Tabs(Vec<TargetId>),
}

/// A realm that is being ended.
#[derive(Clone, Debug)]
pub(crate) struct Ending {
    /// What its end is reported under; absent once it is.
    pub(crate) ticket: u64,
    pub(crate) realm: RealmId,
    /// Its browser contexts, which are being disposed of.
    pub(crate) contexts: Vec<BrowserContextId>,
    /// Commands to that end the browser has not answered.
    pub(crate) commands: usize,
    pub(crate) until: Instant,
}

/// All realms of a browser.
#[derive(Debug, Default)]
pub(crate) struct RealmTable {
    realms: BTreeMap<RealmId, RealmPlace>,
    pub(crate) endings: Vec<Ending>,
    /// Whether it is known which contexts were there before the link.
    pub(crate) learnt: bool,
}

impl RealmTable {
    pub(crate) fn insert(&mut self, realm: RealmId, place: RealmPlace) {
        self.realms.insert(realm, place);
    }

    pub(crate) fn find(&self, realm: &RealmId) -> Option<&RealmPlace> {
        self.realms.get(realm)
    }

    pub(crate) fn take(&mut self, realm: &RealmId) -> Option<RealmPlace> {
        self.realms.remove(realm)
    }

    pub(crate) fn len(&self) -> usize {
        self.realms.len()
    }

    /// Whether nobody keeps anything from anybody.
    pub(crate) fn is_empty(&self) -> bool {
        self.realms.is_empty() && self.endings.is_empty()
    }

    /// The realm that a tab was listed for.
    pub(crate) fn listing(&self, target: &TargetId) -> Option<&RealmId> {
        let lists = |place: &RealmPlace| matches!(place, RealmPlace::Tabs(tabs) if tabs.contains(target));
        self.realms.iter().find(|(_, place)| lists(place)).map(|(realm, _)| realm)
    }

    /// Whether some realm lives beside others in the default context.
    pub(crate) fn shares_default_context(&self) -> bool {
        self.realms.values().any(|place| matches!(place, RealmPlace::Tabs(_)))
    }
}
