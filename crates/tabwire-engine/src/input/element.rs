//! Finds an element, waits until it is ready for input, scrolls to it, and computes its position in the tab.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, FrameId, Remedy, Step};
use tabwire_cdp::Deadline;
use tabwire_policy::Capability;

use crate::frames::tree::ContextId;
use crate::input::locator::Locator;
use crate::page::Page;
use crate::snapshot::{DocumentName, ElementHandle, ElementKey, ElementRef, RefMeaning};

/// Interval of checks whether the navigation is over.
const LEAVE_INTERVAL: Duration = Duration::from_millis(5);

/// How long input to a ref waits for a pending navigation: input at that moment may hit the next document.
const LEAVE_TIMEOUT: Duration = Duration::from_millis(250);

/// How much longer the engine waits than the page agent, so that the agent's error arrives first.
const PAGE_GRACE: Duration = Duration::from_secs(2);

/// Which element is meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct TargetArguments {
    /// The element: a ref (e12), a CSS selector, or text=, role=, label=, placeholder=, title=, testid=, xpath=.
    #[schemars(extend("x-carries" = "target"))]
    pub target: String,
    /// Which of several matches, counted from 1.
    #[arg(long, value_name = "N")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nth: Option<u32>,
}

/// A point in the tab, in CSS pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Point {
    /// From the left.
    pub x: f64,
    /// From the top.
    pub y: f64,
}

/// A rectangle in the tab, in CSS pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Rectangle {
    /// From the left.
    pub x: f64,
    /// From the top.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

/// An element as the page agent prepared it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ElementInfo {
    pub(crate) key: ElementKey,
    #[serde(default)]
    pub(crate) role: String,
    #[serde(default)]
    pub(crate) name: String,
    #[serde(default, deserialize_with = "null_is_default")]
    pub(crate) point: Point,
    #[serde(default, rename = "box")]
    pub(crate) rectangle: Rectangle,
    #[serde(default)]
    pub(crate) url: String,
    #[serde(default, deserialize_with = "crate::snapshot::read_title")]
    pub(crate) title: String,
    /// The id of the agent's change observer, which started when the element was ready.
    pub(crate) mark: Option<u64>,
    /// Further fields, for actions that request them.
    #[serde(flatten)]
    pub(crate) more: serde_json::Map<String, Value>,
}

fn null_is_default<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Point, D::Error> {
    Option::<Point>::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// An element that is ready for input.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    /// The frame whose agent knows it.
    pub(crate) frame: FrameId,
    /// The agent's description; point and rectangle in coordinates of the tab.
    pub(crate) info: ElementInfo,
    /// The agent's context in its document, when it was named by a ref. A ref is valid in that document only.
    pub(crate) world: Option<ContextId>,
}

impl Element {
    /// The agent's key of the element, for further calls in its frame.
    pub(crate) fn key(&self) -> ElementKey {
        self.info.key
    }

    /// Its description in results: `button "Pay"`.
    pub(crate) fn description(&self) -> String {
        let role = if self.info.role.is_empty() { "element" } else { &self.info.role };
        if self.info.name.is_empty() { role.to_owned() } else { format!("{role} {:?}", self.info.name) }
    }
}

/// A target resolved to one frame, with the agent's search specification.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedTarget {
    pub(crate) frame: FrameId,
    pub(crate) spec: Value,
    /// Which of several matches, counted from 0.
    pub(crate) nth: Option<u32>,
    /// The original target, when the page had only one frame: it may still appear in a frame that is added later.
    pub(crate) guess: Option<TargetArguments>,
}

impl ResolvedTarget {
    /// The same target in the frame in which the element was found.
    pub(crate) fn in_frame_of(&self, element: &Element) -> Self {
        Self { frame: element.frame.clone(), ..self.clone() }
    }

    /// Another element of the same frame, by the agent's key.
    pub(crate) fn with_key(&self, document: &DocumentName, key: ElementKey) -> Self {
        let spec = json!({"document": document, "key": key});
        Self { frame: self.frame.clone(), spec, nth: None, guess: None }
    }
}

