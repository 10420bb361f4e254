//! A stream of tab changes: opened, closed, navigated; and crashes of their processes.

use std::sync::{Mutex, PoisonError, Weak};

use tabwire_api::TargetId;
use tabwire_cdp::{CdpError, EventStream, Feed, TargetInfo};

use crate::browser::{Browser, State};
use crate::feed::{EventFeed, EventKind};

/// A stream of tab changes.
#[derive(Debug)]
pub struct TabEvents {
    created: Feed<TargetInfo>,
    changed: Feed<TargetInfo>,
    destroyed: Feed<TargetInfo>,
}

impl TabEvents {
    /// Waits until a tab is opened, closed or navigated. Returns `false` when the browser is gone.
    pub async fn next(&mut self) -> bool {
        loop {
            let event = tokio::select! {
                event = self.created.next() => event,
                event = self.changed.next() => event,
                event = self.destroyed.next() => event,
            };
            match event {
                Ok(info) if info.is_page() => return true,
                // A missed event may have been about a tab.
                Err(CdpError::Missed { .. }) => return true,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
    }
}

impl Browser {
    /// A stream of tab changes from now on.
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

/// Marks pages whose process crashed, until the browser is dropped.
pub(in crate::browser) async fn mark_crashed(
    mut crashes: EventStream,
    state: Weak<Mutex<State>>,
    feed: EventFeed,
) {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct TargetCrashed {
        target_id: TargetId,
    }
    loop {
        let crashed = match crashes.next().await {
            Ok(event) => event.to::<TargetCrashed>(),
            Err(CdpError::Missed { .. }) => continue,
            Err(_) => return,
        };
        let (Ok(crashed), Some(state)) = (crashed, state.upgrade()) else { return };
        let state = state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = state.pages.get(&crashed.target_id) {
            open.crashed.send_replace(true);
        }
        drop(state);
        feed.emit(EventKind::Crash, &crashed.target_id, || (Vec::new(), serde_json::Value::Null));
    }
}
