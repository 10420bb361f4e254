//! `mouse`: moves the mouse, presses and releases its buttons, turns its wheel.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::result::{ActionResult, Changes};
use crate::action::{Action, Effect, Example, ToolGroup, ToolOptions};
use crate::input::drag::Drag;
use crate::input::element::Point;
use crate::input::mouse::{Modifier, Mouse as MouseState, MouseButton, modifier_bits};
use crate::limits::DRAG_STEPS;
use crate::page::Page;
use crate::settle::InputAction;

/// Move the mouse, click, drag, press or release a button, or turn the wheel, at a point of the tab.
///
/// For content without elements, such as a canvas. Buttons stay pressed between calls.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Mouse {
    /// What to do.
    #[arg(value_enum)]
    what: MouseOperation,
    /// The point, in CSS pixels from the top left of the tab: X,Y; the mouse's position by default.
    #[arg(value_name = "X,Y", value_parser = crate::actions::parse_position)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<(f64, f64)>,
    /// Which button.
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    button: MouseButton,
    /// How far to turn the wheel, in pixels: X,Y. Up and left are negative.
    #[arg(long, value_name = "X,Y", value_parser = crate::actions::parse_position, allow_hyphen_values = true)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<(f64, f64)>,
    /// Where a drag ends, in CSS pixels from the top left of the tab: X,Y.
    #[arg(long, value_name = "X,Y", value_parser = crate::actions::parse_position)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    to: Option<(f64, f64)>,
    /// How long a drag takes, in milliseconds; as fast as the page follows by default.
    #[arg(long, value_name = "MILLISECONDS")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    duration: Option<u64>,
    /// A key to hold; may be repeated.
    #[arg(long = "modifier", value_enum, value_name = "KEY")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    modifiers: Vec<Modifier>,
}

/// The longest drag.
const DRAG_MILLISECONDS: u64 = 10_000;

/// What to do with the mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MouseOperation {
    /// Move it.
    Move,
    /// Press a button.
    Down,
    /// Release a button.
    Up,
    /// Turn the wheel.
    Wheel,
    /// Press and release a button.
    Click,
    /// Press a button, move to another point in steps, and release it there.
    Drag,
}

impl Action for Mouse {
    const NAME: &'static str = "mouse";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire mouse move 120,340", "Move the mouse to a point of the viewport."),
        Example::new("tabwire mouse click 120,340", "Click at a point."),
        Example::new("tabwire mouse drag 40,60 --to 200,60", "Drag from a point to another one."),
        Example::new("tabwire mouse wheel --by 0,400", "Turn the wheel at the mouse's position."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Vision);
    type Output = ActionResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<ActionResult, Failure> {
        self.check()?;
        let mut action = InputAction::start(context).await?;
        let page = action.page().clone();
        let surroundings = page.observe_page(context.deadline).await?;
        let mut input = page.lock_input(context.deadline).await?;
        let modifiers = modifier_bits(&self.modifiers);
        let there = self.at.map_or(input.point, |(x, y)| Point { x, y });
        page.check_point(there, context.deadline).await?;
        action.point_at(there);
        let mut replies = Vec::new();
        if let Some((x, y)) = self.at {
            replies.push(page.begin_move(&mut input, Point { x, y }, modifiers, context.deadline));
        }
        if self.what == MouseOperation::Drag {
            let outcome = self.drag(&page, &mut input, context).await;
            drop(input);
            let (x, y) = self.to.unwrap_or_default();
            action.point_at(Point { x, y });
            let changes = action.settle(&surroundings, outcome, json!({})).await?.changes;
            return Ok(self.dragged(there, changes));
        }
        let point = input.point;
        let did = match (self.what, self.by) {
            (MouseOperation::Move, _) => "moved the mouse to",
            (MouseOperation::Down, _) => {
                replies.push(page.begin_press(&mut input, self.button, modifiers, context.deadline));
                "pressed the mouse at"
            }
            (MouseOperation::Up, _) => {
                replies.push(page.begin_release(&mut input, self.button, modifiers, context.deadline));
                "released the mouse at"
            }
            (MouseOperation::Click | MouseOperation::Drag, _) => {
                replies.push(page.begin_press(&mut input, self.button, modifiers, context.deadline));
                replies.push(page.begin_release(&mut input, self.button, modifiers, context.deadline));
                "clicked at"
            }
            (MouseOperation::Wheel, by) => {
                let (x, y) = by.unwrap_or_default();
                replies.push(page.begin_wheel(*input, Point { x, y }, modifiers, context.deadline));
                "turned the wheel at"
            }
        };
        let mut moved = page.wait_all(replies).await;
        drop(input);
        if moved.is_ok() && self.what == MouseOperation::Wheel {
            moved = page.call::<()>("drawn", &json!({}), context.deadline).await;
        }
        let changes = action.settle(&surroundings, moved, json!({})).await?.changes;
        Ok(ActionResult { did: format!("{did} {},{}", point.x, point.y), element: None, changes })
    }
}

