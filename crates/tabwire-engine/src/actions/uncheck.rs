//! `uncheck`: unticks a check box.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::Failure;
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::result::ActionResult;
use crate::action::{Action, Effect, Example, ToolGroup, ToolOptions};
use crate::input::checkbox::set_checked;
use crate::input::element::TargetArguments;

/// Untick a check box or turn a switch off.
///
/// Does nothing if it is unticked already. Verifies the result.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Uncheck {
    #[command(flatten)]
    #[serde(flatten)]
    target: TargetArguments,
    /// Do not wait until the element is stable, enabled and uncovered.
    #[arg(long)]
    #[serde(default)]
    force: bool,
}

impl Action for Uncheck {
    const NAME: &'static str = "uncheck";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[Example::new("tabwire uncheck e5", "Clear a box.")];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Input);
    type Output = ActionResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<ActionResult, Failure> {
        let page = context.page().await?;
        let resolved = page.resolve(&self.target, context.deadline).await?;
        let ticked = set_checked(context, &page, &resolved, false, self.force).await?;
        let did = if ticked.already { "already unticked:" } else { "unticked" };
        Ok(ActionResult {
            did: did.to_owned(),
            element: Some(ticked.element.description()),
            changes: ticked.changes,
        })
    }
}
