//! `scroll`: scrolls the page or an element.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_policy::{Capability, Needs};

use crate::action::arguments::OptionalTarget;
use crate::action::context::Context;
use crate::action::result::Changes;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::input::element::Element;
use crate::input::locator::Locator;
use crate::page::Page;
use crate::settle::InputAction;
use crate::snapshot::PageText;

/// Scroll the page, scroll inside an element, or scroll an element into view.
///
/// A target alone is scrolled into view. With --by or --to, the target or its scroll container is scrolled. Waits for
/// content that scrolling loads, and reports the final position.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Scroll {
    #[command(flatten)]
    #[serde(flatten)]
    target: OptionalTarget,
    /// How far, in pixels: X,Y. Up and left are negative.
    #[arg(long, value_name = "X,Y", value_parser = crate::actions::parse_position, allow_hyphen_values = true, conflicts_with = "to")]
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "read_distance")]
    #[schemars(with = "Option<String>", extend("x-carries" = "text"))]
    by: Option<(f64, f64)>,
    /// Where to: top, bottom, left, right, or a position X,Y.
    #[arg(long, value_name = "EDGE|X,Y")]
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "read_place")]
    #[schemars(extend("x-carries" = "text"))]
    to: Option<String>,
    /// Scroll down step by step until this element is on the page, then to it: for lists that load more.
    #[arg(long, value_name = "TARGET", conflicts_with_all = ["by", "to"])]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "target"))]
    until: Option<String>,
}

/// The shortest step of a search, in pixels.
const FIRST_STEP: f64 = 300.0;

/// The part of the view that a step moves.
const STEP_OF_VIEW: f64 = 0.8;

/// A distance or position as models and programs write it: "0,600" or [0, 600].
#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenPosition {
    Text(String),
    Pair((f64, f64)),
}

/// Reads a distance in both forms.
fn read_distance<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<(f64, f64)>, D::Error> {
    match read_written(deserializer)? {
        Some(WrittenPosition::Text(text)) => {
            crate::actions::parse_position(&text).map(Some).map_err(serde::de::Error::custom)
        }
        Some(WrittenPosition::Pair(pair)) => Ok(Some(pair)),
        None => Ok(None),
    }
}

/// Reads an edge, or a position in both forms.
fn read_place<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(read_written(deserializer)?.map(|written| match written {
        WrittenPosition::Text(text) => text,
        WrittenPosition::Pair((x, y)) => format!("{x},{y}"),
    }))
}

fn read_written<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<WrittenPosition>, D::Error> {
    Option::<WrittenPosition>::deserialize(deserializer)
        .map_err(|_| serde::de::Error::custom("expected a text such as 0,600 or a list such as [0, 600]"))
}

/// The result of scrolling.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ScrollResult {
    /// What was scrolled: an element, or the page.
    scrolled: String,
    /// How far it moved to the right.
    moved_x: f64,
    /// How far it moved down.
    moved_y: f64,
    /// The position now.
    place: ScrollPosition,
    /// The edges it is at now.
    at: Vec<String>,
    /// What changed.
    #[serde(flatten)]
    changes: Changes,
}

/// A scroll position.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all(deserialize = "camelCase"))]
pub(crate) struct ScrollPosition {
    /// From the left.
    x: f64,
    /// From the top.
    y: f64,
    /// The width of the whole content.
    width: f64,
    /// The height of the whole content.
    height: f64,
    /// The width of the visible part.
    view_width: f64,
    /// The height of the visible part.
    view_height: f64,
}

/// The page agent's response to `scroll`.
#[derive(Deserialize)]
struct ScrollResponse {
    scroller: Option<Scroller>,
    before: ScrollPosition,
    after: ScrollPosition,
}

#[derive(Deserialize)]
struct Scroller {
    role: String,
    name: PageText,
}

impl Action for Scroll {
    const NAME: &'static str = "scroll";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire scroll --to bottom", "Scroll to the end of the page."),
        Example::new("tabwire scroll --target e6", "Scroll an element into view."),
        Example::new("tabwire scroll --until 'text=Imprint'", "Scroll down until this text is there."),
        Example::new("tabwire scroll --by 0,600", "Scroll down 600 pixels."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Default);
    type Output = ScrollResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<ScrollResult, Failure> {
        match self.until.clone() {
            Some(until) => self.scroll_until(&until, context).await,
            None => self.scroll_once(context).await,
        }
    }
}

impl Scroll {
    /// Scrolls down until an element is on the page, then scrolls to it.
    async fn scroll_until(self, until: &str, context: &Context) -> Result<ScrollResult, Failure> {
        if self.by.is_some() || self.to.is_some() {
            return Err(Failure::new(ErrorCode::BadArgs, "`until` excludes `by` and `to`.")
                .with_remedy("Leave them out."));
        }
        let Locator::Words(spec) = Locator::parse(until)? else {
            return Err(Failure::new(ErrorCode::BadArgs, "`until` takes a selector, not a ref.")
                .with_remedy("An element with a ref is on the page: give it as the target."));
        };
        let page = context.page().await?;
        let mut step = FIRST_STEP;
        loop {
            page.scope(context.deadline).await?;
            let found = page.locate_everywhere(&page.scope_frames(), &spec, context.deadline).await?;
            if found.iter().any(|(_, located)| located.total > 0) {
                let target = OptionalTarget { target: Some(until.to_owned()), nth: Some(1) };
                return Self { target, by: None, to: None, until: None }.scroll_once(context).await;
            }
            let next = Self { target: self.target.clone(), by: Some((0.0, step)), to: None, until: None };
            let done = next.scroll_once(context).await?;
            step = (done.place.view_height * STEP_OF_VIEW).max(FIRST_STEP);
            let is_over = done.moved_y.abs() < 1.0 && !done.changes.content;
            if is_over || tokio::time::Instant::now() >= context.deadline.instant() {
                return Err(not_reached(until, is_over));
            }
        }
    }

