//! `fill`: gives a field a new value, and makes sure that it has it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_policy::{Capability, Needs};
use tabwire_wire::{ErrorCode, Failure};

use crate::acted::Acted;
use crate::action::{Action, Effect, Example};
use crate::changes::Changes;
use crate::context::Context;
use crate::element::{Aim, Element, TargetArguments};
use crate::keyboard::Chord;
use crate::page::Page;
use crate::secret_entry::enter_secret;
use crate::secret_reference::SecretReference;
use crate::settle::{Settled, Watch};

/// Give a field a new value, replacing what is in it.
///
/// For inputs of every kind, text areas, rich text editors and other editable elements. What came out is read back
/// and compared.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Fill {
    #[command(flatten)]
    #[serde(flatten)]
    target: TargetArguments,
    /// The new value; empty clears the field. `{secret:NAME}` fills in a saved login's password unseen.
    #[schemars(extend("x-carries" = "text"))]
    value: String,
}

impl Action for Fill {
    const NAME: &'static str = "fill";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[
        Example::new(
            "tabwire fill e4 anna@example.org",
            "Put a value into a field that a snapshot called e4.",
        ),
        Example::new("tabwire fill label=Name 'Anna Example'", "Find the field by its label."),
        Example::new("tabwire fill e4 ''", "Clear it."),
        Example::new("tabwire fill e5 '{secret:shop}'", "Fill in a saved password without seeing it."),
    ];
    type Output = Acted;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<Acted, Failure> {
        let page = context.page().await?;
        let watch = Watch::arm(&page, &context.browser);
        let aim = page.aim(&self.target, context.deadline).await?;
        let (element, changes) = fill_element(context, &page, &aim, &self.value, watch).await?;
        Ok(Acted { did: "filled".to_owned(), element: Some(element.description()), changes })
    }
}

/// Fills one field and settles.
pub(crate) async fn fill_element(
    context: &Context,
    page: &Page,
    aim: &Aim,
    value: &str,
    mut watch: Watch,
) -> Result<(Element, Changes), Failure> {
    if let Some(reference) = SecretReference::parse(value)? {
        return enter_secret(context, page, aim, &reference, watch).await;
    }
    page.check_frame(&aim.frame, Capability::Act)?;
    let pair = page.next_pair();
    let request = json!({"value": value, "pair": pair});
    let (element, early) = tokio::join!(
        biased;
        page.prepare_at(aim, "fill", request, context.deadline),
        async { watch.begin_pair(page, aim, pair, value, context.deadline) },
    );
    let element = element?;
    watch.was_at_element(&element, page);
    let hands = page.take_hands(context.deadline).await?;
    let mut replies = Vec::new();
    // The agent has set what cannot be typed, and enters plain text itself; of everything else it has selected all.
    let left = element.prepared.more.get("fill").and_then(Value::as_str).unwrap_or("insert");
    if left == "insert" || left == "erase" {
        page.check_keys(context.deadline).await?;
    }
    if element.prepared.more.get("selectAll") == Some(&Value::Bool(true)) {
        replies.extend(page.begin_keys(&Chord::primary('a').events(), context.deadline));
    }
    match left {
        "insert" => replies.push(page.begin("Input.insertText", &json!({"text": value}), context.deadline)),
        "erase" => replies.push(page.begin("Input.dispatchKeyEvent", &backspace(), context.deadline)),
        _ => {}
    }
    let rest = match (left, early) {
        ("enter", early) => {
            watch.go_on(early, page, &element, json!({"expected": value, "enter": value}), context.deadline)
        }
        ("done", _) => watch.begin_rest(page, &element, json!({"expected": value}), context.deadline),
        _ => {
            let ends = json!({"expected": value, "after": "beforeinput"});
            watch.begin_rest(page, &element, ends, context.deadline)
        }
    };
    let typed = page.answered(replies).await;
    drop(hands);
    let Settled { changes, matches } = watch.finish(context, page, typed, rest).await?;
    if matches == Some(false) && !changes.navigated {
        return Err(not_taken(&element, changes.value.as_deref().unwrap_or_default()));
    }
    Ok((element, changes))
}

fn backspace() -> Value {
    json!({"type": "keyDown", "key": "Backspace", "code": "Backspace", "windowsVirtualKeyCode": 8})
}

fn not_taken(element: &Element, value: &str) -> Failure {
    let message = format!("{} did not take the value; it has {value:?}.", element.description());
    Failure::new(ErrorCode::NotActionable, message)
        .with_hint("The field may format or refuse what it is given. Try `tabwire type`, or another value.")
}
