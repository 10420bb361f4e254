//! Tracks what an action started, from events: requests, navigations, windows, downloads.

use std::collections::HashMap;
use std::time::Duration;

use serde::Deserialize;
use tabwire_api::FrameId;
use tabwire_cdp::Event;
use tokio::time::Instant;

use crate::download::log::DownloadBegun;
/// How long a request with a response counts as active without `loadingFinished`. Many pages never read a response to
/// its end, and then Chrome never reports the end.
const UNREAD_RESPONSE: Duration = Duration::from_millis(200);

/// The events that the tracker reads.
pub(crate) const METHODS: &[&str] = &[
    "Page.frameStartedNavigating",
    "Page.frameNavigated",
    "Page.navigatedWithinDocument",
    "Page.lifecycleEvent",
    "Page.frameStoppedLoading",
    "Page.javascriptDialogOpening",
    "Page.fileChooserOpened",
    "Page.windowOpen",
    "Page.downloadWillBegin",
    "Network.requestWillBeSent",
    "Network.responseReceived",
    "Network.loadingFinished",
    "Network.loadingFailed",
];

/// Resource types that stay open as long as the page likes, or that no page waits for.
const IGNORED: &[&str] = &["WebSocket", "EventSource", "Ping", "Media", "CSPViolationReport", "Prefetch"];

/// The activity of one page since an action started.
#[derive(Debug, Default)]
pub(crate) struct ActivityTracker {
    main: Option<FrameId>,
    /// Unfinished requests, with the time of their response.
    requests: HashMap<String, Option<Instant>>,
    /// Requests that finished.
    finished: u32,
    /// The loader id of the document that is loading.
    loading: Option<String>,
    navigated: bool,
    /// Whether a navigation ended without a new document.
    aborted: bool,
    /// The last document request with status 204 or 205.
    empty_document: Option<String>,
    /// `window.open` calls.
    windows: usize,
    /// Whether the last of them has no URL.
    blank_window: bool,
    downloads: Vec<DownloadBegun>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestSent {
    request_id: String,
    #[serde(rename = "type", default)]
    kind: String,
    frame_id: Option<FrameId>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestFinished {
    request_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResponseReceived {
    request_id: String,
    #[serde(rename = "type", default)]
    kind: String,
    response: ResponseStatus,
}

#[derive(Deserialize)]
struct ResponseStatus {
    #[serde(default)]
    status: u16,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StartedNavigating {
    frame_id: FrameId,
    loader_id: String,
    #[serde(default)]
    navigation_type: String,
}

#[derive(Deserialize)]
struct FrameNavigated {
    frame: NavigatedFrame,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NavigatedFrame {
    id: FrameId,
    loader_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LifecycleEvent {
    frame_id: FrameId,
    loader_id: String,
    name: String,
}

#[derive(Deserialize)]
struct WindowOpen {
    #[serde(default)]
    url: String,
}

impl ActivityTracker {
    pub(crate) fn new(main: &FrameId) -> Self {
        Self { main: Some(main.clone()), ..Self::default() }
    }

    pub(crate) fn observe(&mut self, event: &Event) {
        // An event that does not parse is one this version does not know.
        let _ = self.try_observe(event);
    }

    // Events of the previous document can arrive after a navigation has started, so loaders are compared
    // (docs/cdp/what-load-event-means.md). A navigation to a response without content leaves the old document in place.
    fn try_observe(&mut self, event: &Event) -> Result<(), tabwire_cdp::CdpError> {
        match event.method() {
            "Network.requestWillBeSent" => {
                let sent: RequestSent = event.to()?;
                // The document's own request is tracked as a navigation.
                let is_document = sent.kind == "Document" && sent.frame_id == self.main;
                if !is_document && !IGNORED.contains(&sent.kind.as_str()) {
                    self.requests.insert(sent.request_id, None);
                }
            }
            "Network.responseReceived" => {
                let response: ResponseReceived = event.to()?;
                if response.kind == "Document" && matches!(response.response.status, 204 | 205) {
                    self.empty_document = Some(response.request_id);
                }
                if let Some(responded) = self.requests.get_mut(&event.to::<RequestFinished>()?.request_id) {
                    responded.get_or_insert_with(Instant::now);
                }
            }
            "Network.loadingFinished" | "Network.loadingFailed" => {
                let ended = self.requests.remove(&event.to::<RequestFinished>()?.request_id);
                self.finished += u32::from(ended.is_some());
            }
            "Page.frameStartedNavigating" => {
                let started: StartedNavigating = event.to()?;
                let is_same_document = started.navigation_type.to_ascii_lowercase().contains("samedocument");
                if Some(&started.frame_id) == self.main.as_ref() && !is_same_document {
                    self.loading = Some(started.loader_id);
                }
            }
            "Page.frameNavigated" => {
                let frame = event.to::<FrameNavigated>()?.frame;
                if Some(&frame.id) == self.main.as_ref() {
                    self.navigated = true;
                    self.loading = Some(frame.loader_id);
                    // The requests of the old document are over.
                    self.requests.clear();
                }
            }
            "Page.lifecycleEvent" => {
                let event: LifecycleEvent = event.to()?;
                let is_main = Some(&event.frame_id) == self.main.as_ref();
                if is_main && event.name == "load" && self.loading.as_ref() == Some(&event.loader_id) {
                    self.loading = None;
                }
            }
            "Page.windowOpen" => self.count_window(&event.to::<WindowOpen>()?.url),
            "Page.frameStoppedLoading" if !self.navigated => {
                // A document request has the id of its loader. A response without content becomes no download.
                let stopped = self.loading.take();
                self.aborted |= stopped.is_some() && stopped != self.empty_document;
            }
            "Page.downloadWillBegin" => {
                self.loading = None;
                self.downloads.push(event.to()?);
            }
            _ => {}
        }
        Ok(())
    }

    fn count_window(&mut self, url: &str) {
        self.windows += 1;
        self.blank_window = url.is_empty() || url == "about:blank";
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.requests.is_empty() && self.loading.is_none()
    }

    /// When the unfinished requests stop counting; `None` while a document loads or a request has no response.
    pub(crate) fn requests_expire_at(&self) -> Option<Instant> {
        if self.loading.is_some() || self.requests.values().any(Option::is_none) {
            return None;
        }
        self.requests.values().flatten().max().map(|responded| *responded + UNREAD_RESPONSE)
    }

    /// Counts the unfinished requests as finished.
    pub(crate) fn expire_requests(&mut self) {
        self.finished += u32::try_from(self.requests.len()).unwrap_or(u32::MAX);
        self.requests.clear();
    }

    pub(crate) fn is_loading(&self) -> bool {
        self.loading.is_some()
    }

    pub(crate) fn has_navigated(&self) -> bool {
        self.navigated
    }

    /// Whether a navigation ended without a new document.
    pub(crate) fn was_aborted(&self) -> bool {
        self.aborted
    }

    pub(crate) fn finished_requests(&self) -> u32 {
        self.finished
    }

    /// How many windows the page opened.
    pub(crate) fn windows(&self) -> usize {
        self.windows
    }

    /// Whether the page opened its last window without a URL.
    pub(crate) fn is_blank_window(&self) -> bool {
        self.blank_window
    }

    pub(crate) fn take_downloads(&mut self) -> Vec<DownloadBegun> {
        std::mem::take(&mut self.downloads)
    }
}
