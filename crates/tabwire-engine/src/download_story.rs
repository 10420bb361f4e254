//! Which downloads an action set off, and waiting for them.

use std::collections::HashSet;

use tabwire_cdp::Deadline;
use tabwire_wire::{FrameId, TargetId};

use crate::browser::Browser;
use crate::download_log::{Download, DownloadBegun, Entries};
use crate::limits::SETTLE_DOWNLOAD;
use crate::page::Page;

/// The downloads that began since an action did, on one page.
#[derive(Clone, Debug)]
pub(crate) struct DownloadStory {
    since: u64,
    /// Those the page itself told of.
    told: Vec<DownloadBegun>,
    /// Tabs the page opened, by their main frames.
    tabs: Vec<FrameId>,
    /// How many are sure to begin, which takes as long as their site takes to answer.
    expected: usize,
}

impl DownloadStory {
    /// Begins before the action.
    pub(crate) fn begin(browser: &Browser) -> Self {
        Self {
            since: browser.downloads().log().entries().count(),
            told: Vec::new(),
            tabs: Vec::new(),
            expected: 0,
        }
    }

    /// Every download of the page that is remembered.
    pub(crate) fn of_all_times() -> Self {
        Self { since: 0, told: Vec::new(), tabs: Vec::new(), expected: 0 }
    }

    /// The page told of a download.
    pub(crate) fn add(&mut self, begun: DownloadBegun) {
        self.told.push(begun);
    }

    /// The page opened a tab.
    pub(crate) fn add_tab(&mut self, target: &TargetId) {
        self.tabs.push(FrameId::new(target.as_str()));
    }

    /// The browser was told to begin this many in all.
    pub(crate) fn expect(&mut self, count: usize) {
        self.expected = self.expected.max(count);
    }

    fn is_ours(&self, download: &Download, page: &Page, browser: &Browser) -> bool {
        let told = self.told.iter().any(|told| told.guid == download.guid);
        // A frame that no page has any more, or a tab that was opened only for it, goes with whoever acted.
        told || download.frame.as_ref().is_some_and(|frame| {
            page.driver().has_frame(frame) || self.tabs.contains(frame) || !browser.has_frame(frame)
        })
    }

    /// Those of the downloads that are the page's.
    pub(crate) fn pick(&self, entries: &Entries, page: &Page, browser: &Browser) -> Vec<Download> {
        entries.since(self.since).filter(|download| self.is_ours(download, page, browser)).cloned().collect()
    }

    /// The downloads so far.
    pub(crate) fn so_far(&self, page: &Page, browser: &Browser) -> Vec<Download> {
        self.pick(&browser.downloads().log().entries(), page, browser)
    }

    /// Waits for the first download to begin.
    pub(crate) async fn first(&self, page: &Page, browser: &Browser, deadline: Deadline) -> Option<Download> {
        let mut log = browser.downloads().log().watch();
        let begun = log.wait_for(|entries| !self.pick(entries, page, browser).is_empty());
        let begun = tokio::time::timeout_at(deadline.instant(), begun).await;
        let entries = begun.ok()?.ok()?;
        self.pick(&entries, page, browser).into_iter().next()
    }

    /// Waits for the first download to begin in a frame.
    pub(crate) async fn first_in(
        &self,
        frame: &FrameId,
        browser: &Browser,
        deadline: Deadline,
    ) -> Option<Download> {
        let mut log = browser.downloads().log().watch();
        let find = |entries: &Entries| {
            entries.since(self.since).find(|download| download.frame.as_ref() == Some(frame)).cloned()
        };
        let begun = log.wait_for(|entries| find(entries).is_some());
        let entries = tokio::time::timeout_at(deadline.instant(), begun).await.ok()?.ok()?;
        find(&entries)
    }

    /// The downloads, once those that end soon have ended.
    pub(crate) async fn told(self, page: &Page, browser: &Browser, deadline: Deadline) -> Vec<Download> {
        let downloads = browser.downloads();
        if self.told.is_empty() && self.expected == 0 && self.so_far(page, browser).is_empty() {
            return Vec::new();
        }
        if !downloads.is_listening() {
            return self.told.into_iter().map(Download::from).collect();
        }
        let guids: HashSet<&str> = self.told.iter().map(|told| told.guid.as_str()).collect();
        let mut log = downloads.log().watch();
        let over = log.wait_for(|entries| {
            let known = self.pick(entries, page, browser);
            let begun = guids.iter().all(|guid| entries.find(guid).is_some()) && known.len() >= self.expected;
            begun && known.iter().all(Download::is_over)
        });
        let until = deadline.instant().min(tokio::time::Instant::now() + SETTLE_DOWNLOAD);
        // What takes longer is told as it is.
        drop(tokio::time::timeout_at(until, over).await);
        self.so_far(page, browser)
    }
}

/// Waits until a download is over, and gives it as it is then; nothing when it was forgotten or time is up.
pub(crate) async fn await_end(browser: &Browser, guid: &str, deadline: Deadline) -> Option<Download> {
    let mut log = browser.downloads().log().watch();
    let over = log.wait_for(|entries| entries.find(guid).is_none_or(Download::is_over));
    let entries = tokio::time::timeout_at(deadline.instant(), over).await.ok()?.ok()?;
    entries.find(guid).cloned()
}