    async fn scroll_once(self, context: &Context) -> Result<ScrollResult, Failure> {
        let target = self.target.given()?;
        let mut argument = self.request()?;
        let mut action = InputAction::start(context).await?;
        let page = action.page().clone();
        let element = match &target {
            Some(target) => page.prepare(target, "scroll", json!({}), context.deadline).await?,
            None => {
                action.about_page();
                page.observe_page(context.deadline).await?
            }
        };
        if target.is_some() {
            argument["key"] = json!(element.key());
        }
        let first: ScrollResponse =
            page.call_in(&element.frame, "scroll", &argument, context.deadline).await?;
        let drawn = page.call_in::<()>(&element.frame, "drawn", &json!({}), context.deadline).await;
        let changes = action.settle(&element, drawn, json!({})).await?.changes;
        let last = read_position(context, &page, &element, &argument).await.unwrap_or(first.after);
        Ok(scrolled(first.scroller, &first.before, last, changes))
    }
}

impl Scroll {
    /// The argument for the page agent.
    fn request(&self) -> Result<Value, Failure> {
        let bad = |message: &str, hint: &str| Failure::new(ErrorCode::BadArgs, message).with_remedy(hint);
        let edges = "Give top, bottom, left, right, or a position such as 0,1200.";
        match (self.by, self.to.as_deref()) {
            (Some(_), Some(_)) => Err(bad("`by` and `to` exclude each other.", "Leave one out.")),
            (Some((x, y)), None) => Ok(json!({"by": {"x": x, "y": y}})),
            (None, Some(edge @ ("top" | "bottom" | "left" | "right"))) => Ok(json!({"edge": edge})),
            (None, Some(place)) => match crate::actions::parse_position(place) {
                Ok((x, y)) => Ok(json!({"to": {"x": x, "y": y}})),
                Err(_) => Err(bad(&format!("Invalid position {place:?}."), edges)),
            },
            (None, None) if self.target.target.is_some() => Ok(json!({})),
            (None, None) => {
                Err(bad("`by`, `to` or a target is required.", "Give a target, a distance or a position."))
            }
        }
    }
}

fn not_reached(until: &str, is_over: bool) -> Failure {
    let until = PageText::new(until);
    let message = if is_over {
        format!("The end was reached, and nothing matches {}.", until.quoted())
    } else {
        format!("Nothing matched {} in time.", until.quoted())
    };
    let code = if is_over { ErrorCode::SelectorNotFound } else { ErrorCode::Timeout };
    Failure::new(code, message)
        .with_remedy(Remedy::new("Run {} to see the page.", [Step::action("snapshot")]))
}

/// Reads the position after content has loaded; none if the scrolled element is gone.
async fn read_position(
    context: &Context,
    page: &Page,
    element: &Element,
    argument: &Value,
) -> Option<ScrollPosition> {
    let nowhere = json!({"key": argument.get("key"), "by": {"x": 0, "y": 0}});
    let response: ScrollResponse =
        page.call_in(&element.frame, "scroll", &nowhere, context.deadline).await.ok()?;
    Some(response.after)
}

fn scrolled(
    scroller: Option<Scroller>,
    before: &ScrollPosition,
    place: ScrollPosition,
    changes: Changes,
) -> ScrollResult {
    let scrolled = scroller.map_or_else(
        || "the page".to_owned(),
        |one| {
            if one.name.as_str().is_empty() {
                one.role
            } else {
                format!("{} {:?}", one.role, one.name.as_str())
            }
        },
    );
    let edges = [
        ("top", place.y <= 0.0),
        ("bottom", place.y + place.view_height >= place.height - 1.0),
        ("left", place.x <= 0.0),
        ("right", place.x + place.view_width >= place.width - 1.0),
    ];
    let at = edges.iter().filter(|(_, is_there)| *is_there).map(|(edge, _)| (*edge).to_owned()).collect();
    ScrollResult { scrolled, moved_x: place.x - before.x, moved_y: place.y - before.y, place, at, changes }
}

impl Render for ScrollResult {
    fn render(&self) -> String {
        let ScrollPosition { x, y, width, height, view_width, view_height } = &self.place;
        let mut lines = vec![
            format!("scrolled {} by {},{}", self.scrolled, self.moved_x, self.moved_y),
            format!("at {x},{y} of {width}x{height}, {view_width}x{view_height} in view"),
        ];
        if !self.at.is_empty() {
            lines.push(format!("reached: {}", self.at.join(", ")));
        }
        lines.extend(self.changes.lines());
        lines.join("\n")
    }
}
