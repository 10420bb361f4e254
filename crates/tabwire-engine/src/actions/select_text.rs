//! `select_text`: selects text in an element, as a user does with the mouse.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_api::{Failure, count};
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::result::Changes;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::input::element::{Point, TargetArguments};
use crate::input::mouse::MouseButton;
use crate::settle::InputAction;
use crate::snapshot::PageText;

/// How much of the selected text a result shows.
const SHOWN_CHARACTERS: usize = 120;

/// Select text in an element, as a drag of the mouse over it does.
///
/// Selects the given text, or all text of the element. Keys and the clipboard then act on the selection.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct SelectText {
    #[command(flatten)]
    #[serde(flatten)]
    target: TargetArguments,
    /// The text to select, as the element shows it; all of its text by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text"))]
    text: Option<String>,
}

/// What was selected.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct SelectTextResult {
    /// The element.
    element: String,
    /// The selected text; a long one is cut.
    selected: String,
    /// Its length in characters.
    characters: usize,
    /// What changed.
    #[serde(flatten)]
    changes: Changes,
}

/// What the page agent selected.
#[derive(Deserialize)]
struct Selection {
    text: String,
    /// The end of the selection, from the element's top left.
    end: Point,
}

impl Action for SelectText {
    const NAME: &'static str = "select_text";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire select-text e7", "Select all text of an element."),
        Example::new("tabwire select-text e7 'two words'", "Select a part of it."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Input);
    type Output = SelectTextResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<SelectTextResult, Failure> {
        let action = InputAction::start(context).await?;
        let page = action.page().clone();
        let element = page.prepare(&self.target, "hover", json!({"force": true}), context.deadline).await?;
        let argument = json!({"key": element.key(), "text": self.text});
        let selection: Selection =
            page.call_in(&element.frame, "selectText", &argument, context.deadline).await?;
        let rectangle = element.info.rectangle;
        let end = Point { x: rectangle.x + selection.end.x, y: rectangle.y + selection.end.y };
        let mut input = page.lock_input(context.deadline).await?;
        // Pages that react to a selection wait for the release of the button. A press would clear the selection, so only
        // the release is sent.
        let is_inside = end.x >= 0.0 && end.y >= 0.0 && page.check_point(end, context.deadline).await.is_ok();
        let released = if is_inside {
            let replies = vec![
                page.begin_move(&mut input, end, 0, context.deadline),
                page.begin_release(&mut input, MouseButton::Left, 0, context.deadline),
            ];
            page.wait_all(replies).await
        } else {
            Ok(())
        };
        drop(input);
        let changes = action.settle(&element, released, json!({})).await?.changes;
        Ok(SelectTextResult {
            element: element.description(),
            characters: selection.text.chars().count(),
            selected: PageText::cut(&selection.text, SHOWN_CHARACTERS).as_str().to_owned(),
            changes,
        })
    }
}

impl Render for SelectTextResult {
    fn render(&self) -> String {
        let selected = PageText::cut(&self.selected, SHOWN_CHARACTERS);
        let characters = count(self.characters, "character");
        let mut lines = vec![format!("selected {characters} in {}: {}", self.element, selected.quoted())];
        lines.extend(self.changes.lines());
        lines.join("\n")
    }
}
