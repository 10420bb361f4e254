//! An element that is ready to be acted on: found, waited for, scrolled to, and where it is in the tab.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, FrameId};
use tabwire_cdp::Deadline;
use tabwire_policy::Capability;

use crate::frames::tree::ContextId;
use crate::input::locator::Locator;
use crate::limits::{LEAVE_LOOK, LEAVE_TIMEOUT};
use crate::page::Page;
use crate::snapshot::{DocumentName, ElementHandle, ElementKey, ElementRef, RefMeaning};

/// Which element is meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct TargetArguments {
    /// The element: a ref (e12), a CSS selector, or text=, role=, label=, placeholder=, testid=, xpath=.
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
    /// How wide.
    pub width: f64,
    /// How high.
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
    /// The watch over what changes, begun when the element was ready.
    pub(crate) mark: Option<u64>,
    /// What else the agent says, for the actions that ask for it.
    #[serde(flatten)]
    pub(crate) more: serde_json::Map<String, Value>,
}

fn null_is_default<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Point, D::Error> {
    Option::<Point>::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// An element that can be acted on now.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    /// The frame whose agent knows it.
    pub(crate) frame: FrameId,
    /// What the agent said of it; point and rectangle are the tab's.
    pub(crate) info: ElementInfo,
    /// Its document's world, where it was named by a ref and so is in no other document.
    pub(crate) world: Option<ContextId>,
}

impl Element {
    /// The element in the page agent's words, for further calls in its frame.
    pub(crate) fn key(&self) -> ElementKey {
        self.info.key
    }

    /// How it is called in responses: `button "Pay"`.
    pub(crate) fn description(&self) -> String {
        let role = if self.info.role.is_empty() { "element" } else { &self.info.role };
        if self.info.name.is_empty() { role.to_owned() } else { format!("{role} {:?}", self.info.name) }
    }
}

/// Where an element is looked for, and how: in one frame, in the page agent's words.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedTarget {
    pub(crate) frame: FrameId,
    pub(crate) spec: Value,
    /// Which of several matches, counted from 0.
    pub(crate) nth: Option<u32>,
    /// What was asked for, when there was but one frame to look in: others may come.
    pub(crate) guess: Option<TargetArguments>,
}

impl ResolvedTarget {
    /// The same in the frame in which the element was found.
    pub(crate) fn in_frame_of(&self, element: &Element) -> Self {
        Self { frame: element.frame.clone(), ..self.clone() }
    }

    /// Another element of the same frame, which its agent speaks of.
    pub(crate) fn with_key(&self, document: &DocumentName, key: ElementKey) -> Self {
        let spec = json!({"document": document, "key": key});
        Self { frame: self.frame.clone(), spec, nth: None, guess: None }
    }
}

impl Page {
    /// Finds an element and waits until it is ready for what is asked (`purpose`, `extra` in the agent's words).
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

