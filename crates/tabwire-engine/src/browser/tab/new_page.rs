//! Title and URL of a tab that a page opened, for the result of the action that caused it.

use std::time::Duration;

use serde_json::json;
use tabwire_cdp::Deadline;
use tokio::time::Instant;

use crate::action::result::NewPage;
use crate::browser::Browser;
use crate::frames::policy::site_of;
use crate::page::Page;
use crate::page::navigation::LoadState;
use crate::settle::PageInfo;
use crate::snapshot::address;

/// How long a new tab may take to show its first document, for the result that reports it.
const NEW_PAGE_TIMEOUT: Duration = Duration::from_millis(1_500);

/// How often the URL of a new tab is read from the browser's list of targets.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

impl Browser {
    /// What a new tab shows, `is_blank` if the page opened it without a URL, once its first document has loaded or a short time has passed. In a guarded session only
    /// the site: the tab's own page was not judged yet.
    pub(crate) async fn describe_new_page(
        &self,
        page: &Page,
        is_blank: bool,
        deadline: Deadline,
    ) -> Option<NewPage> {
        let until = Deadline::at(deadline.instant().min(Instant::now() + NEW_PAGE_TIMEOUT));
        let tab = self.tab_id(page);
        let is_empty = || self.find_url(page).is_none_or(|url| url.is_empty() || url == "about:blank");
        // Every new tab shows an empty document until its first navigation commits.
        while !is_blank && is_empty() && Instant::now() < until.instant() {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        // A slow document is described by its URL alone.
        let _ = page.wait_for_load_state(LoadState::DomContentLoaded, until).await;
        if !page.session().policy().is_idle() {
            let url = self.find_url(page)?;
            return Some(NewPage { tab, url: site_of(&url), title: String::new() });
        }
        match page.call::<PageInfo>("location", &json!({}), until).await {
            Ok(PageInfo { url, title }) => Some(NewPage { tab, url: address(&url), title }),
            Err(_) => Some(NewPage { tab, url: address(&self.find_url(page)?), title: String::new() }),
        }
    }
}
