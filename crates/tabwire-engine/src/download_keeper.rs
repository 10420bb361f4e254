//! Follows a browser's downloads, puts complete ones where they belong and cancels those that are too large.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use serde::Deserialize;
use serde_json::json;
use tabwire_cdp::{
    CdpError, CdpSession, Connection, Event, EventFilter, EventStream, TargetRegistry, TaskGroup,
};
use tabwire_wire::{Failure, TargetId};

use crate::download_log::{DownloadBegun, DownloadLog, DownloadState};
use crate::download_rule::DownloadRule;
use crate::files::Files;
use crate::limits::{DOWNLOADS_AT_ONCE, SETUP_DEADLINE};

/// A browser's downloads and what becomes of them.
#[derive(Debug)]
pub(crate) struct DownloadKeeper {
    log: DownloadLog,
    browser: CdpSession,
    /// Where complete files go; none while the browser's downloads are its user's business.
    files: Mutex<Option<Arc<dyn Files>>>,
    /// Which downloads are let happen; all if nobody says.
    rule: OnceLock<DownloadRule>,
    /// The browser's pages, for the rule.
    pages: OnceLock<TargetRegistry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Progress {
    guid: String,
    #[serde(default)]
    total_bytes: f64,
    #[serde(default)]
    received_bytes: f64,
    state: String,
}

/// Bytes as the protocol writes them.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count of bytes that was sent as a float"
)]
fn bytes(number: f64) -> u64 {
    number.max(0.0) as u64
}

impl DownloadKeeper {
    /// Follows the downloads of a browser. With files, every one is kept; without, only those asked for.
    pub(crate) fn start(
        connection: &Connection,
        files: Option<Arc<dyn Files>>,
        tasks: &TaskGroup,
    ) -> Arc<Self> {
        let browser = connection.browser();
        let methods = ["Browser.downloadWillBegin", "Browser.downloadProgress"];
        let events = browser.events(EventFilter::methods(methods));
        let always = files.clone();
        let keeper = Arc::new(Self {
            log: DownloadLog::default(),
            browser,
            files: Mutex::new(None),
            rule: OnceLock::new(),
            pages: OnceLock::new(),
        });
        tasks.start("downloads", follow(events, Arc::downgrade(&keeper), tasks.clone()));
        if let Some(files) = always {
            keeper.take_over(files);
        }
        keeper
    }

    /// Decides once which downloads are let happen.
    pub(crate) fn set_rule(&self, rule: DownloadRule, pages: TargetRegistry) {
        let _ = self.pages.set(pages);
        // The first one stays: a session is not let loose by asking again.
        let _ = self.rule.set(rule);
    }

    /// Where the page is that a download began on; none when it began in a frame of another process.
    fn page_of(&self, begun: &DownloadBegun) -> Option<String> {
        let page = self.pages.get()?.find(&TargetId::new(begun.frame_id.as_str()))?;
        Some(page.url)
    }

    /// What has been downloaded.
    pub(crate) fn log(&self) -> &DownloadLog {
        &self.log
    }

    fn files(&self) -> Option<Arc<dyn Files>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether downloads are followed now.
    pub(crate) fn is_listening(&self) -> bool {
        self.files().is_some()
    }

    /// Has the browser give us its downloads from now on.
    fn take_over(&self, files: Arc<dyn Files>) {
        let directory = files.download_directory();
        *self.files.lock().unwrap_or_else(PoisonError::into_inner) = Some(files);
        let params = json!({"behavior": "allowAndName", "downloadPath": directory, "eventsEnabled": true});
        // A browser that refuses tells of no download, which whoever waits for one finds out.
        let _ = self.browser.begin("Browser.setDownloadBehavior", &params, SETUP_DEADLINE);
    }

