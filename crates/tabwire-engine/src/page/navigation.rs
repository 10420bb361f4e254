//! Navigations, and waiting until a page has loaded. Listeners start before the command that causes their events.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_api::{ErrorCode, Failure, FrameId, Remedy, Step};
use tabwire_cdp::{CdpError, Deadline};

use crate::cdp::MergedEvents;
use crate::page::{Outline, Page};
use crate::snapshot::address;

/// How far a page must have loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
#[value(rename_all = "lower")]
pub enum LoadState {
    /// The `load` event fired.
    #[default]
    Load,
    /// The document is parsed.
    DomContentLoaded,
    /// No request has been active for 500 ms.
    NetworkIdle,
    /// The response has begun.
    Commit,
}

impl LoadState {
    const fn lifecycle_name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::DomContentLoaded => "DOMContentLoaded",
            Self::NetworkIdle => "networkIdle",
            Self::Commit => "commit",
        }
    }
}

/// The response of a navigation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DocumentResponse {
    /// The HTTP status of the document, when it came over HTTP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The URLs that redirected to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redirects: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NavigateResponse {
    loader_id: Option<String>,
    error_text: Option<String>,
    #[serde(default)]
    is_download: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LifecycleEvent {
    frame_id: FrameId,
    loader_id: String,
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    frame_id: Option<FrameId>,
    #[serde(rename = "type", default)]
    kind: String,
    response: ResponseHead,
}

