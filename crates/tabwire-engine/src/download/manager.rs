//! Follows the downloads of a browser, moves complete files and cancels those that are too large.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use serde::Deserialize;
use serde_json::json;
use tabwire_api::{Failure, TargetId};
use tabwire_cdp::{
    CdpError, CdpSession, Connection, Event, EventFilter, EventStream, TargetRegistry, TaskGroup,
};

use crate::download::log::{DownloadBegun, DownloadLog, DownloadState};
use crate::feed::{EventFeed, EventKind};
use crate::files::{Files, RemoteFiles};
use crate::limits::SETUP_DEADLINE;

/// Concurrent downloads. Further ones are cancelled.
const DOWNLOADS_AT_ONCE: usize = 32;

/// The downloads of a browser.
#[derive(Debug)]
pub(crate) struct DownloadManager {
    log: DownloadLog,
    browser: CdpSession,
    feed: EventFeed,
    /// Where complete files go; none while the browser's user handles downloads.
    files: Mutex<Option<Arc<dyn Files>>>,
    /// The machine of a browser that runs elsewhere.
    remote: OnceLock<Arc<dyn RemoteFiles>>,
    /// The rule for downloads; without one, all are allowed.
    rule: OnceLock<DownloadRule>,
    /// The pages of the browser, for the rule.
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
    /// Where the file is, as its browser names it.
    #[serde(default)]
    file_path: String,
}

/// A byte count of CDP, which sends floats.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count of bytes that was sent as a float"
)]
fn bytes(number: f64) -> u64 {
    number.max(0.0) as u64
}

impl DownloadManager {
    /// Follows the downloads of a browser. With files, all are kept; without, only requested ones.
    pub(crate) fn start(
        connection: &Connection,
        files: Option<Arc<dyn Files>>,
        tasks: &TaskGroup,
        feed: EventFeed,
    ) -> Arc<Self> {
        let browser = connection.browser();
        let methods = ["Browser.downloadWillBegin", "Browser.downloadProgress"];
        let events = browser.events(EventFilter::methods(methods));
        let always = files.clone();
        let manager = Arc::new(Self {
            log: DownloadLog::default(),
            browser,
            feed,
            files: Mutex::new(None),
            remote: OnceLock::new(),
            rule: OnceLock::new(),
            pages: OnceLock::new(),
        });
        tasks.start("downloads", follow(events, Arc::downgrade(&manager), tasks.clone()));
        if let Some(files) = always {
            manager.take_over(files);
        }
        manager
    }

    /// Follows the downloads of a browser on another machine, which keeps them until they are fetched.
    pub(crate) fn follow_remote(&self, remote: Arc<dyn RemoteFiles>, files: Arc<dyn Files>) {
        // The first machine stays: a browser does not move.
        let _ = self.remote.set(remote);
        *self.files.lock().unwrap_or_else(PoisonError::into_inner) = Some(files);
        let params = json!({"behavior": "default", "eventsEnabled": true});
        // If the browser refuses, it reports no downloads, and waits for a download time out.
        self.browser.post("Browser.setDownloadBehavior", &params, SETUP_DEADLINE);
    }

    /// The machine of a browser that runs elsewhere.
    pub(crate) fn remote(&self) -> Option<&Arc<dyn RemoteFiles>> {
        self.remote.get()
    }

    /// Sets the rule, once.
    pub(crate) fn set_rule(&self, rule: DownloadRule, pages: TargetRegistry) {
        let _ = self.pages.set(pages);
        // The first rule stays: a second call must not widen it.
        let _ = self.rule.set(rule);
    }

    /// The URL of the page where a download started; none for a frame in another process.
    fn page_of(&self, begun: &DownloadBegun) -> Option<String> {
        let page = self.pages.get()?.find(&TargetId::new(begun.frame_id.as_str()))?;
        Some(page.url)
    }

    /// The log.
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

    /// Takes over the downloads of the browser.
    fn take_over(&self, files: Arc<dyn Files>) {
        let directory = files.download_directory();
        *self.files.lock().unwrap_or_else(PoisonError::into_inner) = Some(files);
        // Under its GUID: a name that a site suggests never becomes a path here.
        let params = json!({"behavior": "allowAndName", "downloadPath": directory, "eventsEnabled": true});
        // If the browser refuses, it reports no downloads, and waits for a download time out.
        self.browser.post("Browser.setDownloadBehavior", &params, SETUP_DEADLINE);
    }

