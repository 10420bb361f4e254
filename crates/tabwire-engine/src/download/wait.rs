//! Waits until a download of a page has finished.

use std::collections::HashSet;
use std::time::Duration;

use tabwire_api::{ErrorCode, Failure, FrameId, Remedy, Step, TargetId};
use tabwire_cdp::Deadline;

use crate::action::context::Context;
use crate::browser::Browser;
use crate::download::log::{Download, DownloadBegun, DownloadState, Entries};
use crate::page::Page;
use crate::page::wait::WaitResult;

/// How long an action waits for downloads that it started. Slower ones are reported as in progress.
const SETTLE_DOWNLOAD: Duration = Duration::from_secs(1);

impl Page {
    /// Waits until a download finishes that is in progress or starts from now on.
    pub(crate) async fn wait_for_download(&self, context: &Context) -> Result<WaitResult, Failure> {
        let browser = &context.browser;
        let _borrowed = browser.downloads().borrow_downloads(&context.files);
        let story = StartedDownloads::of_all_times();
        let before = story.so_far(self, browser);
        let over: HashSet<String> =
            before.into_iter().filter(Download::is_over).map(|download| download.guid).collect();
        let ended = |entries: &Entries| {
            let ours = story.pick(entries, self, browser);
            ours.into_iter().find(|download| download.is_over() && !over.contains(&download.guid))
        };
        let mut log = browser.downloads().log().watch();
        let began = tokio::time::Instant::now();
        let found = self
            .unless_blocked(async {
                let found = log.wait_for(|entries| ended(entries).is_some());
                let found = tokio::time::timeout_at(context.deadline.instant(), found).await;
                Ok(found.ok().and_then(Result::ok).and_then(|entries| ended(&entries)))
            })
            .await?;
        let Some(download) = found else {
            let mut under_way =
                story.so_far(self, browser).into_iter().filter(|download| !download.is_over());
            let so_far =
                under_way.next().map(|download| format!(" {}.", download.line())).unwrap_or_default();
            let message = format!("No download finished within {} ms.{so_far}", began.elapsed().as_millis());
            return Err(Failure::new(ErrorCode::Timeout, message).with_remedy(Remedy::new(
                "{} lists finished downloads. Start the wait before or right after the click.",
                [Step::action("downloads")],
            )));
        };
        if download.state == DownloadState::Failed {
            let reason = download.reason.as_deref().unwrap_or("it was interrupted");
            let message = format!("The download of {:?} failed: {reason}.", download.name);
            return Err(Failure::new(ErrorCode::DownloadFailed, message));
        }
        Ok(WaitResult::new(format!("{:?} is downloaded", download.name)).with_detail(download.path))
    }
}

/// The downloads that started on a page since an action began.
#[derive(Clone, Debug)]
pub(crate) struct StartedDownloads {
    since: u64,
    /// Downloads that the page reported.
    reported: Vec<DownloadBegun>,
    /// Tabs that the page opened, by main frame id.
    tabs: Vec<FrameId>,
    /// Downloads that will start once their site responds.
    expected: usize,
}

impl StartedDownloads {
    /// Starts to watch; call it before the action.
    pub(crate) fn begin(browser: &Browser) -> Self {
        Self {
            since: browser.downloads().log().entries().count(),
            reported: Vec::new(),
            tabs: Vec::new(),
            expected: 0,
        }
    }

    /// All downloads of the page in the log.
    pub(crate) fn of_all_times() -> Self {
        Self { since: 0, reported: Vec::new(), tabs: Vec::new(), expected: 0 }
    }

    /// The page reported a download.
    pub(crate) fn add(&mut self, begun: DownloadBegun) {
        self.reported.push(begun);
    }

    /// The page opened a tab.
    pub(crate) fn add_tab(&mut self, target: &TargetId) {
        self.tabs.push(FrameId::new(target.as_str()));
    }

    /// The total number of downloads that were requested.
    pub(crate) fn expect(&mut self, count: usize) {
        self.expected = self.expected.max(count);
    }

    fn is_ours(&self, download: &Download, page: &Page, browser: &Browser) -> bool {
        let is_reported = self.reported.iter().any(|begun| begun.guid == download.guid);
        // A frame without a page, or a tab that was opened only for the download, belongs to the action.
        is_reported
            || download.frame.as_ref().is_some_and(|frame| {
                page.session().has_frame(frame) || self.tabs.contains(frame) || !browser.has_frame(frame)
            })
    }

    /// The downloads of the page.
    pub(crate) fn pick(&self, entries: &Entries, page: &Page, browser: &Browser) -> Vec<Download> {
        entries.since(self.since).filter(|download| self.is_ours(download, page, browser)).cloned().collect()
    }

    /// The downloads so far.
    pub(crate) fn so_far(&self, page: &Page, browser: &Browser) -> Vec<Download> {
        self.pick(&browser.downloads().log().entries(), page, browser)
    }

    /// Waits for the first download to start.
    pub(crate) async fn first(&self, page: &Page, browser: &Browser, deadline: Deadline) -> Option<Download> {
        let mut log = browser.downloads().log().watch();
        let begun = log.wait_for(|entries| !self.pick(entries, page, browser).is_empty());
        let begun = tokio::time::timeout_at(deadline.instant(), begun).await;
        let entries = begun.ok()?.ok()?;
        self.pick(&entries, page, browser).into_iter().next()
    }

    /// Waits for the first download to start in a frame.
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

    /// The downloads, after waiting for those that finish soon.
    pub(crate) async fn finish(self, page: &Page, browser: &Browser, deadline: Deadline) -> Vec<Download> {
        let downloads = browser.downloads();
        if self.reported.is_empty() && self.expected == 0 && self.so_far(page, browser).is_empty() {
            return Vec::new();
        }
        if !downloads.is_listening() {
            return self.reported.into_iter().map(Download::from).collect();
        }
        let guids: HashSet<&str> = self.reported.iter().map(|begun| begun.guid.as_str()).collect();
        let mut log = downloads.log().watch();
        let over = log.wait_for(|entries| {
            let known = self.pick(entries, page, browser);
            let begun = guids.iter().all(|guid| entries.find(guid).is_some()) && known.len() >= self.expected;
            begun && known.iter().all(Download::is_over)
        });
        let until = deadline.instant().min(tokio::time::Instant::now() + SETTLE_DOWNLOAD);
        // Slower ones are reported in progress.
        drop(tokio::time::timeout_at(until, over).await);
        self.so_far(page, browser)
    }
}

/// Waits until a download is finished and returns it; none when it was dropped from the log or time is up.
pub(crate) async fn await_end(browser: &Browser, guid: &str, deadline: Deadline) -> Option<Download> {
    let mut log = browser.downloads().log().watch();
    let over = log.wait_for(|entries| entries.find(guid).is_none_or(Download::is_over));
    let entries = tokio::time::timeout_at(deadline.instant(), over).await.ok()?.ok()?;
    entries.find(guid).cloned()
}
