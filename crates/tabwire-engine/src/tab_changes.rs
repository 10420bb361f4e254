//! News that a browser's tabs changed: opened, closed, gone elsewhere. Knows nothing of what is done about it.

use tabwire_cdp::{CdpError, Feed, TargetInfo};

use crate::browser::{Browser, TabInfo};

/// Listens to changes of tabs.
#[derive(Debug)]
pub struct TabChanges {
    created: Feed<TargetInfo>,
    changed: Feed<TargetInfo>,
    destroyed: Feed<TargetInfo>,
}

impl TabChanges {
    /// Waits until a tab is opened, closed or goes elsewhere; `false` when the browser is gone.
    pub async fn next(&mut self) -> bool {
        loop {
            let told = tokio::select! {
                told = self.created.next() => told,
                told = self.changed.next() => told,
                told = self.destroyed.next() => told,
            };
            match told {
                Ok(info) if info.is_page() => return true,
                // What was missed may have been a tab's.
                Err(CdpError::Missed { .. }) => return true,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
    }
}

impl Browser {
    /// Listens to changes of tabs from now on.
    #[must_use]
    pub fn tab_changes(&self) -> TabChanges {
        let (created, changed, destroyed) = self.registry_feeds();
        TabChanges { created, changed, destroyed }
    }

    /// The tabs as the browser last told of them, in the order of their ids. Titles may be older than the page's.
    #[must_use]
    pub fn list_tabs(&self) -> Vec<TabInfo> {
        self.listed_tabs()
    }

    /// Tabs whose process crashed.
    #[must_use]
    pub fn crashed_tabs(&self) -> Vec<tabwire_wire::TabId> {
        let mut crashed: Vec<_> =
            self.used_pages().iter().filter(|page| page.is_crashed()).map(|page| self.tab_of(page)).collect();
        crashed.sort_unstable_by_key(|tab| tab.number);
        crashed
    }
}