#[derive(Deserialize)]
struct ResponseHead {
    status: u16,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestSent {
    frame_id: Option<FrameId>,
    #[serde(rename = "type", default)]
    kind: String,
    redirect_response: Option<Redirect>,
    request: Option<Redirect>,
}

#[derive(Deserialize)]
struct Redirect {
    url: String,
}

#[derive(Deserialize)]
struct FrameNavigated {
    frame: NavigatedFrame,
    #[serde(rename = "type", default)]
    kind: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NavigatedFrame {
    id: FrameId,
    loader_id: String,
    url: String,
    unreachable_url: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NavigatedWithinDocument {
    frame_id: FrameId,
}

/// The events of a navigation.
const METHODS: &[&str] = &[
    "Page.lifecycleEvent",
    "Page.frameNavigated",
    "Page.navigatedWithinDocument",
    "Network.responseReceived",
    "Network.requestWillBeSent",
];

/// Chrome's error text for a request that interception failed with `BlockedByClient`.
const BLOCKED: &str = "net::ERR_BLOCKED_BY_CLIENT";

/// The key in a failure's details for the URL that the policy stopped.
pub const STOPPED: &str = "stopped";

/// Chrome's error text for a navigation that another navigation cancelled.
const ABORTED: &str = "net::ERR_ABORTED";

/// How long a cancelled navigation waits for the request that superseded it.
const SUPERSEDED_TIMEOUT: Duration = Duration::from_millis(500);

/// Watches a navigation from before its command.
pub(crate) struct NavigationWatcher {
    events: MergedEvents,
    main: FrameId,
    response: DocumentResponse,
    /// The loader id of the expected document, once it is known.
    loader: Option<String>,
    has_started: bool,
}

impl NavigationWatcher {
    pub(crate) fn start(page: &Page) -> Self {
        let events = MergedEvents::new(page.session().events(METHODS));
        let main = page.main_frame().clone();
        Self { events, main, response: DocumentResponse::default(), loader: None, has_started: false }
    }

    /// Waits until the document has reached a load state. Follows redirects by the page itself.
    pub(crate) async fn wait(
        mut self,
        state: LoadState,
        destination: &str,
        deadline: Deadline,
    ) -> Result<DocumentResponse, Failure> {
        loop {
            let event = self.events.next(deadline).await.map_err(|error| not_loaded(error, destination))?;
            // An event that does not parse is one this version does not know.
            if self.observe(&event, state).unwrap_or(false) {
                return Ok(self.response);
            }
        }
    }

    fn observe(&mut self, event: &tabwire_cdp::Event, state: LoadState) -> Result<bool, CdpError> {
        match event.method() {
            "Page.lifecycleEvent" => {
                let event: LifecycleEvent = event.to()?;
                if event.frame_id != self.main {
                    return Ok(false);
                }
                // Chrome may still send lifecycle events of the previous document; only the loader tells them apart
                // (docs/cdp/what-load-event-means.md).
                let is_ours = self.loader.as_deref() == Some(event.loader_id.as_str());
                self.has_started |= is_ours;
                // The document navigates on before it has loaded: wait for the next one.
                if self.has_started && event.name == "init" && !is_ours {
                    self.loader = Some(event.loader_id);
                    return Ok(false);
                }
                Ok(is_ours && event.name == state.lifecycle_name())
            }
            "Page.frameNavigated" => {
                let FrameNavigated { frame, kind } = event.to()?;
                if frame.id != self.main {
                    return Ok(false);
                }
                let is_ours = self.loader.as_ref().is_none_or(|loader| *loader == frame.loader_id);
                if self.loader.is_none() {
                    self.loader = Some(frame.loader_id);
                    self.has_started = true;
                }
                // A document from the back/forward cache has loaded already and fires no lifecycle events.
                Ok(is_ours && (state == LoadState::Commit || kind == "BackForwardCacheRestore"))
            }
            "Page.navigatedWithinDocument" => {
                Ok(self.loader.is_none() && event.to::<NavigatedWithinDocument>()?.frame_id == self.main)
            }
            "Network.responseReceived" => {
                let response: Response = event.to()?;
                if response.kind == "Document" && response.frame_id.as_ref() == Some(&self.main) {
                    self.response.status = Some(response.response.status);
                }
                Ok(false)
            }
            _ => {
                let sent: RequestSent = event.to()?;
                if sent.kind == "Document" && sent.frame_id.as_ref() == Some(&self.main) {
                    self.response
                        .redirects
                        .extend(sent.redirect_response.map(|redirect| address(&redirect.url)));
                }
                Ok(false)
            }
        }
    }

    /// Whether the page itself started a navigation to another URL. Its request may be reported shortly after our own
    /// navigation was cancelled.
    async fn was_superseded(&mut self, url: &str, deadline: Deadline) -> bool {
        let parse = |text: &str| url::Url::parse(text).ok();
        let expected = parse(url);
        let until = Deadline::at(deadline.instant().min(tokio::time::Instant::now() + SUPERSEDED_TIMEOUT));
        while let Ok(event) = self.events.next(until).await {
            if event.method() != "Network.requestWillBeSent" {
                continue;
            }
            let Ok(sent) = event.to::<RequestSent>() else { continue };
            let is_ours = sent.request.is_none_or(|request| parse(&request.url) == expected);
            if sent.kind == "Document" && sent.frame_id.as_ref() == Some(&self.main) && !is_ours {
                return true;
            }
        }
        false
    }
}

/// A later navigation of a client replaced this one, as in Playwright.
fn interrupted(url: &str) -> Failure {
    let message = format!("Navigation to {url:?} is interrupted by another navigation.");
    Failure::new(ErrorCode::CdpError, message).with_remedy("Wait for one navigation before the next.")
}

/// The parameters of `Page.navigate`. A given referer is sent whole, as Playwright sends it.
pub(crate) fn navigate_params(url: &str, referer: Option<&str>) -> serde_json::Value {
    let mut params = json!({"url": url});
    if let Some(referer) = referer {
        params["referrer"] = json!(referer);
        // With the default policy Chrome shortens a referrer of another origin to that origin.
        params["referrerPolicy"] = json!("unsafeUrl");
    }
    params
}

impl Page {
    /// Navigates to a URL and waits for a load state.
    ///
    /// # Errors
    /// When the URL cannot be loaded, or not within the deadline.
    pub async fn navigate(
        &self,
        url: &str,
        referer: Option<&str>,
        state: LoadState,
        deadline: Deadline,
    ) -> Result<DocumentResponse, Failure> {
        // A URL that the page was stopped from before does not concern this navigation.
        drop(self.network().take_stopped());
        let turn = self.state().begin_navigation();
        let (mut watcher, mut response) = self.begin_navigation(url, referer, deadline).await?;
        if response.error_text.as_deref() == Some(ABORTED) && watcher.was_superseded(url, deadline).await {
            if !self.state().is_last_navigation(turn) {
                return Err(interrupted(url));
            }
            // A navigation of the page itself cancelled ours. Ours is the newer request: send it again.
            (watcher, response) = self.begin_navigation(url, referer, deadline).await?;
        }
        if response.is_download {
            return Err(Failure::new(ErrorCode::NotActionable, format!("{url} is a download, not a page."))
                .with_remedy(Remedy::new("Use {}.", [Step::action("download_file")])));
        }
        // The error page fires a load event too, so only `errorText` tells that the navigation failed
        // (docs/cdp/listener-before-navigate.md).
        if let Some(text) = response.error_text.filter(|text| !text.is_empty()) {
            let stopped = self.network().take_stopped().filter(|_| text == BLOCKED);
            return Err(
                stopped.map_or_else(|| unreachable(url, &text), |stopped| stopped_by_policy(&stopped))
            );
        }
        // Without a loader id it was a same-document navigation: nothing loads.
        let Some(loader) = response.loader_id else { return Ok(DocumentResponse::default()) };
        watcher.loader = Some(loader);
        self.unless_blocked(watcher.wait(state, url, deadline)).await
    }

    async fn begin_navigation(
        &self,
        url: &str,
        referer: Option<&str>,
        deadline: Deadline,
    ) -> Result<(NavigationWatcher, NavigateResponse), Failure> {
        // Before the command: on a fast page the load event would be missed (docs/cdp/listener-before-
        // navigate.md).
        let watcher = NavigationWatcher::start(self);
        let response = self.command("Page.navigate", &navigate_params(url, referer), deadline).await?;
        let response = serde_json::from_value(response)
            .map_err(|error| Failure::new(ErrorCode::CdpError, format!("Page.navigate: {error}.")))?;
        Ok((watcher, response))
    }

    /// Waits until the present document, or the next one, has reached a load state. Returns its URL.
    pub(crate) async fn wait_for_load_state(
        &self,
        state: LoadState,
        deadline: Deadline,
    ) -> Result<String, Failure> {
        #[derive(Deserialize)]
        struct Loading {
            url: String,
            state: String,
        }
        let mut events = MergedEvents::new(self.session().events(&["Page.lifecycleEvent"]));
        if state == LoadState::NetworkIdle {
            // Chrome repeats the past lifecycle events, so that a state that was reached before counts.
            let report = json!({"enabled": true});
            drop(self.begin("Page.setLifecycleEventsEnabled", &report, deadline));
        }
        loop {
            match self.call::<Loading>("loading", &json!({}), deadline).await {
                Ok(loading) => {
                    let reached = match state {
                        LoadState::Commit => true,
                        LoadState::DomContentLoaded => loading.state != "loading",
                        LoadState::Load => loading.state == "complete",
                        LoadState::NetworkIdle => false,
                    };
                    if reached {
                        return Ok(loading.url);
                    }
                }
                Err(failure) if failure.code == ErrorCode::TargetGone && !self.is_gone() => {}
                Err(failure) => return Err(failure),
            }
            self.next_lifecycle_event(&mut events, state, deadline).await?;
            if state == LoadState::NetworkIdle {
                let loading: Loading = self.call("loading", &json!({}), deadline).await?;
                return Ok(loading.url);
            }
        }
    }

    async fn next_lifecycle_event(
        &self,
        events: &mut MergedEvents,
        state: LoadState,
        deadline: Deadline,
    ) -> Result<(), Failure> {
        self.unless_blocked(async {
            loop {
                let event = events.next(deadline).await.map_err(|error| not_loaded(error, "The page"))?;
                let is_it = |event: LifecycleEvent| {
                    event.frame_id == *self.main_frame() && event.name == state.lifecycle_name()
                };
                if event.to().is_ok_and(is_it) {
                    return Ok(());
                }
            }
        })
        .await
    }

    /// Waits until a tab that was opened with a URL has loaded it, and returns its outline.
    ///
    /// # Errors
    /// When the URL cannot be loaded, or not within the deadline.
    pub async fn first_outline(&self, url: &str, deadline: Deadline) -> Result<Outline, Failure> {
        if url.starts_with("about:") {
            return self.outline(deadline).await;
        }
        let mut loads =
            MergedEvents::new(self.session().events(&["Page.lifecycleEvent", "Page.frameNavigated"]));
        loop {
            let outline = self.outline(deadline).await;
            match outline {
                Ok(outline) if outline.url.starts_with("chrome-error:") => {
                    // Navigate again: only the response to `Page.navigate` has the error text.
                    self.navigate(url, None, LoadState::Load, deadline).await?;
                    return self.outline(deadline).await;
                }
                Ok(outline) if outline.url != "about:blank" && self.has_loaded(deadline).await? => {
                    return self.outline(deadline).await;
                }
                Ok(_) => {}
                Err(failure) if failure.code == ErrorCode::TargetGone && !self.is_gone() => {}
                Err(failure) => return Err(failure),
            }
            self.next_load(&mut loads, url, deadline).await?;
        }
    }

    async fn has_loaded(&self, deadline: Deadline) -> Result<bool, Failure> {
        self.call("hasLoaded", &json!({}), deadline).await
    }

    /// Waits for the next `load` event or error page.
    async fn next_load(
        &self,
        loads: &mut MergedEvents,
        url: &str,
        deadline: Deadline,
    ) -> Result<(), Failure> {
        self.unless_blocked(async {
            loop {
                let event = loads.next(deadline).await.map_err(|error| not_loaded(error, url))?;
                let arrived = match event.method() {
                    "Page.lifecycleEvent" => event
                        .to::<LifecycleEvent>()
                        .is_ok_and(|event| event.frame_id == *self.main_frame() && event.name == "load"),
                    _ => event.to::<FrameNavigated>().is_ok_and(|event| {
                        event.frame.unreachable_url.is_some() || event.frame.url.starts_with("chrome-error:")
                    }),
                };
                if arrived {
                    return Ok(());
                }
            }
        })
        .await
    }
}

/// The failure when the egress policy stopped a navigation. The caller adds the reason.
fn stopped_by_policy(stopped: &str) -> Failure {
    Failure::new(
        ErrorCode::PolicyDenied,
        "It leads to a site that may not be read. Nothing was requested from that site.",
    )
    .with_details(json!({ STOPPED: stopped }))
}

fn unreachable(url: &str, text: &str) -> Failure {
    Failure::new(ErrorCode::CdpError, format!("{url} could not be loaded: {text}."))
        .with_remedy("Check the URL and that its server responds.")
}

fn not_loaded(error: CdpError, url: &str) -> Failure {
    match error {
        CdpError::Timeout { after, .. } => Failure::new(
            ErrorCode::Timeout,
            format!("{url} did not finish loading within {} ms.", after.as_millis()),
        )
        .with_remedy(Remedy::new(
            "Raise {}, set an earlier {}, or run {} to see what has loaded.",
            [Step::argument("timeout"), Step::argument("wait_until"), Step::action("snapshot")],
        )),
        other => other.into_failure(),
    }
}
