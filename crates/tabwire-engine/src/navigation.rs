//! Going to an address and knowing when it has arrived. Listeners are armed before the command that causes them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_cdp::{CdpError, Deadline};
use tabwire_wire::{ErrorCode, Failure, FrameId};

use crate::event_mix::EventMix;
use crate::limits::CROSSING_TOLD;
use crate::page::{Outline, Page};
use crate::snapshot::address;

/// How far a page must have come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
#[value(rename_all = "lower")]
pub enum LoadState {
    /// Everything the document names has loaded.
    #[default]
    Load,
    /// The document itself has been read.
    DomContentLoaded,
    /// Nothing has been under way for half a second.
    NetworkIdle,
    /// The answer has begun to arrive.
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

/// Where a navigation ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Arrival {
    /// The HTTP status of the document, when it came over HTTP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The addresses it was sent on from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redirects: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Navigated {
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
struct MovedWithin {
    frame_id: FrameId,
}

/// What is listened to while a page goes somewhere.
const METHODS: &[&str] = &[
    "Page.lifecycleEvent",
    "Page.frameNavigated",
    "Page.navigatedWithinDocument",
    "Network.responseReceived",
    "Network.requestWillBeSent",
];

/// What Chromium calls a request that somebody between the page and the network has stopped.
const KEPT_BACK: &str = "net::ERR_BLOCKED_BY_CLIENT";

/// The detail of a failure that tells which address a tab was kept from.
pub const STOPPED: &str = "stopped";

/// What the browser says of a navigation that something else came in the way of.
const ABORTED: &str = "net::ERR_ABORTED";

/// A navigation that is being watched since before its cause.
pub(crate) struct Journey {
    events: EventMix,
    main: FrameId,
    arrival: Arrival,
    /// The document that is waited for, once it is known.
    loader: Option<String>,
    begun: bool,
}

impl Journey {
    /// Arms the listeners.
    pub(crate) fn watch(page: &Page) -> Self {
        let events = EventMix::new(page.driver().events(METHODS));
        let main = page.main_frame().clone();
        Self { events, main, arrival: Arrival::default(), loader: None, begun: false }
    }

    /// Waits until the page has come as far as asked, from wherever it is sent meanwhile.
    pub(crate) async fn arrive(
        mut self,
        state: LoadState,
        destination: &str,
        deadline: Deadline,
    ) -> Result<Arrival, Failure> {
        loop {
            let event = self.events.next(deadline).await.map_err(|error| not_arrived(error, destination))?;
            // What cannot be read is of a kind this version does not know.
            if self.take(&event, state).unwrap_or(false) {
                return Ok(self.arrival);
            }
        }
    }

    fn take(&mut self, event: &tabwire_cdp::Event, state: LoadState) -> Result<bool, CdpError> {
        match event.method() {
            "Page.lifecycleEvent" => {
                let event: LifecycleEvent = event.to()?;
                if event.frame_id != self.main {
                    return Ok(false);
                }
                let is_ours = self.loader.as_deref() == Some(event.loader_id.as_str());
                self.begun |= is_ours;
                // The page may send itself elsewhere before it is there; then that is what is waited for.
                if self.begun && event.name == "init" && !is_ours {
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
                    self.begun = true;
                }
                // A page that was kept as it was left has loaded long ago and tells no stages.
                Ok(is_ours && (state == LoadState::Commit || kind == "BackForwardCacheRestore"))
            }
            "Page.navigatedWithinDocument" => {
                Ok(self.loader.is_none() && event.to::<MovedWithin>()?.frame_id == self.main)
            }
            "Network.responseReceived" => {
                let response: Response = event.to()?;
                if response.kind == "Document" && response.frame_id.as_ref() == Some(&self.main) {
                    self.arrival.status = Some(response.response.status);
                }
                Ok(false)
            }
            _ => {
                let sent: RequestSent = event.to()?;
                if sent.kind == "Document" && sent.frame_id.as_ref() == Some(&self.main) {
                    self.arrival
                        .redirects
                        .extend(sent.redirect_response.map(|redirect| address(&redirect.url)));
                }
                Ok(false)
            }
        }
    }

