//! `tap`: taps an element.

use std::time::Duration;

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
use crate::settle::InputAction;

/// How long a tap may take to become a click. The page may prevent the click.
const TAP_TIMEOUT: Duration = Duration::from_millis(500);

/// Tap an element on a touch screen.
///
/// The page gets touch events and then, unless it prevents them, the mouse events and the click of a tap.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Tap {
    #[command(flatten)]
    #[serde(flatten)]
    target: TargetArguments,
    #[command(flatten)]
    #[serde(flatten)]
    pointing: PointingArguments,
}

impl Action for Tap {
    const NAME: &'static str = "tap";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[Example::new("tabwire tap e3", "Tap an element, as on a phone.")];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Input);
    type Output = ActionResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<ActionResult, Failure> {
        let action = InputAction::start(context).await?;
        let page = action.page().clone();
        let mut request = self.pointing.request(true);
        request["events"] = json!(["touchstart", "touchend"]);
        let element = page.prepare(&self.target, "click", request, context.deadline).await?;
        let mut input = page.lock_input(context.deadline).await?;
        if !self.pointing.force {
            page.ensure_hit_target(&element, &mut input, context.deadline).await?;
        }
        page.check_point(element.info.point, context.deadline).await?;
        let replies = page.begin_tap(element.info.point, self.pointing.bits(), context.deadline);
        let tapped = page.wait_all(replies).await;
        drop(input);
        let timeout = u64::try_from(TAP_TIMEOUT.as_millis()).unwrap_or(u64::MAX);
        let ends = json!({"after": "click", "timeout": timeout});
        let changes = action.settle(&element, tapped, ends).await?.changes;
        Ok(ActionResult { did: "tapped".to_owned(), element: Some(element.description()), changes })
    }
}
