//! All targets of the browser, whoever owns them.

use std::collections::BTreeMap;

use serde_json::Value;
use tabwire_wire::{CdpSessionId, TargetId};

use crate::target_entry::{Health, Owner, TargetEntry};

#[derive(Debug, Default)]
pub(crate) struct TargetTable {
    targets: BTreeMap<TargetId, TargetEntry>,
}

impl TargetTable {
    pub(crate) fn find(&self, id: &str) -> Option<&TargetEntry> {
        self.targets.get(id)
    }

    pub(crate) fn find_mut(&mut self, id: &str) -> Option<&mut TargetEntry> {
        self.targets.get_mut(id)
    }

    pub(crate) fn insert(&mut self, id: TargetId, info: Value, owner: Owner) {
        let entry = TargetEntry {
            id: id.clone(),
            info,
            page_url: None,
            sources: Default::default(),
            frames: Default::default(),
            sent_frames: Default::default(),
            held_on: None,
            was_there: false,
            owner,
            partner: None,
            paused: None,
            health: Health::default(),
            announced: Default::default(),
            offered: Default::default(),
        };
        self.targets.insert(id, entry);
    }

    pub(crate) fn take(&mut self, id: &str) -> Option<TargetEntry> {
        self.targets.remove(id)
    }

    pub(crate) fn ids(&self) -> Vec<TargetId> {
        self.targets.keys().cloned().collect()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &TargetEntry> {
        self.targets.values()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut TargetEntry> {
        self.targets.values_mut()
    }

    pub(crate) fn clear(&mut self) {
        self.targets.clear();
    }

    /// Forgets what a browser-level cdp session was told.
    pub(crate) fn forget_session(&mut self, session: &CdpSessionId) {
        for target in self.targets.values_mut() {
            target.announced.remove(session);
            target.offered.remove(session);
        }
    }

    /// A tab's page, or a page's tab.
    pub(crate) fn partner_of(&self, id: &str) -> Option<&TargetEntry> {
        self.find(self.find(id)?.partner.as_ref()?.as_str())
    }

    pub(crate) fn link(&mut self, tab: &TargetId, page: &TargetId) {
        for (one, other) in [(tab, page), (page, tab)] {
            if let Some(entry) = self.targets.get_mut(one) {
                entry.partner = Some(other.clone());
            }
        }
    }
}
