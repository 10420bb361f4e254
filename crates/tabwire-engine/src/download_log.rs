//! What has been downloaded: what is under way, complete or failed. Knows nothing of who asked for it.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_wire::FrameId;
use tokio::sync::watch;

use crate::limits::{DOWNLOAD_BYTES, DOWNLOADS_REMEMBERED};
use crate::snapshot::PageText;

/// How far a download is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DownloadState {
    /// Bytes are still to come, or the file is not in its place yet.
    #[default]
    UnderWay,
    /// The whole file is in its place.
    Complete,
    /// There is no file.
    Failed,
}

/// One download.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Download {
    /// The name the site suggests.
    pub(crate) name: String,
    /// How far it is.
    pub(crate) state: DownloadState,
    /// Where the file is, once it is complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    /// Bytes that have come.
    pub(crate) bytes: u64,
    /// Bytes that are to come in all, when the site says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) total_bytes: Option<u64>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// Where it came from, without what may be secret.
    pub(crate) url: String,
    /// The browser's name for it.
    #[serde(skip)]
    pub(crate) guid: String,
    #[serde(skip)]
    pub(crate) frame: Option<FrameId>,
    /// The name as it was suggested, for the file.
    #[serde(skip)]
    pub(crate) suggested: String,
    /// The most bytes it may have.
    #[serde(skip)]
    pub(crate) limit: u64,
}

/// A download's beginning as the protocol tells it, for pages and for browsers alike.
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
            url: told_address(&begun.url),
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
                    "{:?} complete: {} bytes in {}",
                    self.name,
                    self.bytes,
                    self.path.as_deref().unwrap_or("?")
                )
            }
            DownloadState::Failed => {
                format!("{:?} failed: {}", self.name, self.reason.as_deref().unwrap_or("it broke off"))
            }
        }
    }
}

/// An address without its user, query and fragment: those may be secrets.
fn told_address(url: &str) -> String {
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

/// Every download of a browser since it was reached, up to a bound.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    list: VecDeque<Download>,
    /// How many there have been in all.
    count: u64,
}

impl Entries {
    pub(crate) fn find(&self, guid: &str) -> Option<&Download> {
        self.list.iter().rev().find(|download| download.guid == guid)
    }

    /// Those that began after this many, oldest first.
    pub(crate) fn since(&self, count: u64) -> impl Iterator<Item = &Download> {
        let new = usize::try_from(self.count.saturating_sub(count)).unwrap_or(usize::MAX);
        self.list.iter().skip(self.list.len().saturating_sub(new))
    }

    /// How many there have been in all.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    fn under_way(&self) -> usize {
        self.list.iter().filter(|download| !download.is_over()).count()
    }

    fn add(&mut self, download: Download) {
        if self.list.len() >= DOWNLOADS_REMEMBERED {
            // The oldest that is over; else the oldest.
            let oldest = self.list.iter().position(Download::is_over).unwrap_or(0);
            self.list.remove(oldest);
        }
        self.count += 1;
        self.list.push_back(download);
    }
}

/// The downloads of a browser, now and as they change.
#[derive(Debug, Default)]
pub(crate) struct DownloadLog {
    entries: watch::Sender<Entries>,
}

impl DownloadLog {
    /// The downloads as they are.
    pub(crate) fn entries(&self) -> watch::Ref<'_, Entries> {
        self.entries.borrow()
    }

    /// The downloads as they change.
    pub(crate) fn watch(&self) -> watch::Receiver<Entries> {
        self.entries.subscribe()
    }

    /// Notes a download; says how many are under way with it.
    pub(crate) fn begin(&self, begun: DownloadBegun) -> usize {
        let mut under_way = 0;
        self.entries.send_modify(|entries| {
            entries.add(begun.into());
            under_way = entries.under_way();
        });
        under_way
    }

    /// Changes what is known of a download that is not over.
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

    /// Notes where a download that is complete has been put.
    pub(crate) fn moved(&self, guid: &str, path: String) {
        self.entries.send_modify(|entries| {
            if let Some(download) = entries.list.iter_mut().rev().find(|download| download.guid == guid) {
                download.path = Some(path);
            }
        });
    }

    /// Notes that a complete download has been thrown away.
    pub(crate) fn discarded(&self, guid: &str, reason: &str) {
        self.entries.send_modify(|entries| {
            if let Some(download) = entries.list.iter_mut().rev().find(|download| download.guid == guid) {
                download.state = DownloadState::Failed;
                download.path = None;
                download.reason = Some(reason.to_owned());
            }
        });
    }

    /// Notes that a download has failed; one that is over stays as it is.
    pub(crate) fn fail(&self, guid: &str, reason: impl Into<String>) {
        self.change(guid, |download| {
            download.state = DownloadState::Failed;
            download.reason = Some(reason.into());
        });
    }

    /// The browser is gone, and what was under way with it.
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
    fn t39_addresses_are_told_without_what_may_be_secret() {
        let download = Download::from(begun("1"));
        assert_eq!((download.url.as_str(), download.name.as_str()), ("https://a.example/x?…", "ab .txt"));
        assert_eq!(told_address("data:text/plain,secret"), "data:…");
        assert_eq!(told_address("blob:http://a.example/1"), "blob:http://a.example/1");
    }

    #[test]
    fn the_log_keeps_to_its_bound_and_ends_each_download_once() {
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
