//! `hover`: moves the mouse over an element and leaves it there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_api::Failure;
use tabwire_policy::{Capability, Needs};

use crate::action::arguments::PointingArguments;
use crate::action::context::Context;
use crate::action::result::ActionResult;
use crate::action::{Action, Effect, Example, ToolGroup, ToolOptions};
use crate::input::element::TargetArguments;
use crate::settle::{DEBOUNCE, InputAction};

/// Move the mouse over an element and leave it there.
///
/// For menus and tooltips.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Hover {
    #[command(flatten)]
    #[serde(flatten)]
    target: TargetArguments,
    #[command(flatten)]
    #[serde(flatten)]
    pointing: PointingArguments,
}

impl Action for Hover {
    const NAME: &'static str = "hover";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] =
        &[Example::new("tabwire hover e3", "Move the mouse over an element, as for a menu.")];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Default).hiding(&["modifiers", "position"]);
    type Output = ActionResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<ActionResult, Failure> {
        let action = InputAction::start(context).await?;
        let page = action.page().clone();
        let element =
            page.prepare(&self.target, "hover", self.pointing.request(false), context.deadline).await?;
        let mut input = page.lock_input(context.deadline).await?;
        if !self.pointing.force {
            page.ensure_hit_target(&element, &mut input, context.deadline).await?;
        }
        page.check_point(element.info.point, context.deadline).await?;
        let moved = page.begin_move(&mut input, element.info.point, self.pointing.bits(), context.deadline);
        let moved = page.wait_all(vec![moved]).await;
        drop(input);
        let changes =
            action.settle(&element, moved, json!({"hovered": true, "debounce": DEBOUNCE})).await?.changes;
        Ok(ActionResult { did: "hovered over".to_owned(), element: Some(element.description()), changes })
    }
}
