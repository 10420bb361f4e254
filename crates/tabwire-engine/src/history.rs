//! Going back and forth in a tab's history, and loading a page anew.

use serde::Deserialize;
use serde_json::json;
use tabwire_cdp::Deadline;
use tabwire_wire::{ErrorCode, Failure};

use crate::navigation::{Arrival, Journey, LoadState};
use crate::page::Page;

/// Which way in the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
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
    /// Goes one step in the tab's history.
    pub(crate) async fn go(
        &self,
        way: Way,
        state: LoadState,
        deadline: Deadline,
    ) -> Result<Arrival, Failure> {
        let answer = self.command("Page.getNavigationHistory", &json!({}), deadline).await?;
        let history: History = serde_json::from_value(answer)
            .map_err(|error| Failure::new(ErrorCode::CdpError, format!("The tab's history: {error}.")))?;
        let index = match way {
            Way::Back => history.current_index.checked_sub(1),
            Way::Forward => history.current_index.checked_add(1),
        };
        let entry = index.and_then(|index| history.entries.get(index)).ok_or_else(|| no_entry(way))?;
        let journey = Journey::watch(self);
        self.command("Page.navigateToHistoryEntry", &json!({"entryId": entry.id}), deadline).await?;
        self.unless_blocked(journey.arrive(state, &entry.url, deadline)).await
    }

    /// Loads the page anew.
    pub(crate) async fn reload(
        &self,
        past_cache: bool,
        state: LoadState,
        deadline: Deadline,
    ) -> Result<Arrival, Failure> {
        let journey = Journey::watch(self);
        self.command("Page.reload", &json!({"ignoreCache": past_cache}), deadline).await?;
        self.unless_blocked(journey.arrive(state, "The page", deadline)).await
    }
}

fn no_entry(way: Way) -> Failure {
    let where_to = match way {
        Way::Back => "before",
        Way::Forward => "after",
    };
    Failure::new(ErrorCode::NotActionable, format!("The tab's history has nothing {where_to} this page."))
        .with_hint("Use `tabwire navigate URL`.")
}
