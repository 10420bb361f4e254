//! Waiting until a page is in a state: an element, a text, an address, its loading, a script.

use futures_util::future::select_ok;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_cdp::{CdpError, Deadline};
use tabwire_wire::{ErrorCode, Failure, FrameId};

use crate::driver::Reply;
use crate::element::{milliseconds_left, with_grace};
use crate::evaluation::Evaluation;
use crate::event_mix::EventMix;
use crate::limits::FRAME_LOOK;
use crate::limits::FUNCTION_TURN;
use crate::locator::Locator;
use crate::navigation::LoadState;
use crate::page::Page;
use crate::settle::Place;
use crate::snapshot::{PageText, address, line_address};

/// A state an element can be waited for in.
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
    /// Visible and usable.
    Enabled,
    /// Not usable.
    Disabled,
    /// Ticked.
    Checked,
    /// Not ticked.
    Unchecked,
    /// Takes text.
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

/// What a wait ended with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Waited {
    /// What held, in words.
    pub(crate) held: String,
    /// What it held for: an address, a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) detail: Option<String>,
}

impl Waited {
    fn new(held: impl Into<String>) -> Self {
        Self { held: held.into(), detail: None }
    }
}

impl Page {
    /// Waits until an element is in a state, in whatever frame it is.
    pub(crate) async fn wait_for_element(
        &self,
        target: &str,
        state: ElementState,
        deadline: Deadline,
    ) -> Result<Waited, Failure> {
        let held = Waited::new(format!("{} is {}", PageText::new(target).as_str(), state.name()));
        let (spec, frame) = match Locator::parse(target)? {
            Locator::Words(spec) => (spec, None),
            Locator::Ref(given) => match self.find_ref(given) {
                Ok(handle) => (json!({"document": handle.document, "key": handle.key}), Some(handle.frame)),
                // Its document is gone, and the element with it.
                Err(failure) if failure.code == ErrorCode::RefExpired && state.is_absence() => {
                    return Ok(held);
                }
                Err(failure) => return Err(failure),
            },
        };
        self.wait_in_frames(&spec, state.name(), state.is_absence(), frame, deadline).await?;
        Ok(held)
    }

    /// Waits until a text is visible, or no longer.
    pub(crate) async fn wait_for_text(
        &self,
        text: &str,
        visible: bool,
        deadline: Deadline,
    ) -> Result<Waited, Failure> {
        let spec = json!({"text": text, "exact": false});
        let state = if visible { "visible" } else { "hidden" };
        self.wait_in_frames(&spec, state, !visible, None, deadline).await?;
        Ok(Waited::new(format!("{} is {state}", PageText::new(text).quoted())))
    }

