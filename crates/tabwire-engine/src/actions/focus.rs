//! `focus`: focuses an element.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_api::Failure;
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::result::ActionResult;
use crate::action::{Action, Effect, Example, ToolGroup, ToolOptions};
use crate::input::element::TargetArguments;
use crate::settle::InputAction;

/// Focus an element, so that it receives keys.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Focus {
    #[command(flatten)]
    #[serde(flatten)]
    target: TargetArguments,
}

impl Action for Focus {
    const NAME: &'static str = "focus";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[Example::new("tabwire focus e4", "Focus an element.")];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Input);
    type Output = ActionResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<ActionResult, Failure> {
        let action = InputAction::start(context).await?;
        let element = action.page().key_target(Some(&self.target), context.deadline).await?;
        let changes = action.settle(&element, Ok(()), json!({})).await?.changes;
        Ok(ActionResult { did: "focused".to_owned(), element: Some(element.description()), changes })
    }
}
