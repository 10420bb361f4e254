//! `focus`: gives an element the keyboard.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_policy::{Capability, Needs};
use tabwire_wire::Failure;

use crate::acted::Acted;
use crate::action::{Action, Effect, Example};
use crate::context::Context;
use crate::deed::Deed;
use crate::element::TargetArguments;

/// Give an element the focus, so that keys go to it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Focus {
    #[command(flatten)]
    #[serde(flatten)]
    target: TargetArguments,
}

impl Action for Focus {
    const NAME: &'static str = "focus";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] =
        &[Example::new("tabwire focus e4", "Put the keyboard's focus there.")];
    type Output = Acted;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<Acted, Failure> {
        let deed = Deed::begin(context).await?;
        let element = deed.page().attend(Some(&self.target), context.deadline).await?;
        let changes = deed.settle(&element, Ok(()), json!({})).await?.changes;
        Ok(Acted { did: "focused".to_owned(), element: Some(element.description()), changes })
    }
}
