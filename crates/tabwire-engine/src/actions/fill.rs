//! `fill`: sets a field's value and reads it back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::result::{ActionResult, Changes};
use crate::action::{Action, Effect, Example, ToolGroup, ToolOptions};
use crate::input::element::{Element, ResolvedTarget, TargetArguments};
use crate::input::keyboard::Chord;
use crate::limits::ECHO_CHARACTERS;
use crate::secrets::fill::enter_secret;
use crate::settle::{DEBOUNCE, InputAction, SettleResult};
use crate::snapshot::quoted_lines;
use tabwire_secrets::SecretReference;

/// Replace a field's value.
///
/// Works with inputs of every kind, text areas, rich text editors and other editable elements. Reads the new value back
/// and compares it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Fill {
    #[command(flatten)]
    #[serde(flatten)]
    target: TargetArguments,
    /// The new value; empty clears the field. `{secret:NAME}` fills in a saved login's password unseen.
    #[schemars(extend("x-carries" = "text", "x-secret" = "typed"))]
    value: String,
}

impl Action for Fill {
    const NAME: &'static str = "fill";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire fill e4 anna@example.org", "Fill the field with the ref e4.").in_skill(),
        Example::new("tabwire fill label=Name 'Anna Example'", "Find the field by its label."),
        Example::new("tabwire fill e4 ''", "Clear it."),
        Example::new("tabwire fill e5 '{secret:shop}'", "Fill in a saved password without seeing it."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Default);
    type Output = ActionResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<ActionResult, Failure> {
        let page = context.page().await?;
        let action = InputAction::on(context, &page);
        let resolved = page.resolve(&self.target, context.deadline).await?;
        let (element, changes) = fill_element(action, &resolved, &self.value).await?;
        Ok(ActionResult { did: "filled".to_owned(), element: Some(element.description()), changes })
    }
}

/// Fills one field and settles.
pub(crate) async fn fill_element(
    mut action: InputAction<'_>,
    resolved: &ResolvedTarget,
    value: &str,
) -> Result<(Element, Changes), Failure> {
    if let Some(reference) = SecretReference::parse(value)? {
        return enter_secret(action, resolved, &reference).await;
    }
    let (page, context) = (action.page().clone(), action.context());
    page.check_frame(&resolved.frame, Capability::Act)?;
    let pair = page.next_pair();
    let request = json!({"value": value, "pair": pair});
    let (element, early) = tokio::join!(
        biased;
        page.prepare_resolved(resolved, "fill", request, context.deadline),
        async { action.begin_paired_fill(resolved, pair, value) },
    );
    let element = element?;
    action.set_element(&element);
    let input = page.lock_input(context.deadline).await?;
    let mut replies = Vec::new();
    // The page agent has set values that cannot be typed (dates, ranges) and entered plain text. In other editors it
    // has selected all content, which the input below replaces.
    let left = element.info.more.get("fill").and_then(Value::as_str).unwrap_or("insert");
    if matches!(left, "insert" | "erase" | "keys") {
        page.check_focus(context.deadline).await?;
    }
    if left == "keys" {
        let typed = page.type_text(value.trim(), None, context.deadline).await.outcome;
        drop(input);
        let ends = json!({"expected": value, "debounce": DEBOUNCE});
        let result = action.settle(&element, typed, ends).await?;
        return accepted(element, result);
    }
    if element.info.more.get("selectAll") == Some(&Value::Bool(true)) {
        replies.extend(page.begin_keys(&Chord::primary('a').events(), context.deadline));
    }
    match left {
        "insert" => replies.push(page.begin("Input.insertText", &json!({"text": value}), context.deadline)),
        "erase" => replies.push(page.begin("Input.dispatchKeyEvent", &backspace(), context.deadline)),
        _ => {}
    }
    let report = match (left, early) {
        ("enter", early) => action.finish_paired_fill(
            early,
            &element,
            json!({"expected": value, "enter": value, "debounce": DEBOUNCE}),
        ),
        ("done", _) => action.request_report(&element, json!({"expected": value})),
        _ => {
            let ends = json!({"expected": value, "after": "beforeinput", "debounce": DEBOUNCE});
            action.request_report(&element, ends)
        }
    };
    let typed = page.wait_all(replies).await;
    drop(input);
    accepted(element, action.finish(typed, report).await?)
}

/// Fails when the field does not have the value.
fn accepted(element: Element, result: SettleResult) -> Result<(Element, Changes), Failure> {
    let SettleResult { changes, matches } = result;
    if matches == Some(false) && !changes.navigated {
        return Err(not_taken(&element, changes.value.as_deref().unwrap_or_default()));
    }
    Ok((element, changes))
}

fn backspace() -> Value {
    json!({"type": "keyDown", "key": "Backspace", "code": "Backspace", "windowsVirtualKeyCode": 8})
}

fn not_taken(element: &Element, value: &str) -> Failure {
    let message = format!(
        "{} did not accept the value; it holds {}.",
        element.description(),
        quoted_lines(value, ECHO_CHARACTERS)
    );
    Failure::new(ErrorCode::NotActionable, message).with_remedy(Remedy::new(
        "The field may format or reject values. Try {}, or another value.",
        [Step::action("type")],
    ))
}