    /// Asks a frame to wait, or all of them, those too that come later; one is enough, unless something is to be
    /// absent, which must hold in all.
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
            // The last round takes every frame at its word: nothing else can come.
            let is_last = !self.may_change(deadline);
            let others = self.driver().frames_other_than(self.asked_frames());
            let scope = || self.scope_frames().into_iter().map(|frame| frame.id).collect();
            let frames: Vec<FrameId> = frame.clone().map_or_else(scope, |frame| vec![frame]);
            let argument = json!({"spec": spec, "state": state, "timeout": milliseconds_left(deadline)});
            let ask = |frame: &FrameId| self.driver().call(frame, "waitFor", &argument, with_grace(deadline));
            let waits: Vec<_> = frames.iter().map(ask).collect();
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
                select_ok(waits.into_iter().map(told_or_left)).await.map(|(held, _)| held)
            };
            let waited = self
                .unless_blocked(async {
                    tokio::select! {
                        biased;
                        held = held => held,
                        () = others, if frame.is_none() && !is_last => Ok(false),
                    }
                })
                .await;
            match waited {
                // Other frames are there now, or other documents in them; they are asked too.
                Ok(false) => tokio::time::sleep(FRAME_LOOK).await,
                // The document went meanwhile; the new one is asked.
                Err(failure) if failure.code == ErrorCode::TargetGone && !self.is_gone() => {
                    self.stay_within(deadline)?;
                }
                Err(failure) => {
                    return Err(self.with_refs(&self.scope_or_main(), failure));
                }
                Ok(true) => return Ok(()),
            }
        }
    }

    /// Whether another look at the page's frames may still show something else.
    pub(crate) fn may_change(&self, deadline: Deadline) -> bool {
        tokio::time::Instant::now() < deadline.instant() && !self.is_gone()
    }

    fn stay_within(&self, deadline: Deadline) -> Result<(), Failure> {
        if tokio::time::Instant::now() < deadline.instant() {
            return Ok(());
        }
        Err(Failure::new(ErrorCode::Timeout, "The page kept going to other documents until time ran out."))
    }

    /// Waits until the page's address matches a pattern.
    pub(crate) async fn wait_for_url(&self, pattern: &str, deadline: Deadline) -> Result<Waited, Failure> {
        if pattern.is_empty() {
            return Err(Failure::new(ErrorCode::BadArgs, "The address pattern is empty."));
        }
        let mut events =
            EventMix::new(self.driver().events(&["Page.frameNavigated", "Page.navigatedWithinDocument"]));
        loop {
            let url = match self.call::<Place>("place", &json!({}), deadline).await {
                Ok(place) => place.url,
                Err(failure) if failure.code == ErrorCode::TargetGone && !self.is_gone() => String::new(),
                Err(failure) => return Err(failure),
            };
            if matches_pattern(&url, pattern) {
                return Ok(Waited { held: "the address matches".to_owned(), detail: Some(address(&url)) });
            }
            let next = self.unless_blocked(async { Ok(events.next(deadline).await) }).await?;
            match next {
                Ok(_) => {}
                Err(CdpError::Timeout { after, .. }) => {
                    let message = format!(
                        "The address did not come to match {pattern:?} within {} ms; it is {}.",
                        after.as_millis(),
                        line_address(&url)
                    );
                    return Err(Failure::new(ErrorCode::Timeout, message)
                        .with_hint("Pass a longer --timeout, or another pattern; `*` stands for anything."));
                }
                Err(error) => return Err(error.into_failure()),
            }
        }
    }

    /// Waits until the page has come this far in loading.
    pub(crate) async fn wait_for_load(
        &self,
        state: LoadState,
        deadline: Deadline,
    ) -> Result<Waited, Failure> {
        let reached = self.reach(state, deadline).await?;
        Ok(Waited { held: "the page has come this far".to_owned(), detail: Some(reached) })
    }

    /// Waits until an expression or function of the caller's is true.
    pub(crate) async fn wait_for_function(
        &self,
        function: &str,
        deadline: Deadline,
    ) -> Result<Waited, Failure> {
        // The page's own world has nobody who could end a wait there when the caller leaves: it is asked for a little
        // at a time.
        let turn = FUNCTION_TURN.as_millis();
        let expression = format!(
            "(async () => {{ for (const begun = performance.now(); performance.now() - begun < {turn};) {{ \
             let made = ({function}); if (typeof made === 'function') made = made(); if (await made) return true; \
             await new Promise((done) => {{ requestAnimationFrame(done); setTimeout(done, 50); }}); }} return false; }})()"
        );
        let params = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        loop {
            // Each time: the page may have gone where code is not allowed.
            let place = self.script_place(deadline).await?;
            let answer = self.begin_at(&place, "Runtime.evaluate", &params, deadline);
            let answer = self.unless_blocked(async { Ok(answer.await) }).await?;
            let evaluation: Evaluation = match answer {
                Ok(value) => serde_json::from_value(value).map_err(|error| {
                    Failure::new(ErrorCode::CdpError, format!("Runtime.evaluate: {error}."))
                })?,
                Err(CdpError::Timeout { .. }) => return Err(never_true(deadline)),
                // The document went meanwhile; the new one is asked.
                Err(CdpError::Protocol { .. }) if !self.is_gone() => {
                    self.stay_within(deadline)?;
                    continue;
                }
                Err(error) => return Err(error.into_failure()),
            };
            if evaluation.into_result()?.value == Value::Bool(true) {
                return Ok(Waited::new("the function is true"));
            }
            if tokio::time::Instant::now() >= deadline.instant() {
                return Err(never_true(deadline));
            }
        }
    }
}

fn never_true(deadline: Deadline) -> Failure {
    let message = format!("The function did not become true within {} ms.", deadline.length().as_millis());
    Failure::new(ErrorCode::Timeout, message)
        .with_hint("Try it with `tabwire eval`, or pass a longer --timeout.")
}

/// Whether a frame's wait held; one whose document went meanwhile is to be asked again.
pub(crate) fn told_or_left(wait: Reply<Value>) -> Reply<bool> {
    Box::pin(async move {
        match wait.await {
            Ok(_) => Ok(true),
            Err(failure) if failure.code == ErrorCode::TargetGone => Ok(false),
            Err(failure) => Err(failure),
        }
    })
}

/// Whether an address matches a pattern: `*` stands for anything, and a pattern without one must be part of it.
fn matches_pattern(url: &str, pattern: &str) -> bool {
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
    fn patterns_match_as_people_mean_them() {
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
