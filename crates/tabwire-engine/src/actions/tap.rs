//! `tap`: touches an element with a finger.

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
use crate::limits::TAP_PATIENCE;
use crate::pointing::PointingArguments;

/// Touch an element with a finger.
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
    const EXAMPLES: &'static [Example] =
        &[Example::new("tabwire tap e3", "Touch an element, as on a phone.")];
    type Output = Acted;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<Acted, Failure> {
        let deed = Deed::begin(context).await?;
        let page = deed.page().clone();
        let mut request = self.pointing.request(true);
        request["events"] = json!(["touchstart", "touchend"]);
        let element = page.prepare(&self.target, "click", request, context.deadline).await?;
        let mut hands = page.take_hands(context.deadline).await?;
        if !self.pointing.force {
            page.reach_element(&element, &mut hands, context.deadline).await?;
        }
        page.check_point(element.prepared.point, context.deadline).await?;
        let replies = page.begin_tap(element.prepared.point, self.pointing.bits(), context.deadline);
        let tapped = page.answered(replies).await;
        drop(hands);
        let patience = u64::try_from(TAP_PATIENCE.as_millis()).unwrap_or(u64::MAX);
        let ends = json!({"after": "click", "patience": patience});
        let changes = deed.settle(&element, tapped, ends).await?.changes;
        Ok(Acted { did: "tapped".to_owned(), element: Some(element.description()), changes })
    }
}