impl Mouse {
    /// Presses the button, moves in steps to the end, and releases the button.
    async fn drag(&self, page: &Page, input: &mut MouseState, context: &Context) -> Result<(), Failure> {
        let (x, y) = self.to.unwrap_or_default();
        let to = Point { x, y };
        page.check_point(to, context.deadline).await?;
        let from = self.at.map_or(input.point, |(x, y)| Point { x, y });
        let start = (page.main_frame(), from);
        let dragging =
            Drag::begin(page, input, start, modifier_bits(&self.modifiers), context.deadline).await?;
        let pause = Duration::from_millis(self.duration.unwrap_or_default()) / u32::from(DRAG_STEPS);
        dragging.with_pause(pause).finish(to).await.map(drop)
    }

    fn dragged(&self, from: Point, changes: Changes) -> ActionResult {
        let (x, y) = self.to.unwrap_or_default();
        let end = if changes.is_nothing() { "; nothing changed on the page" } else { "" };
        let did = format!("dragged from {},{} to {x},{y}{end}", from.x, from.y);
        ActionResult { did, element: None, changes }
    }

    fn check(&self) -> Result<(), Failure> {
        let bad = |message: &str, remedy: Remedy| {
            Err(Failure::new(ErrorCode::BadArgs, message).with_remedy(remedy))
        };
        let is_drag = self.what == MouseOperation::Drag;
        if is_drag != self.to.is_some() || (!is_drag && self.duration.is_some()) {
            let message = "`drag` needs `to`; `to` and `duration` are only for `drag`.";
            return bad(message, "Give the point where the drag ends, or leave both out.".into());
        }
        if is_drag && self.button != MouseButton::Left {
            return bad("`drag` uses the left button.", "Leave `button` out.".into());
        }
        if self.duration.is_some_and(|duration| duration > DRAG_MILLISECONDS) {
            return bad("`duration` is at most 10000.", "Give fewer milliseconds.".into());
        }
        let to = self.to.unwrap_or_default();
        match (self.what, self.at, self.by) {
            (MouseOperation::Click | MouseOperation::Drag, None, _) => {
                bad("`click` and `drag` need a point.", "Give X,Y.".into())
            }
            (MouseOperation::Move, None, _) => bad("`move` needs a point.", "Give X,Y.".into()),
            (MouseOperation::Wheel, _, None) => bad(
                "`wheel` needs a distance.",
                Remedy::new("Add {}.", [Step::argument_value("by", "0,400")]),
            ),
            (
                MouseOperation::Move
                | MouseOperation::Down
                | MouseOperation::Up
                | MouseOperation::Click
                | MouseOperation::Drag,
                _,
                Some(_),
            ) => bad("`by` is only for `wheel`.", "Leave it out.".into()),
            (_, Some((x, y)), _) if x.min(to.0) < 0.0 || y.min(to.1) < 0.0 => bad(
                "The point is outside the tab.",
                "Give X and Y from the tab's top left, both at least 0.".into(),
            ),
            _ => Ok(()),
        }
    }
}
