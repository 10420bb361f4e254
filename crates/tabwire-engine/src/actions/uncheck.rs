//! `uncheck`: sees to it that a box is unticked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_policy::{Capability, Needs};
use tabwire_wire::Failure;

use crate::acted::Acted;
use crate::action::{Action, Effect, Example};
use crate::context::Context;
use crate::element::TargetArguments;
use crate::ticking::tick;

/// Untick a check box or turn a switch off.
///
/// Does nothing to one that is as it should be, and makes sure of the result.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Uncheck {
    #[command(flatten)]
    #[serde(flatten)]
    target: TargetArguments,
    /// Do not wait until it is still, enabled and uncovered.
    #[arg(long)]
    #[serde(default)]
    force: bool,
}

impl Action for Uncheck {
    const NAME: &'static str = "uncheck";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[Example::new("tabwire uncheck e5", "Clear a box.")];
    type Output = Acted;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<Acted, Failure> {
        let page = context.page().await?;
        let aim = page.aim(&self.target, context.deadline).await?;
        let ticked = tick(context, &page, &aim, false, self.force).await?;
        let did = if ticked.already { "already unticked:" } else { "unticked" };
        Ok(Acted {
            did: did.to_owned(),
            element: Some(ticked.element.description()),
            changes: ticked.changes,
        })
    }
}