    /// Has a browser whose downloads are its user's business give them to us for as long as the guard lives.
    pub(crate) fn borrow_downloads(&self, files: &Arc<dyn Files>) -> Option<Borrowed<'_>> {
        if self.is_listening() {
            return None;
        }
        self.take_over(Arc::clone(files));
        Some(Borrowed(self))
    }

    /// Stops a download that is under way.
    pub(crate) fn cancel(&self, guid: &str, reason: &str) {
        self.log.fail(guid, reason);
        // It may be over already; either way nothing more is wanted of it.
        let _ = self.browser.begin("Browser.cancelDownload", &json!({"guid": guid}), SETUP_DEADLINE);
    }

    /// Sets how large a download may become.
    pub(crate) fn limit(&self, guid: &str, limit: u64) {
        self.log.change(guid, |download| download.limit = limit);
        self.check_size(guid);
    }

    fn check_size(&self, guid: &str) {
        let too_large = self.log.entries().find(guid).and_then(|download| {
            let size = download.bytes.max(download.total_bytes.unwrap_or(0));
            (size > download.limit && !download.is_over()).then_some((size, download.limit))
        });
        if let Some((size, limit)) = too_large {
            self.cancel(guid, &size_reason(size, limit));
        }
    }

    fn take(self: &Arc<Self>, event: &Event, tasks: &TaskGroup) {
        if event.method() == "Browser.downloadWillBegin" {
            let Ok(begun) = event.to::<DownloadBegun>() else { return };
            let guid = begun.guid.clone();
            let is_allowed =
                self.rule.get().is_none_or(|rule| rule.allows(&begun.url, self.page_of(&begun).as_deref()));
            if self.log.begin(begun) > DOWNLOADS_AT_ONCE {
                self.cancel(&guid, "too many downloads were under way at once");
            } else if !is_allowed {
                self.cancel(&guid, "the policy does not let files be written from there");
            }
            return;
        }
        let Ok(progress) = event.to::<Progress>() else { return };
        self.log.change(&progress.guid, |download| {
            download.bytes = bytes(progress.received_bytes);
            download.total_bytes = Some(bytes(progress.total_bytes)).filter(|total| *total > 0);
        });
        self.check_size(&progress.guid);
        match progress.state.as_str() {
            "completed" => {
                let keeper = Arc::clone(self);
                tasks.start("keep-download", async move { keeper.keep(progress.guid).await });
            }
            "canceled" => {
                let of = bytes(progress.total_bytes);
                let reason = if of > 0 {
                    format!(
                        "it broke off or was cancelled after {} of {of} bytes",
                        bytes(progress.received_bytes)
                    )
                } else {
                    "it broke off or was cancelled".to_owned()
                };
                self.log.fail(&progress.guid, reason);
            }
            _ => {}
        }
    }

    /// Puts a file that is whole in its place; only then is the download complete.
    async fn keep(&self, guid: String) {
        let Some(files) = self.files() else { return };
        let found = self.log.entries().find(&guid).map(|found| (found.is_over(), found.suggested.clone()));
        let Some((false, suggested)) = found else {
            // It was to be cancelled, and was faster.
            return files.discard_download(&files.download_directory().join(guid));
        };
        let kept = keep_file(files, None, guid.clone(), suggested, None).await;
        match kept {
            Ok(path) => self.log.change(&guid, |download| {
                download.state = DownloadState::Complete;
                download.path = Some(path.display().to_string());
            }),
            Err(failure) => self.log.fail(&guid, format!("it could not be kept: {}", failure.message)),
        }
    }

    /// Throws away a download that is not wanted after all.
    pub(crate) fn discard(&self, guid: &str) {
        let path = self.log.entries().find(guid).and_then(|found| found.path.clone());
        if let (Some(path), Some(files)) = (path, self.files()) {
            files.discard_download(&PathBuf::from(path));
        }
        self.log.discarded(guid, "it was too large");
    }

    /// Moves a complete download to where its asker wants it.
    pub(crate) async fn put(
        &self,
        guid: &str,
        files: Arc<dyn Files>,
        wish: PathBuf,
    ) -> Result<PathBuf, Failure> {
        let found = self.log.entries().find(guid).map(|found| (found.path.clone(), found.suggested.clone()));
        let (path, suggested) = found.unwrap_or_default();
        let moved = keep_file(files, path.map(PathBuf::from), guid.to_owned(), suggested, Some(wish)).await?;
        self.log.moved(guid, moved.display().to_string());
        Ok(moved)
    }
}

pub(crate) fn size_reason(size: u64, limit: u64) -> String {
    format!("it has {size} bytes or more, and {limit} are the most")
}

/// Moving a file to another file system takes time, and nothing else should wait for it.
async fn keep_file(
    files: Arc<dyn Files>,
    from: Option<PathBuf>,
    guid: String,
    suggested: String,
    wish: Option<PathBuf>,
) -> Result<PathBuf, Failure> {
    let work = move || {
        let from = from.unwrap_or_else(|| files.download_directory().join(guid));
        files.keep_download(&from, &suggested, wish.as_deref())
    };
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        let message = format!("Keeping the download ended early: {error}.");
        Err(Failure::new(tabwire_wire::ErrorCode::Internal, message))
    })
}

/// Gives the browser's downloads back to its user when it goes.
pub(crate) struct Borrowed<'a>(&'a DownloadKeeper);

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        *self.0.files.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let params = json!({"behavior": "default", "eventsEnabled": false});
        // Nothing can be done about a browser that refuses.
        let _ = self.0.browser.begin("Browser.setDownloadBehavior", &params, SETUP_DEADLINE);
    }
}

async fn follow(mut events: EventStream, keeper: Weak<DownloadKeeper>, tasks: TaskGroup) {
    loop {
        let event = events.next().await;
        let Some(keeper) = keeper.upgrade() else { return };
        match event {
            Ok(event) => keeper.take(&event, &tasks),
            Err(CdpError::Missed { count }) => tracing::warn!(count, "news of downloads were missed"),
            Err(_) => return keeper.log.fail_all("the browser is gone"),
        }
    }
}
