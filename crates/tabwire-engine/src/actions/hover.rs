//! `hover`: moves the mouse over an element and leaves it there.

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
use crate::pointing::PointingArguments;

/// Move the mouse over an element and leave it there.
///
/// For menus and hints that show themselves then.
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
    type Output = Acted;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<Acted, Failure> {
        let deed = Deed::begin(context).await?;
        let page = deed.page().clone();
        let element =
            page.prepare(&self.target, "hover", self.pointing.request(false), context.deadline).await?;
        let mut hands = page.take_hands(context.deadline).await?;
        if !self.pointing.force {
            page.reach_element(&element, &mut hands, context.deadline).await?;
        }
        page.check_point(element.prepared.point, context.deadline).await?;
        let moved =
            page.begin_move(&mut hands, element.prepared.point, self.pointing.bits(), context.deadline);
        let moved = page.answered(vec![moved]).await;
        drop(hands);
        let changes = deed.settle(&element, moved, json!({})).await?.changes;
        Ok(Acted { did: "hovered over".to_owned(), element: Some(element.description()), changes })
    }
}
