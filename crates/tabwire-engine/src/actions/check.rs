//! `check`: ticks a check box.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::Failure;
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::result::ActionResult;
use crate::action::{Action, Effect, Example, ToolGroup, ToolOptions};
use crate::input::checkbox::set_checked;
use crate::input::element::TargetArguments;

/// Tick a check box or turn a switch on, or choose a radio button.
///
/// Does nothing if it is ticked already. Verifies the result.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Check {
    #[command(flatten)]
    #[serde(flatten)]
    target: TargetArguments,
    /// Do not wait until the element is stable, enabled and uncovered.
    #[arg(long)]
    #[serde(default)]
    force: bool,
}

impl Action for Check {
    const NAME: &'static str = "check";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire check e5", "Tick the box with the ref e5."),
        Example::new("tabwire check 'label=I agree'", "Tick the box with this label."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Input);
    type Output = ActionResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<ActionResult, Failure> {
        let page = context.page().await?;
        let resolved = page.resolve(&self.target, context.deadline).await?;
        let ticked = set_checked(context, &page, &resolved, true, self.force).await?;
        let did = if ticked.already { "already ticked:" } else { "ticked" };
        Ok(ActionResult {
            did: did.to_owned(),
            element: Some(ticked.element.description()),
            changes: ticked.changes,
        })
    }
}
