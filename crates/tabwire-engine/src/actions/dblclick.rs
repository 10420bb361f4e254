//! `dblclick`: clicks an element twice in a row.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_policy::{Capability, Needs};
use tabwire_wire::Failure;

use crate::acted::Acted;
use crate::action::{Action, Effect, Example};
use crate::actions::click_element;
use crate::context::Context;
use crate::element::TargetArguments;
use crate::pointer::{Click, MouseButton};
use crate::pointing::PointingArguments;
use crate::settle::Watch;

/// Double-click an element.
///
/// Waits for it and says what changed, as a click does.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Dblclick {
    #[command(flatten)]
    #[serde(flatten)]
    target: TargetArguments,
    /// Which button.
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    button: MouseButton,
    #[command(flatten)]
    #[serde(flatten)]
    pointing: PointingArguments,
}

impl Action for Dblclick {
    const NAME: &'static str = "dblclick";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] =
        &[Example::new("tabwire dblclick e9", "Click twice, as to open or to select a word.")];
    type Output = Acted;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<Acted, Failure> {
        let page = context.page().await?;
        let watch = Watch::arm(&page, &context.browser);
        let element =
            page.prepare(&self.target, "click", self.pointing.request(true), context.deadline).await?;
        let modifiers = self.pointing.bits();
        let clicking = Click {
            point: element.prepared.point,
            button: self.button,
            count: 2,
            modifiers,
            forced: self.pointing.force,
        };
        let changes = click_element(context, &page, &element, &clicking, watch).await?;
        Ok(Acted { did: "double-clicked".to_owned(), element: Some(element.description()), changes })
    }
}
