//! All targets of the browser.

use std::collections::BTreeMap;

use serde_json::Value;
use tabwire_api::{BrowserContextId, CdpSessionId, TargetId};

use crate::target::entry::{Health, Owner, TargetEntry};
use crate::target::frame_tree::FrameTree;
use crate::target::unannounced_targets::UnannouncedTargets;

#[derive(Debug, Default)]
pub(crate) struct TargetTable {
    targets: BTreeMap<TargetId, TargetEntry>,
    /// The newest tab target of each context whose page is not announced yet.
    open_tabs: BTreeMap<Option<BrowserContextId>, TargetId>,
    /// Targets that `Target.createTarget` returned before they were announced.
    unannounced: UnannouncedTargets,
    frame_tree: FrameTree,
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
            addresses: Default::default(),
            frames: Default::default(),
            navigated_frames: Default::default(),
            paused_on: None,
            predates_link: false,
            owner,
            counterpart: None,
            paused: None,
            health: Health::default(),
            is_unused: false,
            discoverers: Default::default(),
            offered: Default::default(),
        };
        self.targets.insert(id, entry);
    }

    /// Removes a target with its frames.
    pub(crate) fn take(&mut self, id: &str) -> Option<TargetEntry> {
        let gone = self.targets.remove(id)?;
        self.frame_tree.forget_page(id);
        if gone.is_tab() {
            self.open_tabs.retain(|_, tab| *tab != gone.id);
        }
        Some(gone)
    }

    pub(crate) fn unannounced(&self) -> &UnannouncedTargets {
        &self.unannounced
    }

    pub(crate) fn unannounced_mut(&mut self) -> &mut UnannouncedTargets {
        &mut self.unannounced
    }

    /// Records `Page.frameAttached` and `Page.frameDetached`.
    pub(crate) fn record_frame(&mut self, method: &str, params: &Value) {
        self.frame_tree.learn(method, params);
    }

    /// The page that a frame belongs to, as far as its parents are known.
    pub(crate) fn page_of_frame(&self, frame: &str) -> Option<&TargetEntry> {
        self.find(self.frame_tree.outermost(frame))
    }

    /// Links a new tab to its page: Chromium announces a tab target right before the page in it.
    pub(crate) fn link_new(&mut self, id: &TargetId) {
        let Some(entry) = self.targets.get(id) else { return };
        let context = entry.context();
        if entry.is_tab() {
            self.open_tabs.insert(context, id.clone());
        } else if entry.is_tab_content()
            && let Some(tab) = self.open_tabs.remove(&context)
        {
            self.link(&tab, id);
        }
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
        *self = Self::default();
    }

    /// Removes a browser-level CDP session from the targets' receivers.
    pub(crate) fn forget_session(&mut self, session: &CdpSessionId) {
        for target in self.targets.values_mut() {
            target.discoverers.remove(session);
            target.offered.remove(session);
        }
    }

    /// A tab's page, or a page's tab.
    pub(crate) fn counterpart_of(&self, id: &str) -> Option<&TargetEntry> {
        self.find(self.find(id)?.counterpart.as_ref()?.as_str())
    }

    pub(crate) fn link(&mut self, tab: &TargetId, page: &TargetId) {
        for (one, other) in [(tab, page), (page, tab)] {
            if let Some(entry) = self.targets.get_mut(one) {
                entry.counterpart = Some(other.clone());
            }
        }
    }
}
