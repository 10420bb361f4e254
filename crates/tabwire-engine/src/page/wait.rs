//! Waits for a state of the page: an element, a text, a URL, a load state, a function.

use std::time::Duration;

use futures_util::future::select_ok;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, FrameId, Remedy, Step, TabId};
use tabwire_cdp::{CdpError, Deadline};

use crate::cdp::MergedEvents;
use crate::cdp::ResponseFuture;
use crate::frames::search::RETRY_INTERVAL;
use crate::input::element::{milliseconds_allowed, milliseconds_left, with_grace};
use crate::input::locator::Locator;
use crate::page::Page;
use crate::page::evaluate::EvaluateResponse;
use crate::page::navigation::LoadState;
use crate::settle::PageInfo;
use crate::snapshot::{DocumentName, ElementKey, PageText, address, line_address};

/// How long a function is polled in the page before it is sent again. It runs this long after the caller left.
const POLL_TURN: Duration = Duration::from_secs(1);

/// A state of an element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ElementState {
    /// On the page and visible.
    #[default]
    Visible,
    /// Not visible, or not on the page.
    Hidden,
    /// On the page.
    Attached,
    /// Not on the page.
    Detached,
    /// Visible and enabled.
    Enabled,
    /// Disabled.
    Disabled,
    /// Checked.
    Checked,
    /// Not checked.
    Unchecked,
    /// Accepts text.
    Editable,
}

impl ElementState {
    const fn name(self) -> &'static str {
        match self {
            Self::Visible => "visible",
            Self::Hidden => "hidden",
            Self::Attached => "attached",
            Self::Detached => "detached",
            Self::Enabled => "enabled",
            Self::Disabled => "disabled",
            Self::Checked => "checked",
            Self::Unchecked => "unchecked",
            Self::Editable => "editable",
        }
    }

    const fn is_absence(self) -> bool {
        matches!(self, Self::Hidden | Self::Detached)
    }
}

/// The result of a wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct WaitResult {
    /// The condition that holds.
    pub(crate) held: String,
    /// What it holds for: a URL, a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) detail: Option<String>,
    /// The ref of the element that is in the state.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub(crate) reference: Option<String>,
    /// The tab that was opened.
    #[serde(rename = "new_tab", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(crate) tab: Option<TabId>,
    /// How long the wait took, in milliseconds.
    pub(crate) waited_ms: u64,
}

impl WaitResult {
    pub(crate) fn new(held: impl Into<String>) -> Self {
        Self { held: held.into(), detail: None, reference: None, tab: None, waited_ms: 0 }
    }

    /// The same with what it holds for.
    pub(crate) fn with_detail(self, detail: impl Into<Option<String>>) -> Self {
        Self { detail: detail.into(), ..self }
    }
}

/// What a frame's agent reports when a wait is over.
#[derive(Deserialize)]
struct AgentWait {
    document: Option<DocumentName>,
    #[serde(default)]
    matches: Vec<WaitedMatch>,
}

#[derive(Deserialize)]
struct WaitedMatch {
    key: ElementKey,
}

impl Page {
    /// Waits until an element is in a state, in any frame.
    pub(crate) async fn wait_for_element(
        &self,
        target: &str,
        state: ElementState,
        deadline: Deadline,
    ) -> Result<WaitResult, Failure> {
        let held = WaitResult::new(format!("{} is {}", PageText::new(target).as_str(), state.name()));
        let (spec, frame) = match Locator::parse(target)? {
            Locator::Words(spec) => (spec, None),
            Locator::Chain(steps) => {
                let (frame, steps) = self.enter_frames(steps, deadline).await?;
                (json!({"chain": steps}), Some(frame))
            }
            Locator::Ref(given) => match self.find_ref(given) {
                Ok(handle) => (json!({"document": handle.document, "key": handle.key}), Some(handle.frame)),
                // The document is gone, so the element is too.
                Err(failure) if failure.code == ErrorCode::RefExpired && state.is_absence() => {
                    return Ok(held);
                }
                Err(failure) => return Err(failure),
            },
        };
        self.wait_in_frames(&spec, state.name(), state.is_absence(), frame.clone(), deadline).await?;
        let reference = if state.is_absence() { None } else { self.ref_of(&spec, frame, deadline).await };
        Ok(WaitResult { reference, ..held })
    }

