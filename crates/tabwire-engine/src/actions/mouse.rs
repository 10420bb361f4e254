//! `mouse`: moves the mouse, presses and releases its buttons, turns its wheel.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::result::ActionResult;
use crate::action::{Action, Effect, Example, ToolGroup, ToolOptions};
use crate::input::element::Point;
use crate::input::mouse::{Modifier, MouseButton, modifier_bits};
use crate::settle::InputAction;

/// Move the mouse, press or release a button, or turn the wheel, at a point of the tab.
///
/// For content without elements, such as a canvas. Buttons stay pressed between calls.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Mouse {
    /// What to do.
    #[arg(value_enum)]
    what: What,
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
    /// A key to hold; may be repeated.
    #[arg(long = "modifier", value_enum, value_name = "KEY")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    modifiers: Vec<Modifier>,
}

/// What to do with the mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum What {
    /// Move it.
    Move,
    /// Press a button.
    Down,
    /// Release a button.
    Up,
    /// Turn the wheel.
    Wheel,
}

impl Action for Mouse {
    const NAME: &'static str = "mouse";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire mouse move 120,340", "Move the mouse to a point of the viewport."),
        Example::new("tabwire mouse wheel --by 0,400", "Turn the wheel at the mouse's position."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Vision);
    type Output = ActionResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<ActionResult, Failure> {
        self.check()?;
        let action = InputAction::start(context).await?;
        let page = action.page().clone();
        let surroundings = page.observe_page(context.deadline).await?;
        let mut input = page.lock_input(context.deadline).await?;
        let modifiers = modifier_bits(&self.modifiers);
        let there = self.at.map_or(input.point, |(x, y)| Point { x, y });
        page.check_point(there, context.deadline).await?;
        let mut replies = Vec::new();
        if let Some((x, y)) = self.at {
            replies.push(page.begin_move(&mut input, Point { x, y }, modifiers, context.deadline));
        }
        let point = input.point;
        let did = match (self.what, self.by) {
            (What::Move, _) => "moved the mouse to",
            (What::Down, _) => {
                replies.push(page.begin_press(&mut input, self.button, modifiers, context.deadline));
                "pressed the mouse at"
            }
            (What::Up, _) => {
                replies.push(page.begin_release(&mut input, self.button, modifiers, context.deadline));
                "released the mouse at"
            }
            (What::Wheel, by) => {
                let (x, y) = by.unwrap_or_default();
                replies.push(page.begin_wheel(*input, Point { x, y }, modifiers, context.deadline));
                "turned the wheel at"
            }
        };
        let mut moved = page.wait_all(replies).await;
        drop(input);
        if moved.is_ok() && self.what == What::Wheel {
            moved = page.call::<()>("drawn", &json!({}), context.deadline).await;
        }
        let changes = action.settle(&surroundings, moved, json!({})).await?.changes;
        Ok(ActionResult { did: format!("{did} {},{}", point.x, point.y), element: None, changes })
    }
}

impl Mouse {
    fn check(&self) -> Result<(), Failure> {
        let bad = |message: &str, remedy: Remedy| {
            Err(Failure::new(ErrorCode::BadArgs, message).with_remedy(remedy))
        };
        match (self.what, self.at, self.by) {
            (What::Move, None, _) => bad("`move` needs a point.", "Give X,Y.".into()),
            (What::Wheel, _, None) => bad(
                "`wheel` needs a distance.",
                Remedy::new("Add {}.", [Step::argument_value("by", "0,400")]),
            ),
            (What::Move | What::Down | What::Up, _, Some(_)) => {
                bad("`by` is only for `wheel`.", "Leave it out.".into())
            }
            (_, Some((x, y)), _) if x < 0.0 || y < 0.0 => bad(
                "The point is outside the tab.",
                "Give X and Y from the tab's top left, both at least 0.".into(),
            ),
            _ => Ok(()),
        }
    }
}