impl Page {
    /// Finds an element and waits until it is ready for a purpose. `purpose` and `extra` are arguments of the agent
    /// function `prepare`.
    pub(crate) async fn prepare(
        &self,
        target: &TargetArguments,
        purpose: &str,
        extra: Value,
        deadline: Deadline,
    ) -> Result<Element, Failure> {
        let resolved = self.resolve(target, deadline).await?;
        self.prepare_resolved(&resolved, purpose, extra, deadline).await
    }

    /// Finds the frame in which to search for an element.
    pub(crate) async fn resolve(
        &self,
        target: &TargetArguments,
        deadline: Deadline,
    ) -> Result<ResolvedTarget, Failure> {
        if target.nth == Some(0) {
            return Err(Failure::new(ErrorCode::BadArgs, "`nth` counts from 1."));
        }
        Ok(match Locator::parse(&target.target)? {
            Locator::Ref(given) => {
                let handle = self.find_ref(given)?;
                let spec = json!({"document": handle.document, "key": handle.key});
                ResolvedTarget { frame: handle.frame, spec, nth: None, guess: None }
            }
            Locator::Chain(steps) => {
                let (frame, steps) = self.enter_frames(steps, deadline).await?;
                let nth = target.nth.map(|nth| nth - 1);
                ResolvedTarget { frame, spec: json!({"chain": steps}), nth, guess: None }
            }
            Locator::Words(spec) => {
                self.scope(deadline).await?;
                // With one frame it is not searched: `prepare` waits in it, and in frames that appear meanwhile.
                let is_guess = self.scope_frames().len() <= 1 && target.nth.is_none();
                let (frame, nth) = self.find_frame_of_target(&spec, target, deadline).await?;
                ResolvedTarget {
                    frame,
                    spec,
                    nth: nth.map(|nth| nth - 1),
                    guess: is_guess.then(|| target.clone()),
                }
            }
        })
    }

    /// Waits until an element is ready for a purpose.
    pub(crate) async fn prepare_resolved(
        &self,
        resolved: &ResolvedTarget,
        purpose: &str,
        extra: Value,
        deadline: Deadline,
    ) -> Result<Element, Failure> {
        self.check_purpose(&resolved.frame, purpose)?;
        let mut argument = extra;
        argument["for"] = json!(purpose);
        argument["mark"] = json!(true);
        argument["spec"] = resolved.spec.clone();
        argument["nth"] = json!(resolved.nth);
        argument["timeout"] = json!(milliseconds_left(deadline));
        // Errors quote the whole time, not what is left of it after other frames were searched.
        argument["allowed"] = json!(milliseconds_allowed(deadline));
        let is_hit =
            matches!(purpose, "click" | "check" | "hover" | "drop") && argument["force"] != json!(true);
        // Read before the call: the call fails if another document has replaced this one.
        let world =
            resolved.spec.get("document").and_then(|_| self.session().agent_context_id(&resolved.frame));
        let here = self.call_in(&resolved.frame, "prepare", &argument, with_grace(deadline));
        let (frame, prepared) = tokio::select! {
            biased;
            prepared = here => (resolved.frame.clone(), prepared),
            frame = self.appears_elsewhere(resolved, deadline) => {
                self.check_purpose(&frame, purpose)?;
                let prepared = self.call_in(&frame, "prepare", &argument, with_grace(deadline)).await;
                (frame, prepared)
            }
        };
        let info: ElementInfo = prepared.map_err(|failure| self.with_refs(&frame, failure))?;
        let mut element = Element { frame, info, world };
        self.place_in_tab(&mut element, is_hit, deadline).await?;
        Ok(element)
    }

    /// Fails when the policy does not allow the purpose in a frame.
    fn check_purpose(&self, frame: &FrameId, purpose: &str) -> Result<(), Failure> {
        if purpose == "upload" {
            self.check_frame(frame, Capability::Upload)?;
        }
        self.check_frame(frame, if purpose == "read" { Capability::Read } else { Capability::Act })
    }

