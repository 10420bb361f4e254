//! The log of downloads: in progress, complete or failed.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::FrameId;
use tokio::sync::watch;

use crate::download::mime_type::mime_type_of;
use crate::limits::DOWNLOAD_BYTES;
use crate::snapshot::PageText;

/// Downloads in the log of a browser. The oldest are dropped first; their files stay.
const DOWNLOADS_REMEMBERED: usize = 200;

/// The state of a download.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DownloadState {
    /// In progress, or not moved to its final path yet.
    #[default]
    UnderWay,
    /// The whole file is at its final path.
    Complete,
    /// There is no file.
    Failed,
}

/// One download.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Download {
    /// The file name that the site suggests.
    pub(crate) name: String,
    /// Its MIME type: as the response says, else by the ending of that name; none if neither is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mime_type: Option<String>,
    /// Its state.
    pub(crate) state: DownloadState,
    /// The path of the file, once it is complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    /// Bytes received.
    pub(crate) bytes: u64,
    /// Total bytes, when the site sends a length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) total_bytes: Option<u64>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// The URL, without parts that may be secret.
    pub(crate) url: String,
    /// The CDP id.
    #[serde(skip)]
    pub(crate) guid: String,
    #[serde(skip)]
    pub(crate) frame: Option<FrameId>,
    /// The suggested name, for the file.
    #[serde(skip)]
    pub(crate) suggested: String,
    /// The size limit in bytes.
    #[serde(skip)]
    pub(crate) limit: u64,
}

/// The CDP event of a new download, from a page or from the browser.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DownloadBegun {
    pub(crate) frame_id: FrameId,
    #[serde(default)]
    pub(crate) guid: String,
    #[serde(default)]
    pub(crate) url: String,
    #[serde(default)]
    pub(crate) suggested_filename: String,
}

impl From<DownloadBegun> for Download {
    fn from(begun: DownloadBegun) -> Self {
        Self {
            name: PageText::cut(&begun.suggested_filename, 200).as_str().to_owned(),
            mime_type: mime_type_of(&begun.suggested_filename).map(str::to_owned),
            url: safe_url(&begun.url),
            guid: begun.guid,
            frame: Some(begun.frame_id),
            suggested: begun.suggested_filename,
            limit: DOWNLOAD_BYTES,
            ..Self::default()
        }
    }
}

impl Download {
    pub(crate) fn is_over(&self) -> bool {
        self.state != DownloadState::UnderWay
    }

    /// The download as one line.
    pub(crate) fn line(&self) -> String {
        let of = self.total_bytes.map(|total| format!(" of {total}")).unwrap_or_default();
        match self.state {
            DownloadState::UnderWay => format!("{:?} under way: {}{of} bytes", self.name, self.bytes),
            DownloadState::Complete => {
                format!(
                    "{:?} complete: {} bytes{} in {}",
                    self.name,
                    self.bytes,
                    self.mime_type.as_ref().map(|kind| format!(" of {kind}")).unwrap_or_default(),
                    self.path.as_deref().unwrap_or("?")
                )
            }
            DownloadState::Failed => {
                format!("{:?} failed: {}", self.name, self.reason.as_deref().unwrap_or("it was interrupted"))
            }
        }
    }
}

/// A URL without user, query and fragment, which may be secret.
pub(crate) fn safe_url(url: &str) -> String {
    if url.starts_with("data:") {
        return "data:…".to_owned();
    }
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let (address, more) = (&url[..end], if end < url.len() { "?…" } else { "" });
    let address = match address.split_once("://") {
        Some((scheme, rest)) => {
            let slash = rest.find('/').unwrap_or(rest.len());
            let host = rest[..slash].rsplit('@').next().unwrap_or_default();
            format!("{scheme}://{host}{}", &rest[slash..])
        }
        None => address.to_owned(),
    };
    PageText::cut(&format!("{address}{more}"), 300).as_str().to_owned()
}

/// The downloads of a browser since it was attached, up to a limit.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    list: VecDeque<Download>,
    /// Total number of downloads.
    count: u64,
}

impl Entries {
    pub(crate) fn find(&self, guid: &str) -> Option<&Download> {
        self.list.iter().rev().find(|download| download.guid == guid)
    }

    /// The downloads after this number, oldest first.
    pub(crate) fn since(&self, count: u64) -> impl Iterator<Item = &Download> {
        let new = usize::try_from(self.count.saturating_sub(count)).unwrap_or(usize::MAX);
        self.list.iter().skip(self.list.len().saturating_sub(new))
    }