    /// Waits until a text is visible or hidden.
    pub(crate) async fn wait_for_text(
        &self,
        text: &str,
        visible: bool,
        deadline: Deadline,
    ) -> Result<WaitResult, Failure> {
        let spec = json!({"text": text, "exact": false});
        let state = if visible { "visible" } else { "hidden" };
        self.wait_in_frames(&spec, state, !visible, None, deadline).await?;
        let reference = if visible { self.ref_of(&spec, None, deadline).await } else { None };
        let held = WaitResult::new(format!("{} is {state}", PageText::new(text).quoted()));
        Ok(WaitResult { reference, ..held })
    }

    /// The ref of the first match; none if it is gone again.
    async fn ref_of(&self, spec: &Value, frame: Option<FrameId>, deadline: Deadline) -> Option<String> {
        let frames: Vec<FrameId> = frame
            .map_or_else(|| self.scope_frames().into_iter().map(|one| one.id).collect(), |one| vec![one]);
        for frame in frames {
            let found = self.call_in::<AgentWait>(&frame, "locate", &json!({"spec": spec}), deadline).await;
            let Ok(AgentWait { document: Some(document), matches }) = found else { continue };
            if let Some(first) = matches.first() {
                return Some(self.mint(&frame, &document, first.key).to_string());
            }
        }
        None
    }

    /// Waits in one frame, or in all frames including later ones. One frame suffices, except for an absence, which must
    /// hold in all.
    async fn wait_in_frames(
        &self,
        spec: &Value,
        state: &str,
        in_all: bool,
        frame: Option<FrameId>,
        deadline: Deadline,
    ) -> Result<(), Failure> {
        if frame.is_none() {
            self.scope(deadline).await?;
        }
        loop {
            // In the last round every frame's failure counts: no time is left for another frame.
            let is_last = !self.may_change(deadline);
            let changed = self.session().frames_differ_from(self.root_ids());
            let scope = || self.scope_frames().into_iter().map(|frame| frame.id).collect();
            let frames: Vec<FrameId> = frame.clone().map_or_else(scope, |frame| vec![frame]);
            let (left, allowed) = (milliseconds_left(deadline), milliseconds_allowed(deadline));
            let argument = json!({"spec": spec, "state": state, "timeout": left, "allowed": allowed});
            let wait =
                |frame: &FrameId| self.session().call(frame, "waitFor", &argument, with_grace(deadline));
            let waits: Vec<_> = frames.iter().map(wait).collect();
            let held = async {
                if in_all {
                    for wait in waits {
                        wait.await?;
                    }
                    return Ok(true);
                }
                if is_last {
                    return select_ok(waits).await.map(|_| true);
                }
                select_ok(waits.into_iter().map(held_or_navigated)).await.map(|(held, _)| held)
            };
            let waited = self
                .unless_blocked(async {
                    tokio::select! {
                        biased;
                        held = held => held,
                        () = changed, if frame.is_none() && !is_last => Ok(false),
                    }
                })
                .await;
            match waited {
                // The frames or their documents changed. Wait in the new ones.
                Ok(false) => tokio::time::sleep(RETRY_INTERVAL).await,
                // The document was replaced. Wait in the new one.
                Err(failure) if failure.code == ErrorCode::TargetGone && !self.is_gone() => {
                    self.check_deadline(deadline)?;
                }
                Err(failure) => {
                    return Err(self.with_refs(&self.scope_or_main(), failure));
                }
                Ok(true) => return Ok(()),
            }
        }
    }

    /// Whether there is time for another round.
    pub(crate) fn may_change(&self, deadline: Deadline) -> bool {
        tokio::time::Instant::now() < deadline.instant() && !self.is_gone()
    }

    fn check_deadline(&self, deadline: Deadline) -> Result<(), Failure> {
        if tokio::time::Instant::now() < deadline.instant() {
            return Ok(());
        }
        Err(Failure::new(ErrorCode::Timeout, "The page kept navigating until the timeout."))
    }

    /// Waits until the page's URL matches a pattern.
    pub(crate) async fn wait_for_url(
        &self,
        pattern: &str,
        deadline: Deadline,
    ) -> Result<WaitResult, Failure> {
        if pattern.is_empty() {
            return Err(Failure::new(ErrorCode::BadArgs, "The URL pattern is empty."));
        }
        let mut events = MergedEvents::new(
            self.session().events(&["Page.frameNavigated", "Page.navigatedWithinDocument"]),
        );
        loop {
            let url = match self.call::<PageInfo>("location", &json!({}), deadline).await {
                Ok(place) => place.url,
                Err(failure) if failure.code == ErrorCode::TargetGone && !self.is_gone() => String::new(),
                Err(failure) => return Err(failure),
            };
            if matches_pattern(&url, pattern) {
                return Ok(WaitResult::new("the URL matches").with_detail(address(&url)));
            }
            let next = self.unless_blocked(async { Ok(events.next(deadline).await) }).await?;
            match next {
                Ok(_) => {}
                Err(CdpError::Timeout { after, .. }) => {
                    let message = format!(
                        "The URL did not match {pattern:?} within {} ms; it is {}.",
                        after.as_millis(),
                        line_address(&url)
                    );
                    return Err(Failure::new(ErrorCode::Timeout, message).with_remedy(Remedy::new(
                        "Raise {}, or change the pattern; `*` matches anything.",
                        [Step::argument("timeout")],
                    )));
                }
                Err(error) => return Err(error.into_failure()),
            }
        }
    }

