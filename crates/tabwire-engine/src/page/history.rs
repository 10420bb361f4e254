//! Back, forward and reload.

use serde::Deserialize;
use serde_json::json;
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_cdp::Deadline;

use crate::page::Page;
use crate::page::navigation::{DocumentResponse, LoadState, NavigationWatcher};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HistoryDirection {
    Back,
    Forward,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct History {
    current_index: usize,
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    id: i64,
    url: String,
}

impl Page {
    /// Goes one entry back or forward.
    pub(crate) async fn go(
        &self,
        direction: HistoryDirection,
        state: LoadState,
        deadline: Deadline,
    ) -> Result<DocumentResponse, Failure> {
        let response = self.command("Page.getNavigationHistory", &json!({}), deadline).await?;
        let history: History = serde_json::from_value(response).map_err(|error| {
            Failure::new(ErrorCode::CdpError, format!("Page.getNavigationHistory: {error}."))
        })?;
        let index = match direction {
            HistoryDirection::Back => history.current_index.checked_sub(1),
            HistoryDirection::Forward => history.current_index.checked_add(1),
        };
        let entry = index.and_then(|index| history.entries.get(index)).ok_or_else(|| no_entry(direction))?;
        let watcher = NavigationWatcher::start(self);
        self.command("Page.navigateToHistoryEntry", &json!({"entryId": entry.id}), deadline).await?;
        self.unless_blocked(watcher.wait(state, &entry.url, deadline)).await
    }

    pub(crate) async fn reload(
        &self,
        ignore_cache: bool,
        state: LoadState,
        deadline: Deadline,
    ) -> Result<DocumentResponse, Failure> {
        let watcher = NavigationWatcher::start(self);
        self.command("Page.reload", &json!({"ignoreCache": ignore_cache}), deadline).await?;
        self.unless_blocked(watcher.wait(state, "The page", deadline)).await
    }
}

fn no_entry(direction: HistoryDirection) -> Failure {
    let side = match direction {
        HistoryDirection::Back => "before",
        HistoryDirection::Forward => "after",
    };
    Failure::new(ErrorCode::NotActionable, format!("The tab's history has no entry {side} this page."))
        .with_remedy(Remedy::new("Use {}.", [Step::action("navigate")]))
}
