//! `fill_form`: fills many fields at once, each in the way of its kind.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_cdp::Deadline;
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::result::Changes;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::actions::{choose, click_element, fill_element};
use crate::input::checkbox::set_checked;
use crate::input::element::{Element, ResolvedTarget, TargetArguments};
use crate::input::form::{Field, parse_field, parse_fields, read_fields};
use crate::input::keyboard::Chord;
use crate::input::mouse::Click;
use crate::page::Page;
use crate::settle::InputAction;
use crate::snapshot::{DocumentName, ElementKey};

/// Fill many fields at once: texts, lists, check boxes, radio buttons.
///
/// Check boxes take true or false; a group of radio buttons takes the label or value of one. Every field is tried. If
/// one fails, the form is not sent and the error lists each failed field.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct FillForm {
    /// The fields as JSON: {"label=Name": "Anna", "#agree": true}.
    #[arg(value_name = "JSON")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text", "x-secret" = "typed"))]
    form: Option<String>,
    /// A field and its value; may be repeated.
    #[arg(long = "field", value_name = "TARGET=VALUE", value_parser = parse_field)]
    #[serde(default, deserialize_with = "read_fields", skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-carries" = "text", "x-secret" = "typed"))]
    fields: Vec<Field>,
    /// Send the form afterwards.
    #[arg(long)]
    #[serde(default)]
    submit: bool,
}

/// The result of filling a form.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct FormResult {
    /// The result for each field.
    fields: Vec<FieldResult>,
    /// The element that submitted the form; `Enter` if the key did.
    #[serde(skip_serializing_if = "Option::is_none")]
    submitted_by: Option<String>,
    /// What changed.
    #[serde(flatten)]
    changes: Changes,
}

/// The result for one field.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct FieldResult {
    /// The field's target, as given.
    target: String,
    /// Its kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    element: Option<String>,
    /// Its value now.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
    /// Why it was not filled.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// The page agent's description of a field.
#[derive(Deserialize)]
struct FieldKind {
    kind: String,
    key: ElementKey,
    document: DocumentName,
    want: Option<bool>,
}

/// A form's submit button.
#[derive(Deserialize)]
struct Submitter {
    key: ElementKey,
    document: DocumentName,
}

impl Action for FillForm {
    const NAME: &'static str = "fill_form";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[
        Example::new(
            "tabwire fill-form '{\"label=Name\": \"Anna\", \"#agree\": true}' --submit",
            "Fill several fields and send the form.",
        )
        .in_skill(),
        Example::new(
            "tabwire fill-form --field label=Name=Anna --field e9=true",
            "The same, field by field.",
        ),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Default).described("Fill many fields at once; a target is a ref or a selector, a value a text, true, false or a list").hiding(&["form"]);
    type Output = FormResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<FormResult, Failure> {
        let fields = self.all_fields()?;
        let page = context.page().await?;
        let mut filled = Vec::new();
        let mut changes = Changes::default();
        let mut first_failure = None;
        let mut last = None;
        for (number, field) in fields.iter().enumerate() {
            let left = fields.len() - number;
            // The changes of the whole form are shown once, at its end.
            let snapshot = context.snapshot && left == 1 && !self.submit;
            let context = Context { deadline: share(context.deadline, left), snapshot, ..context.clone() };
            match fill_field(&context, &page, field).await {
                Ok((resolved, element, done)) => {
                    let value = reported_value(&done, field);
                    filled.push(FieldResult {
                        target: field.target.clone(),
                        element: Some(element.description()),
                        value,
                        error: None,
                    });
                    changes = done;
                    last = Some((resolved, element));
                }
                Err(failure) => {
                    filled.push(FieldResult {
                        target: field.target.clone(),
                        element: None,
                        value: None,
                        error: Some(failure.message.clone()),
                    });
                    let is_over = matches!(failure.code, ErrorCode::DialogOpen | ErrorCode::TargetGone);
                    first_failure.get_or_insert(failure);
                    if is_over {
                        break;
                    }
                }
            }
        }
        if let Some(failure) = first_failure {
            return Err(not_filled(failure, &filled, fields.len()));
        }
        changes.value = None;
        let mut submitted_by = None;
        if let Some((resolved, element)) = last.filter(|_| self.submit) {
            (submitted_by, changes) = submit_form(context, &page, &resolved, &element).await?;
        }
        Ok(FormResult { fields: filled, submitted_by, changes })
    }
}

impl FillForm {
    fn all_fields(&self) -> Result<Vec<Field>, Failure> {
        let hint = "Give a map such as {\"label=Name\": \"Anna\", \"#agree\": true}, or `fields`, a list of targets and values.";
        let bad = |message: String| Failure::new(ErrorCode::BadArgs, message).with_remedy(hint);
        let mut fields = match &self.form {
            Some(text) => {
                parse_fields(text).map_err(|error| bad(format!("The form is not valid JSON: {error}.")))?
            }
            None => Vec::new(),
        };
        fields.extend(self.fields.iter().cloned());
        let is_simple = |value: &Value| value.is_string() || value.is_number() || value.is_boolean();
        if let Some(field) = fields.iter().find(|field| {
            !is_simple(&field.value) && !field.value.as_array().is_some_and(|list| list.iter().all(is_simple))
        }) {
            return Err(bad(format!("{} cannot take {}.", field.target, field.value)));
        }
        if fields.is_empty() {
            Err(bad("`form` or `fields` must name at least one field.".to_owned()))
        } else {
            Ok(fields)
        }
    }
}