    /// Takes over the downloads of a user's browser while the guard lives.
    pub(crate) fn borrow_downloads(&self, files: &Arc<dyn Files>) -> Option<DownloadsLease<'_>> {
        if self.is_listening() {
            return None;
        }
        self.take_over(Arc::clone(files));
        Some(DownloadsLease(self))
    }

    /// Cancels a download.
    pub(crate) fn cancel(&self, guid: &str, reason: &str) {
        self.log.fail(guid, reason);
        // It may be finished already; the result is the same.
        self.browser.post("Browser.cancelDownload", &json!({"guid": guid}), SETUP_DEADLINE);
    }

    /// Sets the size limit of a download.
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
            let facts = json!({"guid": begun.guid, "url": begun.url, "name": begun.suggested_filename});
            let (target, url) = (TargetId::new(begun.frame_id.as_str()), begun.url.clone());
            let is_allowed =
                self.rule.get().is_none_or(|rule| rule.allows(&begun.url, self.page_of(&begun).as_deref()));
            if self.log.begin(begun) > DOWNLOADS_AT_ONCE {
                self.cancel(&guid, "too many downloads were in progress at once");
            } else if !is_allowed {
                self.cancel(&guid, "the policy does not let files be written from there");
            }
            self.feed.emit(EventKind::Download, &target, || {
                let urls = Some(url).filter(|url| url.starts_with("http"));
                (urls.into_iter().collect(), facts)
            });
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
                let manager = Arc::clone(self);
                let Progress { guid, file_path, .. } = progress;
                tasks.start("keep-download", async move { manager.keep(guid, &file_path).await });
            }
            "canceled" => {
                let of = bytes(progress.total_bytes);
                let reason = if of > 0 {
                    format!(
                        "it was interrupted or cancelled after {} of {of} bytes",
                        bytes(progress.received_bytes)
                    )
                } else {
                    "it was interrupted or cancelled".to_owned()
                };
                self.log.fail(&progress.guid, reason);
            }
            _ => {}
        }
    }

    /// Moves a whole file to its final path; only then is the download complete.
    async fn keep(&self, guid: String, file_path: &str) {
        let Some(files) = self.files() else { return };
        if let Some(remote) = self.remote() {
            let suggested = self.log.entries().find(&guid).map(|found| found.suggested.clone());
            // The browser may have added a number to the name.
            let named = file_path.rsplit(['/', '\\']).next().filter(|name| !name.is_empty());
            let name = named.map(str::to_owned).or(suggested).unwrap_or_default();
            let to = files.download_directory().join(&guid);
            if let Err(failure) = remote.fetch(&name, &to).await {
                return self.log.fail(&guid, format!("it could not be fetched: {}", failure.message));
            }
        }
        let found = self.log.entries().find(&guid).map(|found| (found.is_over(), found.suggested.clone()));
        let Some((false, suggested)) = found else {
            // It finished before the cancellation.
            return files.discard_download(&files.download_directory().join(guid));
        };
        let kept = keep_file(files, None, guid.clone(), suggested, None).await;
        match kept {
            Ok(path) => self.log.change(&guid, |download| {
                download.state = DownloadState::Complete;
                download.path = Some(path.display().to_string());
            }),
            Err(failure) => self.log.fail(&guid, format!("it could not be stored: {}", failure.message)),
        }
    }

    /// Deletes a download.
    pub(crate) fn discard(&self, guid: &str) {
        let path = self.log.entries().find(guid).and_then(|found| found.path.clone());
        if let (Some(path), Some(files)) = (path, self.files()) {
            files.discard_download(&PathBuf::from(path));
        }
        self.log.discarded(guid, "it was too large");
    }

    /// Moves a complete download to another path.
    pub(crate) async fn put(
        &self,
        guid: &str,
        files: Arc<dyn Files>,
        path: PathBuf,
    ) -> Result<PathBuf, Failure> {
        let found = self.log.entries().find(guid).map(|found| (found.path.clone(), found.suggested.clone()));
        let (from, suggested) = found.unwrap_or_default();
        let moved = keep_file(files, from.map(PathBuf::from), guid.to_owned(), suggested, Some(path)).await?;
        self.log.moved(guid, moved.display().to_string());
        Ok(moved)
    }
}

pub(crate) fn size_reason(size: u64, limit: u64) -> String {
    format!("it has {size} bytes or more, and the limit is {limit}")
}

/// Runs on a blocking thread: a move to another file system takes time.
async fn keep_file(
    files: Arc<dyn Files>,
    from: Option<PathBuf>,
    guid: String,
    suggested: String,
    to: Option<PathBuf>,
) -> Result<PathBuf, Failure> {
    let work = move || {
        let from = from.unwrap_or_else(|| files.download_directory().join(guid));
        files.store_download(&from, &suggested, to.as_deref())
    };
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        let message = format!("Storing the download failed: {error}.");
        Err(Failure::new(tabwire_api::ErrorCode::Internal, message))
    })
}

/// Returns the downloads to the browser's user on drop.
pub(crate) struct DownloadsLease<'a>(&'a DownloadManager);

impl Drop for DownloadsLease<'_> {
    fn drop(&mut self) {
        *self.0.files.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let params = json!({"behavior": "default", "eventsEnabled": false});
        // A browser that refuses leaves nothing to do.
        self.0.browser.post("Browser.setDownloadBehavior", &params, SETUP_DEADLINE);
    }
}

async fn follow(mut events: EventStream, manager: Weak<DownloadManager>, tasks: TaskGroup) {
    loop {
        let event = events.next().await;
        let Some(manager) = manager.upgrade() else { return };
        match event {
            Ok(event) => manager.take(&event, &tasks),
            Err(CdpError::Missed { count }) => tracing::warn!(count, "download events were missed"),
            Err(_) => return manager.log.fail_all("the browser is gone"),
        }
    }
}

/// Decides whether a download may happen, by its URL and the URL of its page if known.
type Rule = Arc<dyn Fn(&str, Option<&str>) -> bool + Send + Sync>;

/// The rule for downloads.
#[derive(Clone)]
pub struct DownloadRule(Rule);

impl DownloadRule {
    /// Creates a rule from a function of the download's URL and the page's URL, if known.
    pub fn new(may_happen: impl Fn(&str, Option<&str>) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(may_happen))
    }

    pub(crate) fn allows(&self, address: &str, page: Option<&str>) -> bool {
        (self.0)(address, page)
    }
}

impl fmt::Debug for DownloadRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("DownloadRule")
    }
}