    /// Waits for a load state.
    pub(crate) async fn wait_for_load(
        &self,
        state: LoadState,
        deadline: Deadline,
    ) -> Result<WaitResult, Failure> {
        let url = self.wait_for_load_state(state, deadline).await?;
        Ok(WaitResult::new("the page has loaded").with_detail(url))
    }

    /// Waits until an expression or function of the caller is true.
    pub(crate) async fn wait_for_function(
        &self,
        function: &str,
        deadline: Deadline,
    ) -> Result<WaitResult, Failure> {
        // A script in the main world cannot be cancelled when the caller leaves, so it polls for one turn at a time.
        // The function also waits with a timer, because `requestAnimationFrame` does not run in a hidden tab.
        let turn = POLL_TURN.as_millis();
        let expression = format!(
            "(async () => {{ for (const begun = performance.now(); performance.now() - begun < {turn};) {{ \
             let made = ({function}); if (typeof made === 'function') made = made(); if (await made) return true; \
             await new Promise((done) => {{ requestAnimationFrame(done); setTimeout(done, 50); }}); }} return false; }})()"
        );
        let params = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        loop {
            // Checked in every turn: the page may have navigated to a site where scripts are not allowed.
            let target = self.script_target(deadline).await?;
            let response = self.begin_on(&target, "Runtime.evaluate", &params, deadline);
            let response = self.unless_blocked(async { Ok(response.await) }).await?;
            let evaluation: EvaluateResponse = match response {
                Ok(value) => serde_json::from_value(value).map_err(|error| {
                    Failure::new(ErrorCode::CdpError, format!("Runtime.evaluate: {error}."))
                })?,
                Err(CdpError::Timeout { .. }) => return Err(never_true(deadline)),
                // The document was replaced. Poll in the new one.
                Err(CdpError::Protocol { .. }) if !self.is_gone() => {
                    self.check_deadline(deadline)?;
                    continue;
                }
                Err(error) => return Err(error.into_failure()),
            };
            if evaluation.into_result()?.value == Value::Bool(true) {
                return Ok(WaitResult::new("the function is true"));
            }
            if tokio::time::Instant::now() >= deadline.instant() {
                return Err(never_true(deadline));
            }
        }
    }
}

fn never_true(deadline: Deadline) -> Failure {
    let message = format!("The function did not become true within {} ms.", deadline.length().as_millis());
    Failure::new(ErrorCode::Timeout, message).with_remedy(Remedy::new(
        "Test it with {}, or raise {}.",
        [Step::action("eval"), Step::argument("timeout")],
    ))
}

/// Resolves to true when the wait of a frame holds, to false when the frame's document was replaced.
pub(crate) fn held_or_navigated(wait: ResponseFuture<Value>) -> ResponseFuture<bool> {
    Box::pin(async move {
        match wait.await {
            Ok(_) => Ok(true),
            Err(failure) if failure.code == ErrorCode::TargetGone => Ok(false),
            Err(failure) => Err(failure),
        }
    })
}

/// Whether a URL matches a pattern: `*` matches anything, and a pattern without `*` matches a substring.
pub(crate) fn matches_pattern(url: &str, pattern: &str) -> bool {
    if !pattern.contains('*') {
        return url.contains(pattern);
    }
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = url.strip_prefix(first) else { return false };
    let mut last = "";
    for part in parts {
        last = part;
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    last.is_empty() || rest.is_empty() || url.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::matches_pattern;

    #[test]
    fn patterns_match_urls() {
        let url = "https://example.org/shop/cart?step=2";
        for (pattern, expected) in [
            ("/cart", true),
            ("example.org", true),
            ("*/cart*", true),
            ("https://*/shop/*", true),
            ("https://*step=2", true),
            ("https://*step=3", false),
            ("/checkout", false),
            ("http://*", false),
            ("*", true),
            ("*cart", false),
        ] {
            assert_eq!(matches_pattern(url, pattern), expected, "{pattern}");
        }
    }
}
