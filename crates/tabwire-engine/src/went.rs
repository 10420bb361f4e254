//! What an action that went somewhere answers.

use schemars::JsonSchema;
use serde::Serialize;
use tabwire_cdp::Deadline;
use tabwire_wire::{Failure, TabId};

use crate::action::Render;
use crate::bare_value::BareValue;
use crate::browser::Browser;
use crate::navigation::Arrival;
use crate::page::Page;
use crate::settle::Place;
use crate::snapshot::{address, line_address, title};

/// Where the tab is now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Went {
    /// The tab.
    #[schemars(with = "String")]
    pub tab: TabId,
    /// Its address.
    pub url: String,
    /// Its title.
    pub title: String,
    /// How it got there.
    #[serde(flatten)]
    pub arrival: Arrival,
}

impl Went {
    /// Says where a page has arrived.
    pub(crate) async fn tell(
        browser: &Browser,
        page: &Page,
        arrival: Arrival,
        deadline: Deadline,
    ) -> Result<Self, Failure> {
        let place: Place = page.call("place", &serde_json::json!({}), deadline).await?;
        Ok(Self { tab: browser.tab_of(page), url: address(&place.url), title: place.title, arrival })
    }
}

impl Render for Went {
    fn render(&self) -> String {
        let mut line = format!("{}  {}", self.tab, line_address(&self.url));
        if let Some(status) = self.arrival.status.filter(|status| *status >= 300) {
            line.push_str(&format!("  (HTTP {status})"));
        }
        let mut lines = vec![line];
        if !self.title.is_empty() {
            lines.push(format!("# {}", title(&self.title).quoted()));
        }
        lines.extend(
            self.arrival.redirects.iter().map(|url| format!("redirected from {}", line_address(url))),
        );
        lines.join("\n")
    }

    fn bare(&self) -> Option<BareValue> {
        Some(BareValue::whole(self.url.clone()))
    }
}