    /// Whether the tab has set out for another address since. That may be told a moment after the page's way there
    /// came in between.
    async fn was_crossed(&mut self, url: &str, deadline: Deadline) -> bool {
        let whole = |text: &str| url::Url::parse(text).ok();
        let wanted = whole(url);
        let until = Deadline::at(deadline.instant().min(tokio::time::Instant::now() + CROSSING_TOLD));
        while let Ok(event) = self.events.next(until).await {
            if event.method() != "Network.requestWillBeSent" {
                continue;
            }
            let Ok(sent) = event.to::<RequestSent>() else { continue };
            let is_ours = sent.request.is_none_or(|request| whole(&request.url) == wanted);
            if sent.kind == "Document" && sent.frame_id.as_ref() == Some(&self.main) && !is_ours {
                return true;
            }
        }
        false
    }
}

impl Page {
    /// Goes to an address and waits until it has come as far as asked.
    ///
    /// # Errors
    /// When the address cannot be reached, or not within the deadline.
    pub async fn navigate(
        &self,
        url: &str,
        state: LoadState,
        deadline: Deadline,
    ) -> Result<Arrival, Failure> {
        // What the page itself was kept from before is not this journey's.
        drop(self.network().take_stopped());
        let (mut journey, mut navigated) = self.set_out(url, deadline).await?;
        if navigated.error_text.as_deref() == Some(ABORTED) && journey.was_crossed(url, deadline).await {
            // The page was about to go somewhere itself, and its own way came in between.
            (journey, navigated) = self.set_out(url, deadline).await?;
        }
        if navigated.is_download {
            return Err(Failure::new(ErrorCode::NotActionable, format!("{url} is a download, not a page."))
                .with_hint("Use `tabwire download-file` for it."));
        }
        if let Some(text) = navigated.error_text.filter(|text| !text.is_empty()) {
            let stopped = self.network().take_stopped().filter(|_| text == KEPT_BACK);
            return Err(stopped.map_or_else(|| unreachable(url, &text), |stopped| kept_from(&stopped)));
        }
        // Without a loader the navigation stayed within the document: nothing is loaded.
        let Some(loader) = navigated.loader_id else { return Ok(Arrival::default()) };
        journey.loader = Some(loader);
        self.unless_blocked(journey.arrive(state, url, deadline)).await
    }

    async fn set_out(&self, url: &str, deadline: Deadline) -> Result<(Journey, Navigated), Failure> {
        let journey = Journey::watch(self);
        let answer = self.command("Page.navigate", &json!({"url": url}), deadline).await?;
        let navigated = serde_json::from_value(answer)
            .map_err(|error| Failure::new(ErrorCode::CdpError, format!("Page.navigate: {error}.")))?;
        Ok((journey, navigated))
    }

    /// Waits until the document that is there, or the one that comes, has come as far as asked. Says where it is.
    pub(crate) async fn reach(&self, state: LoadState, deadline: Deadline) -> Result<String, Failure> {
        #[derive(Deserialize)]
        struct Loading {
            url: String,
            state: String,
        }
        let mut events = EventMix::new(self.driver().events(&["Page.lifecycleEvent"]));
        if state == LoadState::NetworkIdle {
            // Its past stages are told again, so that one that is over already counts.
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
            self.next_stage(&mut events, state, deadline).await?;
            if state == LoadState::NetworkIdle {
                let loading: Loading = self.call("loading", &json!({}), deadline).await?;
                return Ok(loading.url);
            }
        }
    }

    async fn next_stage(
        &self,
        events: &mut EventMix,
        state: LoadState,
        deadline: Deadline,
    ) -> Result<(), Failure> {
        self.unless_blocked(async {
            loop {
                let event = events.next(deadline).await.map_err(|error| not_arrived(error, "The page"))?;
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

    /// Waits until a tab that was opened with an address has loaded it, and says what is on it.
    ///
    /// # Errors
    /// When the address cannot be reached, or not within the deadline.
    pub async fn first_outline(&self, url: &str, deadline: Deadline) -> Result<Outline, Failure> {
        if url.starts_with("about:") {
            return self.outline(deadline).await;
        }
        let mut loads = EventMix::new(self.driver().events(&["Page.lifecycleEvent", "Page.frameNavigated"]));
        loop {
            let outline = self.outline(deadline).await;
            match outline {
                Ok(outline) if outline.url.starts_with("chrome-error:") => {
                    // Asked for once more, because only then does the browser say what is wrong.
                    self.navigate(url, LoadState::Load, deadline).await?;
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

    /// Waits until the page has loaded something.
    async fn next_load(&self, loads: &mut EventMix, url: &str, deadline: Deadline) -> Result<(), Failure> {
        self.unless_blocked(async {
            loop {
                let event = loads.next(deadline).await.map_err(|error| not_arrived(error, url))?;
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

/// Told when a tab was kept from being sent somewhere; whoever keeps it from there says why.
fn kept_from(stopped: &str) -> Failure {
    Failure::new(ErrorCode::PolicyDenied, "It leads to a site that may not be read, which was asked nothing.")
        .with_details(json!({ STOPPED: stopped }))
}

fn unreachable(url: &str, text: &str) -> Failure {
    Failure::new(ErrorCode::CdpError, format!("{url} could not be opened: {text}."))
        .with_hint("Check the address and that its server answers.")
}

fn not_arrived(error: CdpError, url: &str) -> Failure {
    match error {
        CdpError::Timeout { after, .. } => Failure::new(
            ErrorCode::Timeout,
            format!("{url} did not finish loading within {} ms.", after.as_millis()),
        )
        .with_hint(
            "Pass a longer --timeout or an earlier --wait-until, or see what is there: `tabwire snapshot`.",
        ),
        other => other.into_failure(),
    }
}
