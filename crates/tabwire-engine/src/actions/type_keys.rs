//! `type`: types a text key by key.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_policy::{Capability, Needs};

use crate::action::arguments::OptionalTarget;
use crate::action::context::Context;
use crate::action::result::ActionResult;
use crate::action::{Action, Effect, Example, ToolGroup, ToolOptions};
use crate::input::keyboard::{Chord, TypingResult};
use crate::settle::{DEBOUNCE, InputAction};
use tabwire_secrets::SecretReference;

/// The pause after each key when text is typed slowly: the speed of a fast typist.
const KEY_PAUSE: Duration = Duration::from_millis(50);

/// Type a text key by key, after the existing text.
///
/// Goes to the element that has the focus unless a target is given. For pages that handle key events; `fill` is faster
/// and replaces the existing text. Line breaks press Enter and tabs press Tab.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Type {
    /// The text.
    #[arg(allow_hyphen_values = true)]
    #[schemars(extend("x-carries" = "text", "x-secret" = "typed"))]
    text: String,
    #[command(flatten)]
    #[serde(flatten)]
    target: OptionalTarget,
    /// Pause after each key, like a user.
    #[arg(long)]
    #[serde(default)]
    slowly: bool,
    /// Press Enter at the end.
    #[arg(long)]
    #[serde(default)]
    submit: bool,
}

impl Action for Type {
    const NAME: &'static str = "type";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire type 'hello' --target e4", "Type into a field, key by key."),
        Example::new("tabwire type tabwire --submit", "Type where the focus is and press Enter."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Default);
    type Output = ActionResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<ActionResult, Failure> {
        if self.text.is_empty() && !self.submit {
            return Err(Failure::new(ErrorCode::BadArgs, "`text` is empty.").with_remedy(Remedy::new(
                "To clear a field, use {} with an empty value.",
                [Step::action("fill")],
            )));
        }
        if SecretReference::parse(&self.text)?.is_some() {
            return Err(Failure::new(ErrorCode::BadArgs, "A saved secret cannot be typed key by key.")
                .with_remedy(Remedy::new("Use {}, which enters it in one step.", [Step::action("fill")])));
        }
        let pause = self.slowly.then_some(KEY_PAUSE);
        self.check_time(context)?;
        let target = self.target.given()?;
        let action = InputAction::start(context).await?;
        let page = action.page().clone();
        let element = page.key_target(target.as_ref(), context.deadline).await?;
        if target.is_some() {
            let _: bool = page
                .call_in(&element.frame, "caretToEnd", &json!({"key": element.key()}), context.deadline)
                .await?;
        }
        let input = page.lock_input(context.deadline).await?;
        page.check_same_document(&element).await?;
        let TypingResult { characters, mut outcome } =
            page.type_text(&self.text, pause, context.deadline).await;
        if self.submit && outcome.is_ok() {
            outcome = page.press_chords(&[Chord::parse("Enter")?], characters, context.deadline).await;
        }
        drop(input);
        let changes = action.settle(&element, outcome, json!({"debounce": DEBOUNCE})).await?.changes;
        let whole = self.text.replace("\r\n", "\n").chars().count();
        let did = match (characters == whole, self.submit) {
            (false, _) => format!("typed {characters} of {whole} characters, then was interrupted, into"),
            (true, true) => "typed and pressed Enter in".to_owned(),
            (true, false) => "typed into".to_owned(),
        };
        Ok(ActionResult {
            did,
            element: Some(element.label().unwrap_or_else(|| "the page".to_owned())),
            changes,
        })
    }
}

impl Type {
    /// Rejects a text that cannot be typed in time before the first key.
    fn check_time(&self, context: &Context) -> Result<(), Failure> {
        let count = u32::try_from(self.text.chars().count()).unwrap_or(u32::MAX);
        let needed = if self.slowly { KEY_PAUSE.saturating_mul(count) } else { return Ok(()) };
        let left = context.deadline.instant().saturating_duration_since(tokio::time::Instant::now());
        if needed < left {
            return Ok(());
        }
        let message = format!(
            "Typing {count} characters slowly takes {} s, longer than there is time.",
            needed.as_secs() + 1
        );
        Err(Failure::new(ErrorCode::BadArgs, message).with_remedy(Remedy::new(
            format!("Allow {} s, or leave {{}} out.", needed.as_secs() + 5),
            [Step::argument("slowly")],
        )))
    }
}
