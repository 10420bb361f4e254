//! What follows from an action, as the browser's events tell it: requests, navigations, windows, downloads. Waits for
//! nothing itself.

use std::collections::HashMap;

use serde::Deserialize;
use tabwire_cdp::Event;
use tabwire_wire::FrameId;
use tokio::time::Instant;

use crate::download_log::DownloadBegun;
use crate::limits::SETTLE_UNREAD;

/// What is listened to while an action's consequences unfold.
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

/// Kinds of requests that go on for as long as the page likes, or that nothing waits for.
const ENDLESS: &[&str] = &["WebSocket", "EventSource", "Ping", "Media", "CSPViolationReport", "Prefetch"];

/// What is known of the consequences so far.
#[derive(Debug, Default)]
pub(crate) struct Unfolding {
    main: Option<FrameId>,
    /// The requests that are not over, each with the time its answer began.
    under_way: HashMap<String, Option<Instant>>,
    pub(crate) over: u32,
    /// The document that is being loaded in place of the page's.
    pub(crate) loading: Option<String>,
    pub(crate) navigated: bool,
    /// Whether the page began to load another document and gave up.
    pub(crate) gave_up: bool,
    /// The last request for a document whose answer says that there is none.
    empty: Option<String>,
    /// Windows the page opened.
    pub(crate) windows: usize,
    pub(crate) downloads: Vec<DownloadBegun>,
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
struct RequestOver {
    request_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answered {
    request_id: String,
    #[serde(rename = "type", default)]
    kind: String,
    response: AnsweredWith,
}

#[derive(Deserialize)]
struct AnsweredWith {
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

impl Unfolding {
    /// What follows on the page with this main frame.
    pub(crate) fn of(main: &FrameId) -> Self {
        Self { main: Some(main.clone()), ..Self::default() }
    }

    /// Takes note of an event.
    pub(crate) fn take(&mut self, event: &Event) {
        // What cannot be read is of a kind this version does not know.
        let _ = self.try_take(event);
    }

    fn try_take(&mut self, event: &Event) -> Result<(), tabwire_cdp::CdpError> {
        match event.method() {
            "Network.requestWillBeSent" => {
                let sent: RequestSent = event.to()?;
                // The document's own request is the navigation's business.
                let is_document = sent.kind == "Document" && sent.frame_id == self.main;
                if !is_document && !ENDLESS.contains(&sent.kind.as_str()) {
                    self.under_way.insert(sent.request_id, None);
                }
            }
            "Network.responseReceived" => {
                let answered: Answered = event.to()?;
                if answered.kind == "Document" && matches!(answered.response.status, 204 | 205) {
                    self.empty = Some(answered.request_id);
                }
                if let Some(answered) = self.under_way.get_mut(&event.to::<RequestOver>()?.request_id) {
                    answered.get_or_insert_with(Instant::now);
                }
            }
            "Network.loadingFinished" | "Network.loadingFailed" => {
                let ended = self.under_way.remove(&event.to::<RequestOver>()?.request_id);
                self.over += u32::from(ended.is_some());
            }
            "Page.frameStartedNavigating" => {
                let started: StartedNavigating = event.to()?;
                let within = started.navigation_type.to_ascii_lowercase().contains("samedocument");
                if Some(&started.frame_id) == self.main.as_ref() && !within {
                    self.loading = Some(started.loader_id);
                }
            }
            "Page.frameNavigated" => {
                let frame = event.to::<FrameNavigated>()?.frame;
                if Some(&frame.id) == self.main.as_ref() {
                    self.navigated = true;
                    self.loading = Some(frame.loader_id);
                    // What the old document had under way is over.
                    self.under_way.clear();
                }
            }
            "Page.lifecycleEvent" => {
                let event: LifecycleEvent = event.to()?;
                let is_main = Some(&event.frame_id) == self.main.as_ref();
                if is_main && event.name == "load" && self.loading.as_ref() == Some(&event.loader_id) {
                    self.loading = None;
                }
            }
            "Page.windowOpen" => self.windows += 1,
            "Page.frameStoppedLoading" if !self.navigated => {
                // A document's request has its loader's name. One without content becomes no download.
                let stopped = self.loading.take();
                self.gave_up |= stopped.is_some() && stopped != self.empty;
            }
            "Page.downloadWillBegin" => {
                self.loading = None;
                self.downloads.push(event.to()?);
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether nothing is under way any more.
    pub(crate) fn is_over(&self) -> bool {
        self.under_way.is_empty() && self.loading.is_none()
    }

    /// When the next request stops counting whose answer began and whose end may never be told: a page that does
    /// not read an answer keeps it open.
    pub(crate) fn next_lapse(&self) -> Option<Instant> {
        if self.loading.is_some() || self.under_way.values().any(Option::is_none) {
            return None;
        }
        self.under_way.values().flatten().max().map(|answered| *answered + SETTLE_UNREAD)
    }

    /// Counts requests as over whose answers nobody seems to read.
    pub(crate) fn lapse(&mut self) {
        self.over += u32::try_from(self.under_way.len()).unwrap_or(u32::MAX);
        self.under_way.clear();
    }
}
