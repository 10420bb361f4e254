//! News that a browser's tabs changed: opened, closed, gone elsewhere. Knows nothing of what is done about it.

use tabwire_cdp::{CdpError, Feed, TargetInfo};

use crate::browser::Browser;

/// Listens to changes of tabs.
#[derive(Debug)]
pub struct TabEvents {
    created: Feed<TargetInfo>,
    changed: Feed<TargetInfo>,
    destroyed: Feed<TargetInfo>,
}

impl TabEvents {
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
    pub fn tab_events(&self) -> TabEvents {
        let (created, changed, destroyed) = self.target_feeds();
        TabEvents { created, changed, destroyed }
    }

    /// Tabs whose process crashed.
    #[must_use]
    pub fn crashed_tabs(&self) -> Vec<tabwire_api::TabId> {
        let mut crashed: Vec<_> = self
            .attached_pages()
            .iter()
            .filter(|page| page.is_crashed())
            .map(|page| self.tab_id(page))
            .collect();
        crashed.sort_unstable_by_key(|tab| tab.number);
        crashed
    }
}
