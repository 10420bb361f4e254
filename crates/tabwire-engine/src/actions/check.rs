//! `check`: sees to it that a box is ticked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_policy::{Capability, Needs};
use tabwire_wire::Failure;

use crate::acted::Acted;
use crate::action::{Action, Effect, Example};
use crate::context::Context;
use crate::element::TargetArguments;
use crate::ticking::tick;

/// Tick a check box or turn a switch on, or choose a radio button.
///
/// Does nothing to one that is as it should be, and makes sure of the result.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Check {
    #[command(flatten)]
    #[serde(flatten)]
    target: TargetArguments,
    /// Do not wait until it is still, enabled and uncovered.
    #[arg(long)]
    #[serde(default)]
    force: bool,
}

impl Action for Check {
    const NAME: &'static str = "check";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire check e5", "Tick a box that a snapshot called e5."),
        Example::new("tabwire check 'label=I agree'", "Tick the box with this label."),
    ];
    type Output = Acted;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<Acted, Failure> {
        let page = context.page().await?;
        let aim = page.aim(&self.target, context.deadline).await?;
        let ticked = tick(context, &page, &aim, true, self.force).await?;
        let did = if ticked.already { "already ticked:" } else { "ticked" };
        Ok(Acted {
            did: did.to_owned(),
            element: Some(ticked.element.description()),
            changes: ticked.changes,
        })
    }
}