    /// Fails when the document of a ref was replaced: Chrome would send the input to the new document. Waits a moment
    /// for a pending navigation, but not for a slow server.
    pub(crate) async fn check_same_document(&self, element: &Element) -> Result<(), Failure> {
        let Some(world) = element.world else { return Ok(()) };
        // A navigation that has started replaces the document at its commit; the input would reach the next
        // one.
        let until = tokio::time::Instant::now() + LEAVE_TIMEOUT;
        while self.session().is_navigating(&element.frame) && tokio::time::Instant::now() < until {
            tokio::time::sleep(LEAVE_INTERVAL).await;
        }
        if self.session().agent_context_id(&element.frame) == Some(world) {
            return Ok(());
        }
        let message = format!(
            "The page navigated to another document before the input was sent to {}.",
            element.description()
        );
        Err(Failure::new(ErrorCode::RefExpired, message)
            .with_remedy(Remedy::new("Take a new {} and use its refs.", [Step::action("snapshot")])))
    }

    pub(crate) fn find_ref(&self, given: ElementRef) -> Result<ElementHandle, Failure> {
        let meaning = self.refs().meaning(given);
        let (code, message) = match meaning {
            RefMeaning::Element(handle) => return Ok(handle),
            RefMeaning::Expired => {
                (ErrorCode::RefExpired, format!("The element {given} is no longer on the page."))
            }
            RefMeaning::Unknown => {
                (ErrorCode::RefExpired, format!("No snapshot of this tab has a ref {given}."))
            }
        };
        Err(Failure::new(code, message)
            .with_remedy(Remedy::new("Take a new {} and use its refs.", [Step::action("snapshot")])))
    }

    /// Converts an element's point and rectangle from frame to tab coordinates. With `is_hit`, also scrolls the frames
    /// above until the point is in view, and fails when something covers it.
    async fn place_in_tab(
        &self,
        element: &mut Element,
        is_hit: bool,
        deadline: Deadline,
    ) -> Result<(), Failure> {
        if element.frame == *self.main_frame() {
            return Ok(());
        }
        let mut frame = self.find_frame(&element.frame);
        while let Some((inner, parent)) = frame.and_then(|inner| Some((inner.clone(), inner.parent?))) {
            // The agent of the parent cannot tell which of its elements holds a frame of another process; CDP
            // can.
            self.session().register_frame_owner(&inner, deadline).await?;
            let mut argument = json!({"frame": inner.id});
            if is_hit {
                argument["point"] = json!(element.info.point);
            }
            let outer = self.call_in::<FrameBox>(&parent, "frameBox", &argument, deadline).await;
            match outer.map_err(|failure| self.with_refs(&parent, failure)) {
                Ok(outer) => element.info.move_out(&outer),
                Err(failure) if is_hit || failure.code != ErrorCode::NotActionable => return Err(failure),
                // A hidden frame has no position in the tab; actions without mouse input still work.
                Err(_) => return Ok(()),
            }
            frame = self.find_frame(&parent);
        }
        Ok(())
    }
}

/// Position and scale of a frame's content in the viewport of the frame above.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameBox {
    x: f64,
    y: f64,
    scale_x: f64,
    scale_y: f64,
}

impl ElementInfo {
    fn move_out(&mut self, outer: &FrameBox) {
        self.point =
            Point { x: outer.x + self.point.x * outer.scale_x, y: outer.y + self.point.y * outer.scale_y };
        self.rectangle = Rectangle {
            x: outer.x + self.rectangle.x * outer.scale_x,
            y: outer.y + self.rectangle.y * outer.scale_y,
            width: self.rectangle.width * outer.scale_x,
            height: self.rectangle.height * outer.scale_y,
        };
    }
}

/// The remaining time, for waits inside the page.
pub(crate) fn milliseconds_left(deadline: Deadline) -> u64 {
    let left = deadline.instant().saturating_duration_since(tokio::time::Instant::now());
    // Rounded up to tenths of a second, because errors quote it.
    let milliseconds = u64::try_from(left.as_millis()).unwrap_or(u64::MAX).max(1);
    if milliseconds > 1_000 { milliseconds.div_ceil(100) * 100 } else { milliseconds }
}

/// The whole time of an action, which errors quote.
pub(crate) fn milliseconds_allowed(deadline: Deadline) -> u64 {
    u64::try_from(deadline.length().as_millis()).unwrap_or(u64::MAX)
}

/// A little longer than the agent's own timeout, so that the agent's error arrives before ours.
pub(crate) fn with_grace(deadline: Deadline) -> Deadline {
    Deadline::at(deadline.instant() + PAGE_GRACE)
}
