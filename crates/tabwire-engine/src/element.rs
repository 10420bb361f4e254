//! An element that is ready to be acted on: found, waited for, scrolled to, and where it is in the tab.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_cdp::Deadline;
use tabwire_wire::{ErrorCode, Failure, FrameId};

use crate::locator::Locator;
use crate::page::Page;
use crate::snapshot::{ElementHandle, ElementKey, ElementRef, RefMeaning};

/// Which element is meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct TargetArguments {
    /// The element: a ref (e12), a CSS selector, or text=, role=, label=, placeholder=, testid=, xpath=.
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
pub(crate) struct Prepared {
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
    #[serde(default)]
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
    pub(crate) prepared: Prepared,
}

impl Element {
    /// The element in the page agent's words, for further calls in its frame.
    pub(crate) fn key(&self) -> ElementKey {
        self.prepared.key
    }

    /// How it is called in answers: `button "Pay"`.
    pub(crate) fn description(&self) -> String {
        let role = if self.prepared.role.is_empty() { "element" } else { &self.prepared.role };
        if self.prepared.name.is_empty() { role.to_owned() } else { format!("{role} {:?}", self.prepared.name) }
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
        if target.nth == Some(0) {
            return Err(Failure::new(ErrorCode::BadArgs, "Matches are counted from 1; there is no match 0."));
        }
        let mut argument = extra;
        argument["for"] = json!(purpose);
        argument["mark"] = json!(true);
        let frame = match Locator::parse(&target.target)? {
            Locator::Ref(given) => {
                let handle = self.find_ref(given)?;
                argument["spec"] = json!({"document": handle.document, "key": handle.key});
                handle.frame
            }
            Locator::Words(spec) => {
                let (frame, nth) = self.choose_frame(&spec, target, deadline).await?;
                argument["spec"] = spec;
                // The agent counts from 0.
                argument["nth"] = json!(nth.map(|nth| nth - 1));
                frame
            }
        };
        argument["timeout"] = json!(milliseconds_left(deadline));
        let answered = self.call_in(&frame, "prepare", &argument, with_grace(deadline)).await;
        let prepared: Prepared = answered.map_err(|failure| self.with_refs(&frame, failure))?;
        let mut element = Element { frame, prepared };
        self.place_in_tab(&mut element, deadline).await?;
        Ok(element)
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
        Err(Failure::new(code, message).with_hint("Take a new `tabwire snapshot` and use its refs."))
    }

    /// Moves an element's point and rectangle from its frame's view to the tab's.
    async fn place_in_tab(&self, element: &mut Element, deadline: Deadline) -> Result<(), Failure> {
        #[derive(Deserialize)]
        struct FrameBox {
            x: f64,
            y: f64,
            #[serde(default = "one")]
            scale: f64,
        }
        const fn one() -> f64 {
            1.0
        }
        if element.frame == *self.main_frame() {
            return Ok(());
        }
        let frames = self.driver().frames();
        let mut frame = frames.iter().find(|frame| frame.id == element.frame);
        while let Some((inner, parent)) = frame.and_then(|inner| Some((inner, inner.parent.as_ref()?))) {
            self.driver().name_frame(inner, deadline).await?;
            let argument = json!({"frame": inner.id});
            let outer: FrameBox = self.call_in(parent, "frameBox", &argument, deadline).await?;
            let prepared = &mut element.prepared;
            for (at, from) in [(&mut prepared.point.x, outer.x), (&mut prepared.point.y, outer.y)] {
                *at = from + *at * outer.scale;
            }
            let rectangle = &mut prepared.rectangle;
            rectangle.x = outer.x + rectangle.x * outer.scale;
            rectangle.y = outer.y + rectangle.y * outer.scale;
            rectangle.width *= outer.scale;
            rectangle.height *= outer.scale;
            frame = frames.iter().find(|frame| frame.id == *parent);
        }
        Ok(())
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
