//! `press`: presses keys and chords.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_api::{ErrorCode, Failure};
use tabwire_policy::{Capability, Needs};

use crate::action::arguments::OptionalTarget;
use crate::action::context::Context;
use crate::action::result::ActionResult;
use crate::action::{Action, Effect, Example, ToolGroup, ToolOptions};
use crate::input::keyboard::Chord;
use crate::settle::InputAction;

/// Press keys or chords, one after the other.
///
/// They go to the element that has the focus unless a target is given.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Press {
    /// Keys as in KeyboardEvent.key, with modifiers before them: Enter, ArrowDown, a, Control+a, Shift+Tab.
    #[arg(required = true, allow_hyphen_values = true)]
    #[serde(deserialize_with = "read_keys")]
    #[schemars(extend("x-carries" = "text", "x-secret" = "keys"))]
    keys: Vec<String>,
    #[command(flatten)]
    #[serde(flatten)]
    target: OptionalTarget,
}

/// Keys as models and programs write them: ["Enter"], or "Enter" for one key or chord.
fn read_keys<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum WrittenKeys {
        One(String),
        Many(Vec<String>),
    }
    match WrittenKeys::deserialize(deserializer) {
        Ok(WrittenKeys::One(key)) => Ok(vec![key]),
        Ok(WrittenKeys::Many(keys)) => Ok(keys),
        Err(_) => Err(serde::de::Error::custom("expected a key such as \"Enter\", or a list of keys")),
    }
}

impl Action for Press {
    const NAME: &'static str = "press";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire press Enter", "Press a key.").in_skill(),
        Example::new("tabwire press Control+a Delete", "Press one after the other."),
        Example::new("tabwire press ArrowDown --target e4", "Focus an element first."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Default);
    const ALIASES: &'static [&'static str] = &["key"];
    type Output = ActionResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<ActionResult, Failure> {
        if self.keys.is_empty() {
            return Err(Failure::new(ErrorCode::BadArgs, "`keys` is empty.")
                .with_remedy("Give at least one key, such as Enter."));
        }
        let chords: Vec<Chord> = self.keys.iter().map(|key| Chord::parse(key)).collect::<Result<_, _>>()?;
        let target = self.target.given()?;
        let action = InputAction::start(context).await?;
        let page = action.page().clone();
        let element = page.key_target(target.as_ref(), context.deadline).await?;
        let input = page.lock_input(context.deadline).await?;
        page.check_same_document(&element).await?;
        let pressed = page.press_chords(&chords, 0, context.deadline).await;
        drop(input);
        let changes = action.settle(&element, pressed, json!({})).await?.changes;
        let place = element.label().unwrap_or_else(|| "the page".to_owned());
        Ok(ActionResult { did: format!("pressed {} in", self.keys.join(" ")), element: Some(place), changes })
    }
}
