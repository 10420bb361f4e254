//! `drag`: drags an element to another one, or by a distance.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure};
use tabwire_policy::{Capability, Needs};

use crate::action::arguments::PointingArguments;
use crate::action::context::Context;
use crate::action::result::Changes;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::input::drag::Drag as Dragging;
use crate::input::element::{Element, Point, ResolvedTarget, TargetArguments};
use crate::limits::DRAG_STEPS;
use crate::page::Page;
use crate::settle::InputAction;

/// Drag an element onto another one, or by a distance.
///
/// Presses, moves in steps and releases the mouse. Works with HTML drag and drop and with pages that handle mouse
/// events.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Drag {
    #[command(flatten)]
    #[serde(flatten)]
    target: TargetArguments,
    /// The element to drop it on.
    #[arg(conflicts_with = "by")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "target"))]
    to: Option<String>,
    /// Which of several matches of the element to drop on, counted from 1.
    #[arg(long, value_name = "N")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    to_nth: Option<u32>,
    /// The point in the element to drop on, from its top left: X,Y.
    #[arg(long, value_name = "X,Y", value_parser = crate::actions::parse_position)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    to_position: Option<(f64, f64)>,
    /// How far to drag it instead, in pixels: X,Y.
    #[arg(long, value_name = "X,Y", value_parser = crate::actions::parse_position, allow_hyphen_values = true)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<(f64, f64)>,
    /// Mouse moves between start and end; 10 by default.
    #[arg(long, value_name = "N")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    steps: Option<u8>,
    #[command(flatten)]
    #[serde(flatten)]
    pointing: PointingArguments,
}

/// The result of a drag.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct DragResult {
    /// The element that was dragged.
    element: String,
    /// The element it was dropped on.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    /// Whether it was HTML drag and drop (with data), not only mouse moves.
    native: bool,
    /// Whether the drag changed nothing on the page: no element, attribute, request or URL.
    #[serde(skip_serializing_if = "crate::action::result::is_false")]
    unchanged: bool,
    /// The drop effect: `move`, `copy`, `link`, or `none` if no element accepted the drop.
    #[serde(skip_serializing_if = "Option::is_none")]
    effect: Option<String>,
    /// What changed.
    #[serde(flatten)]
    changes: Changes,
}

impl Action for Drag {
    const NAME: &'static str = "drag";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire drag e3 e9", "Drag one element onto another."),
        Example::new("tabwire drag e3 --by 120,0", "Drag a slider 120 pixels to the right."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Input).hiding(&["steps"]);
    type Output = DragResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<DragResult, Failure> {
        let destination = self.destination()?;
        let action = InputAction::start(context).await?;
        let page = action.page().clone();
        let resolved = match &destination {
            Some(target) => Some(self.find_destination(context, &page, target).await?),
            None => None,
        };
        let mut element =
            page.prepare(&self.target, "hover", self.pointing.request(false), context.deadline).await?;
        let _: Value = page
            .call_in(&element.frame, "watchDrag", &json!({"key": element.key()}), context.deadline)
            .await?;
        let dropped_on;
        let mut input = page.lock_input(context.deadline).await?;
        if !self.pointing.force {
            page.ensure_hit_target(&element, &mut input, context.deadline).await?;
        }
        if let (Some((x, y)), from) = (self.by, element.info.point) {
            page.check_point(Point { x: from.x + x, y: from.y + y }, context.deadline).await?;
        }
        let start = (&element.frame, element.info.point);
        let mut dragging =
            Dragging::begin(&page, &mut input, start, self.pointing.bits(), context.deadline).await?;
        dragging = dragging.with_steps(self.steps.unwrap_or(DRAG_STEPS));
        let to = match self.end_of(context, &page, &element, resolved.as_ref()).await {
            Ok(DragEnd { point, on, mark }) => {
                dropped_on = on;
                element.info.mark = mark.or(element.info.mark);
                point
            }
            Err(failure) => {
                dragging.cancel().await;
                return Err(failure);
            }
        };
        let dragged = dragging.finish(to).await;
        drop(input);
        let native = dragged.as_ref().is_ok_and(|native| *native);
        let effect = if native { end_of_drag(context, &page, &element).await } else { None };
        let changes = action.settle(&element, dragged.map(|_| ()), json!({})).await?.changes;
        let unchanged = changes.is_nothing();
        Ok(DragResult { unchanged, element: element.description(), to: dropped_on, native, effect, changes })
    }
}

