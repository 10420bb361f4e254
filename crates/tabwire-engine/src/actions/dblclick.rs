//! `dblclick`: clicks an element twice in a row.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::Failure;
use tabwire_policy::{Capability, Needs};

use crate::action::arguments::PointingArguments;
use crate::action::context::Context;
use crate::action::result::ActionResult;
use crate::action::{Action, Effect, Example, ToolGroup, ToolOptions};
use crate::actions::click_element;
use crate::input::element::TargetArguments;
use crate::input::mouse::{Click, MouseButton};
use crate::settle::InputAction;

/// Double-click an element.
///
/// Waits for the element and reports what changed, like `click`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Dblclick {
    #[command(flatten)]
    #[serde(flatten)]
    target: TargetArguments,
    /// Which button.
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    button: MouseButton,
    #[command(flatten)]
    #[serde(flatten)]
    pointing: PointingArguments,
}

impl Action for Dblclick {
    const NAME: &'static str = "dblclick";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] =
        &[Example::new("tabwire dblclick e9", "Double-click, e.g. to open an item or select a word.")];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Input);
    type Output = ActionResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<ActionResult, Failure> {
        let page = context.page().await?;
        let action = InputAction::on(context, &page);
        let element =
            page.prepare(&self.target, "click", self.pointing.request(true), context.deadline).await?;
        let modifiers = self.pointing.bits();
        let clicking = Click {
            point: element.info.point,
            button: self.button,
            count: 2,
            modifiers,
            forced: self.pointing.force,
        };
        let changes = click_element(action, &element, &clicking).await?;
        Ok(ActionResult { did: "double-clicked".to_owned(), element: Some(element.description()), changes })
    }
}