    /// Total number of downloads.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    fn in_progress(&self) -> usize {
        self.list.iter().filter(|download| !download.is_over()).count()
    }

    fn add(&mut self, download: Download) {
        if self.list.len() >= DOWNLOADS_REMEMBERED {
            // Drop the oldest finished one; else the oldest.
            let oldest = self.list.iter().position(Download::is_over).unwrap_or(0);
            self.list.remove(oldest);
        }
        self.count += 1;
        self.list.push_back(download);
    }
}

/// The downloads of a browser, with change notifications.
#[derive(Debug, Default)]
pub(crate) struct DownloadLog {
    entries: watch::Sender<Entries>,
}

impl DownloadLog {
    /// The current downloads.
    pub(crate) fn entries(&self) -> watch::Ref<'_, Entries> {
        self.entries.borrow()
    }

    /// A receiver of changes.
    pub(crate) fn watch(&self) -> watch::Receiver<Entries> {
        self.entries.subscribe()
    }

    /// Adds a download; returns how many are in progress.
    pub(crate) fn begin(&self, begun: DownloadBegun) -> usize {
        let mut under_way = 0;
        self.entries.send_modify(|entries| {
            entries.add(begun.into());
            under_way = entries.in_progress();
        });
        under_way
    }

    /// Updates a download that is in progress.
    pub(crate) fn change(&self, guid: &str, change: impl FnOnce(&mut Download)) {
        self.entries.send_if_modified(|entries| {
            let found =
                entries.list.iter_mut().rev().find(|download| download.guid == guid && !download.is_over());
            let is_known = found.is_some();
            if let Some(download) = found {
                change(download);
            }
            is_known
        });
    }

    /// Records the path of a complete download.
    pub(crate) fn moved(&self, guid: &str, path: String) {
        self.entries.send_modify(|entries| {
            if let Some(download) = entries.list.iter_mut().rev().find(|download| download.guid == guid) {
                download.path = Some(path);
            }
        });
    }

    /// Records the MIME type that the response says.
    pub(crate) fn set_mime_type(&self, guid: &str, mime_type: String) {
        self.entries.send_modify(|entries| {
            if let Some(download) = entries.list.iter_mut().rev().find(|download| download.guid == guid) {
                download.mime_type = Some(mime_type);
            }
        });
    }

    /// Records that a complete download was deleted.
    pub(crate) fn discarded(&self, guid: &str, reason: &str) {
        self.entries.send_modify(|entries| {
            if let Some(download) = entries.list.iter_mut().rev().find(|download| download.guid == guid) {
                download.state = DownloadState::Failed;
                download.path = None;
                download.reason = Some(reason.to_owned());
            }
        });
    }

    /// Records a failure; a finished download stays as it is.
    pub(crate) fn fail(&self, guid: &str, reason: impl Into<String>) {
        self.change(guid, |download| {
            download.state = DownloadState::Failed;
            download.reason = Some(reason.into());
        });
    }

    /// Fails all downloads in progress, because the browser is gone.
    pub(crate) fn fail_all(&self, reason: &str) {
        self.entries.send_modify(|entries| {
            for download in entries.list.iter_mut().filter(|download| !download.is_over()) {
                download.state = DownloadState::Failed;
                download.reason = Some(reason.to_owned());
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun(guid: &str) -> DownloadBegun {
        DownloadBegun {
            frame_id: FrameId::new("f"),
            guid: guid.to_owned(),
            url: "https://user:pass@a.example/x?token=secret#y".to_owned(),
            suggested_filename: "a\u{202e}b\n.txt".to_owned(),
        }
    }

    #[test]
    fn t39_urls_are_listed_without_secrets() {
        let download = Download::from(begun("1"));
        assert_eq!((download.url.as_str(), download.name.as_str()), ("https://a.example/x?…", "ab .txt"));
        assert_eq!(safe_url("data:text/plain,secret"), "data:…");
        assert_eq!(safe_url("blob:http://a.example/1"), "blob:http://a.example/1");
    }

    #[test]
    fn the_log_is_bounded_and_each_download_ends_once() {
        let log = DownloadLog::default();
        for number in 0..DOWNLOADS_REMEMBERED + 5 {
            log.begin(begun(&number.to_string()));
        }
        assert_eq!(log.entries().since(0).count(), DOWNLOADS_REMEMBERED);
        let last = (DOWNLOADS_REMEMBERED + 4).to_string();
        log.fail(&last, "first");
        log.fail(&last, "second");
        assert_eq!(
            log.entries().find(&last).and_then(|download| download.reason.clone()).as_deref(),
            Some("first")
        );
        let count = log.entries().count();
        log.begin(begun("new"));
        assert_eq!(
            log.entries().since(count).map(|download| download.guid.clone()).collect::<Vec<_>>(),
            ["new"]
        );
        log.fail_all("gone");
        assert!(log.entries().since(0).all(Download::is_over));
    }
}