/// Where a drag ends.
struct DragEnd {
    point: Point,
    /// The element there.
    on: Option<String>,
    /// The watch that started when that element was measured.
    mark: Option<u64>,
}

impl Drag {
    fn destination(&self) -> Result<Option<TargetArguments>, Failure> {
        let bad = |message: &str| {
            Err(Failure::new(ErrorCode::BadArgs, message)
                .with_remedy("Give an element to drop on, or a distance."))
        };
        match (&self.to, self.by) {
            (Some(_), Some(_)) => bad("`to` and `by` exclude each other."),
            (None, None) => bad("`to` or `by` is required."),
            (None, Some(_)) if self.to_nth.is_some() || self.to_position.is_some() => {
                bad("`to_nth` and `to_position` need an element to drop on.")
            }
            (None, Some(_)) => Ok(None),
            (Some(target), None) => Ok(Some(TargetArguments { target: target.clone(), nth: self.to_nth })),
        }
    }

    /// Finds the element to drop on before the mouse button is pressed.
    async fn find_destination(
        &self,
        context: &Context,
        page: &Page,
        target: &TargetArguments,
    ) -> Result<ResolvedTarget, Failure> {
        let resolved = page.resolve(target, context.deadline).await?;
        page.prepare_resolved(&resolved, "drop", self.drop_request(), context.deadline).await?;
        Ok(resolved)
    }

    fn drop_request(&self) -> Value {
        let mut request = json!({"force": self.pointing.force});
        if let Some((x, y)) = self.to_position {
            request["position"] = json!({"x": x, "y": y});
        }
        request
    }

    /// The point to release at. Measured while the button is held: preparing the dragged element may scroll the page.
    async fn end_of(
        &self,
        context: &Context,
        page: &Page,
        element: &Element,
        resolved: Option<&ResolvedTarget>,
    ) -> Result<DragEnd, Failure> {
        if let Some(resolved) = resolved {
            let on = page.prepare_resolved(resolved, "drop", self.drop_request(), context.deadline).await?;
            // The last watch of a document counts its changes.
            let mark = on.info.mark.filter(|_| on.frame == element.frame);
            return Ok(DragEnd { point: on.info.point, on: Some(on.description()), mark });
        }
        let (x, y) = self.by.unwrap_or_default();
        let from = element.info.point;
        Ok(DragEnd { point: Point { x: from.x + x, y: from.y + y }, on: None, mark: None })
    }
}

/// The drop effect; none if the page navigated.
async fn end_of_drag(context: &Context, page: &Page, element: &Element) -> Option<String> {
    page.call_in::<Option<String>>(&element.frame, "dragEnd", &json!({}), context.deadline)
        .await
        .ok()
        .flatten()
}

impl Render for DragResult {
    fn render(&self) -> String {
        let mut lines = vec![match &self.to {
            Some(to) => format!("dragged {} onto {to}", self.element),
            None => format!("dragged {}", self.element),
        }];
        match self.effect.as_deref() {
            Some("none") => lines.push("no element accepted the drop".to_owned()),
            Some(effect) => lines.push(format!("dropped: {effect}")),
            None => {}
        }
        if self.unchanged {
            lines.push("nothing changed on the page".to_owned());
        }
        lines.extend(self.changes.lines());
        lines.join("\n")
    }
}
