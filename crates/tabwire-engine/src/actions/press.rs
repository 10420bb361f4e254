//! `press`: presses keys and chords.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_policy::{Capability, Needs};
use tabwire_wire::{ErrorCode, Failure};

use crate::acted::Acted;
use crate::action::{Action, Effect, Example};
use crate::context::Context;
use crate::deed::Deed;
use crate::keyboard::Chord;
use crate::optional_target::OptionalTarget;

/// Press keys or chords, one after the other.
///
/// They go to the element that has the focus unless a target is given.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Press {
    /// Keys as in KeyboardEvent.key, with modifiers before them: Enter, ArrowDown, a, Control+a, Shift+Tab.
    #[arg(required = true, allow_hyphen_values = true)]
    #[schemars(extend("x-carries" = "text"))]
    keys: Vec<String>,
    #[command(flatten)]
    #[serde(flatten)]
    target: OptionalTarget,
}

impl Action for Press {
    const NAME: &'static str = "press";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire press Enter", "Press a key."),
        Example::new("tabwire press Control+a Delete", "Press one after the other."),
        Example::new("tabwire press ArrowDown --target e4", "Focus an element first."),
    ];
    type Output = Acted;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<Acted, Failure> {
        if self.keys.is_empty() {
            return Err(Failure::new(ErrorCode::BadArgs, "There is no key to press.")
                .with_hint("Give one, as in Enter."));
        }
        let chords: Vec<Chord> = self.keys.iter().map(|key| Chord::parse(key)).collect::<Result<_, _>>()?;
        let target = self.target.given()?;
        let deed = Deed::begin(context).await?;
        let page = deed.page().clone();
        let element = page.attend(target.as_ref(), context.deadline).await?;
        let hands = page.take_hands(context.deadline).await?;
        let pressed = page.press_chords(&chords, 0, context.deadline).await;
        drop(hands);
        let changes = deed.settle(&element, pressed, json!({})).await?.changes;
        let place = element.words().unwrap_or_else(|| "the page".to_owned());
        Ok(Acted { did: format!("pressed {} in", self.keys.join(" ")), element: Some(place), changes })
    }
}