    /// Finds out in which frame an element is to be looked for.
    pub(crate) async fn resolve(
        &self,
        target: &TargetArguments,
        deadline: Deadline,
    ) -> Result<ResolvedTarget, Failure> {
        if target.nth == Some(0) {
            return Err(Failure::new(ErrorCode::BadArgs, "Matches are counted from 1; there is no match 0."));
        }
        Ok(match Locator::parse(&target.target)? {
            Locator::Ref(given) => {
                let handle = self.find_ref(given)?;
                let spec = json!({"document": handle.document, "key": handle.key});
                ResolvedTarget { frame: handle.frame, spec, nth: None, guess: None }
            }
            Locator::Words(spec) => {
                self.scope(deadline).await?;
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

    /// Waits until an element is ready for what is asked.
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
        let is_hit =
            matches!(purpose, "click" | "check" | "hover" | "drop") && argument["force"] != json!(true);
        // The agent of another document knows no such ref.
        let world =
            resolved.spec.get("document").and_then(|_| self.session().agent_context_id(&resolved.frame));
        let here = self.call_in(&resolved.frame, "prepare", &argument, with_grace(deadline));
        let (frame, answered) = tokio::select! {
            biased;
            answered = here => (resolved.frame.clone(), answered),
            frame = self.appears_elsewhere(resolved, deadline) => {
                self.check_purpose(&frame, purpose)?;
                let answered = self.call_in(&frame, "prepare", &argument, with_grace(deadline)).await;
                (frame, answered)
            }
        };
        let info: ElementInfo = answered.map_err(|failure| self.with_refs(&frame, failure))?;
        let mut element = Element { frame, info, world };
        self.place_in_tab(&mut element, is_hit, deadline).await?;
        Ok(element)
    }

    /// Fails when what an element is prepared for may not be done in its frame.
    fn check_purpose(&self, frame: &FrameId, purpose: &str) -> Result<(), Failure> {
        if purpose == "upload" {
            self.check_frame(frame, Capability::Upload)?;
        }
        self.check_frame(frame, if purpose == "read" { Capability::Read } else { Capability::Act })
    }

    /// Makes sure that the document of an element that a ref stood for is still there: input goes to whatever is. One
    /// that is about to go is given a moment to do so; a server that takes longer is not waited for.
    pub(crate) async fn check_same_document(&self, element: &Element) -> Result<(), Failure> {
        let Some(world) = element.world else { return Ok(()) };
        let until = tokio::time::Instant::now() + LEAVE_TIMEOUT;
        while self.session().is_navigating(&element.frame) && tokio::time::Instant::now() < until {
            tokio::time::sleep(LEAVE_LOOK).await;
        }
        if self.session().agent_context_id(&element.frame) == Some(world) {
            return Ok(());
        }
        let message =
            format!("The page went to another document before {} was reached.", element.description());
        Err(Failure::new(ErrorCode::RefExpired, message)
            .with_remedy("Take a new `tabwire snapshot` and use its refs."))
    }

    pub(crate) fn find_ref(&self, given: ElementRef) -> Result<ElementHandle, Failure> {
        let meaning = self.refs().meaning(given);
        let (code, message) = match meaning {
            RefMeaning::Element(handle) => return Ok(handle),
            RefMeaning::Expired => {
                (ErrorCode::RefExpired, format!("The element {given} is not on the page any more."))
            }
            RefMeaning::Unknown => {
                (ErrorCode::RefExpired, format!("No snapshot of this tab has given out a ref {given}."))
            }
        };
        Err(Failure::new(code, message).with_remedy("Take a new `tabwire snapshot` and use its refs."))
    }

    /// Moves an element's point and rectangle from its frame's view to the tab's. When the point is to be hit, the
    /// frames above are scrolled so that it is in view, and nothing may cover it there.
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
            self.session().register_frame_owner(&inner, deadline).await?;
            let mut argument = json!({"frame": inner.id});
            if is_hit {
                argument["point"] = json!(element.info.point);
            }
            let outer = self.call_in::<FrameBox>(&parent, "frameBox", &argument, deadline).await;
            match outer.map_err(|failure| self.with_refs(&parent, failure)) {
                Ok(outer) => element.info.move_out(&outer),
                Err(failure) if is_hit || failure.code != ErrorCode::NotActionable => return Err(failure),
                // A frame that is not shown has no place in the tab; what is done by other means still is.
                Err(_) => return Ok(()),
            }
            frame = self.find_frame(&parent);
        }
        Ok(())
    }
}

/// Where the inside of a frame lies in the view of the one above it.
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

/// The time that is left, for waits inside the page.
pub(crate) fn milliseconds_left(deadline: Deadline) -> u64 {
    let left = deadline.instant().saturating_duration_since(tokio::time::Instant::now());
    // To the tenth of a second where it makes no difference: it is told in errors.
    let milliseconds = u64::try_from(left.as_millis()).unwrap_or(u64::MAX).max(1);
    if milliseconds > 1_000 { milliseconds.div_ceil(100) * 100 } else { milliseconds }
}

/// A little longer than the page's own wait, so that the page can say what it was waiting for.
pub(crate) fn with_grace(deadline: Deadline) -> Deadline {
    Deadline::at(deadline.instant() + crate::limits::PAGE_GRACE)
}