/// Splits the remaining time, so that a field that never appears leaves time for the others.
fn share(deadline: Deadline, parts: usize) -> Deadline {
    let now = tokio::time::Instant::now();
    let left = deadline.instant().saturating_duration_since(now);
    Deadline::at(now + left / u32::try_from(parts.max(1)).unwrap_or(u32::MAX))
}

async fn fill_field(
    context: &Context,
    page: &Page,
    field: &Field,
) -> Result<(ResolvedTarget, Element, Changes), Failure> {
    let target = TargetArguments { target: field.target.clone(), nth: None };
    let resolved = page.resolve(&target, context.deadline).await?;
    let found = page.prepare_resolved(&resolved, "read", json!({}), context.deadline).await?;
    let resolved = resolved.in_frame_of(&found);
    let argument = json!({"key": found.key(), "value": field.value});
    let kind: FieldKind = page.call_in(&resolved.frame, "fieldFor", &argument, context.deadline).await?;
    let resolved = resolved.with_key(&kind.document, kind.key);
    let (element, changes) = match (kind.kind.as_str(), kind.want) {
        ("tick", want) => {
            let ticked = set_checked(context, page, &resolved, want.unwrap_or(true), false).await?;
            (ticked.element, ticked.changes)
        }
        ("select", _) => {
            let values = field.value.as_array().cloned().unwrap_or_else(|| vec![field.value.clone()]);
            let choices: Vec<Value> = values.iter().map(|value| json!({"any": text_of(value)})).collect();
            choose(context, page, &resolved, &choices).await?
        }
        ("file", _) => {
            let message = format!("{} takes files.", found.description());
            return Err(Failure::new(ErrorCode::BadArgs, message)
                .with_remedy(Remedy::new("Use {} for it.", [Step::action("upload")])));
        }
        _ => {
            let action = InputAction::on(context, page);
            fill_element(action, &resolved, &text_of(&field.value)).await?
        }
    };
    Ok((resolved, element, changes))
}

/// The field's value as the page reports it. A check box reports none; its requested state is not a secret.
fn reported_value(done: &Changes, field: &Field) -> Option<Value> {
    done.value.clone().map(Value::from).or_else(|| field.value.is_boolean().then(|| field.value.clone()))
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Submits a field's form: with its submit button, or with the Enter key.
pub(crate) async fn submit_form(
    context: &Context,
    page: &Page,
    resolved: &ResolvedTarget,
    field: &Element,
) -> Result<(Option<String>, Changes), Failure> {
    let resolved = &resolved.in_frame_of(field);
    let argument = json!({"key": field.key()});
    let button: Option<Submitter> =
        page.call_in(&resolved.frame, "submitter", &argument, context.deadline).await?;
    let Some(button) = button else {
        let action = InputAction::on(context, page);
        let focused = page.prepare_resolved(resolved, "focus", json!({}), context.deadline).await?;
        let input = page.lock_input(context.deadline).await?;
        let pressed = page.press_chords(&[Chord::parse("Enter")?], 0, context.deadline).await;
        drop(input);
        let changes = action.settle(&focused, pressed, json!({})).await?.changes;
        return Ok((Some("Enter".to_owned()), changes));
    };
    let resolved = resolved.with_key(&button.document, button.key);
    let action = InputAction::on(context, page);
    let button = page.prepare_resolved(&resolved, "click", json!({"guard": true}), context.deadline).await?;
    let clicking = Click::at(button.info.point);
    let changes = click_element(action, &button, &clicking).await?;
    Ok((Some(button.description()), changes))
}

fn not_filled(first: Failure, filled: &[FieldResult], whole: usize) -> Failure {
    let good = filled.iter().filter(|field| field.error.is_none()).count();
    let bad = |field: &FieldResult| field.error.as_ref().map(|error| format!("{}: {error}", field.target));
    let errors: Vec<String> = filled.iter().filter_map(bad).collect();
    let message = format!("{good} of {whole} fields were filled. {}", errors.join(" "));
    let mut details = json!({"fields": filled});
    if let Some(remedy) = first.details.get("remedy") {
        details["remedy"] = remedy.clone();
    }
    let failure = Failure::new(first.code, message).with_details(details);
    match first.remedy {
        Some(remedy) => failure.with_remedy(remedy),
        None => failure,
    }
}

impl Render for FormResult {
    fn render(&self) -> String {
        let mut lines: Vec<String> = self
            .fields
            .iter()
            .map(|field| {
                let element = field.element.as_deref().unwrap_or(&field.target);
                field
                    .value
                    .as_ref()
                    .map_or_else(|| format!("filled {element}"), |value| format!("filled {element}: {value}"))
            })
            .collect();
        lines.extend(self.submitted_by.as_ref().map(|by| format!("submitted by {by}")));
        lines.extend(self.changes.lines());
        lines.join("\n")
    }
}
