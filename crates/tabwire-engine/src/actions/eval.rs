//! `eval`: runs JavaScript of the caller in the page's main world.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, Remedy, Step, TabId};
use tabwire_cdp::{CdpError, Deadline};
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::result::{BareValue, value_text};
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::cdp::CommandTarget;
use crate::input::element::TargetArguments;
use crate::limits::{RESULT_BYTES, SETUP_DEADLINE};
use crate::page::Page;
use crate::page::evaluate::{EvalValue, EvaluateResponse};

/// Run JavaScript in the page and print the result.
///
/// Takes an expression, or a function to call: `() => document.title`. With --element the function gets the element:
/// `eval "e => e.value" --element e12`. Promises are awaited. Strings are printed as they are, inside a fence if they
/// are long or have several lines, and without a fence with --raw. Other values are printed as JSON.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Eval {
    /// An expression, or a function such as `() => document.title`.
    #[arg(allow_hyphen_values = true)]
    #[schemars(extend("x-carries" = "code"))]
    expression: String,
    /// An element: the function's argument, or `element` in an expression.
    #[arg(long, alias = "ref", alias = "target", value_name = "TARGET")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "target"))]
    element: Option<String>,
    /// Which of several matches, counted from 1.
    #[arg(long, value_name = "N", requires = "element")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nth: Option<u32>,
}

/// The result of an evaluation.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct EvalResult {
    /// The tab it ran in.
    #[schemars(with = "String")]
    tab: TabId,
    /// The value; `null` if JSON cannot represent it.
    value: Value,
    /// A value that JSON cannot represent, as text: `undefined`, `NaN`, a function.
    #[serde(skip_serializing_if = "Option::is_none")]
    described: Option<String>,
    /// The size of the whole result in bytes, if it was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut_from_bytes: Option<usize>,
}

impl Action for Eval {
    const NAME: &'static str = "eval";
    const EFFECT: Effect = Effect::Eval;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire eval document.title", "Print the value of an expression.").in_skill(),
        Example::new("tabwire eval 'e => e.value' --element e12", "Call a function with an element."),
        Example::new(
            "tabwire eval 'fetch(\"/api/me\").then(response => response.json())' --json",
            "Await a promise and print the result as JSON.",
        ),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Default)
        .described("Run JavaScript in the page and get the result")
        .with_timeout();
    type Output = EvalResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Eval)
    }

    async fn run(self, context: &Context) -> Result<EvalResult, Failure> {
        let page = context.page().await?;
        let evaluated = match self.element {
            None if self.nth.is_some() => {
                return Err(Failure::new(ErrorCode::BadArgs, "`nth` needs `element`.").with_remedy(
                    Remedy::new(
                        "Give {}, or leave {} out.",
                        [Step::argument("element"), Step::argument("nth")],
                    ),
                ));
            }
            None => {
                let place = page.script_target(context.deadline).await?;
                evaluate(&Site { page: &page, place }, &self.expression, context.deadline).await?
            }
            Some(target) => {
                let target = TargetArguments { target, nth: self.nth };
                evaluate_on(context, &page, &target, &self.expression).await?
            }
        };
        let EvalValue { value, described } = evaluated;
        let tab = context.browser.tab_id(&page);
        let text = value.to_string();
        if text.len() <= RESULT_BYTES {
            return Ok(EvalResult { tab, value, described, cut_from_bytes: None });
        }
        let whole = match &value {
            Value::String(text) => text.as_str(),
            _ => text.as_str(),
        };
        let cut = &whole[..whole.floor_char_boundary(RESULT_BYTES)];
        Ok(EvalResult { tab, value: json!(cut), described, cut_from_bytes: Some(text.len()) })
    }
}

/// Where an expression is evaluated.
struct Site<'a> {
    page: &'a Page,
    place: CommandTarget,
}

/// Evaluates an expression in the page's main world and awaits it; calls it if it is a function.
async fn evaluate(site: &Site<'_>, expression: &str, deadline: Deadline) -> Result<EvalValue, Failure> {
    if is_nameless_function(expression) {
        return evaluate_once(site, &format!("({expression}\n)()"), deadline).await?.into_result();
    }
    let evaluation = evaluate_once(site, expression, deadline).await?;
    if evaluation.is_function() && is_written_as_function(expression) {
        return evaluate_once(site, &format!("({expression}\n)()"), deadline).await?.into_result();
    }
    evaluation.into_result()
}

async fn evaluate_once(
    site: &Site<'_>,
    expression: &str,
    deadline: Deadline,
) -> Result<EvaluateResponse, Failure> {
    let params = json!({
        "expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true,
    });
    let evaluation = run(site, "Runtime.evaluate", &params, deadline).await?;
    // Chromium allows `await` at the top level only with `replMode`.
    if expression.contains("await") && evaluation.is_not_a_script() {
        return evaluate_with_await(site, expression, deadline).await;
    }
    Ok(evaluation)
}

/// Evaluates statements with top-level `await`. Chrome accepts those only with `replMode`, which does not await a
/// promise that is the final value, so a second call awaits it.
async fn evaluate_with_await(
    site: &Site<'_>,
    expression: &str,
    deadline: Deadline,
) -> Result<EvaluateResponse, Failure> {
    let params = json!({
        "expression": expression, "awaitPromise": true, "userGesture": true, "replMode": true, "objectGroup": GROUP,
    });
    let evaluation = run(site, "Runtime.evaluate", &params, deadline).await?;
    let Some(object) = evaluation.object_id() else { return Ok(evaluation) };
    let params = json!({
        "objectId": object, "functionDeclaration": "function () { return this; }", "awaitPromise": true,
        "returnByValue": true,
    });
    let evaluation = run(site, "Runtime.callFunctionOn", &params, deadline).await;
    let group = json!({"objectGroup": GROUP});
    let release = site.page.begin_on(&site.place, "Runtime.releaseObjectGroup", &group, deadline);
    // The response is not needed.
    drop(release.await);
    evaluation
}

/// The object group of the value between the two calls.
const GROUP: &str = "tabwire-eval";

async fn run(
    site: &Site<'_>,
    method: &'static str,
    params: &Value,
    deadline: Deadline,
) -> Result<EvaluateResponse, Failure> {
    let Site { page, place } = site;
    page.unless_blocked(async {
        let response = page.begin_on(place, method, params, deadline).await;
        if matches!(response, Err(CdpError::Timeout { .. })) {
            // A script that still runs would block the page's main thread.
            drop(page.begin_on(place, "Runtime.terminateExecution", &json!({}), SETUP_DEADLINE.into()));
        }
        read_evaluation(response.map_err(|error| page.session().failure(error))?)
    })
    .await
}

/// Evaluates an expression with `element` defined, or calls a function with the element.
async fn evaluate_on(
    context: &Context,
    page: &Page,
    target: &TargetArguments,
    expression: &str,
) -> Result<EvalValue, Failure> {
    let element = page.prepare(target, "read", json!({}), context.deadline).await?;
    let function = format!(
        "async function (element) {{ const given = (\n{expression}\n); return typeof given === \"function\" ? given(element) : given; }}"
    );
    let applied = page.session().call_on_element(&element.frame, element.key(), &function, context.deadline);
    let response = page.unless_blocked(applied).await?;
    read_evaluation(response)?.after_lines(1).into_result()
}

fn read_evaluation(response: Value) -> Result<EvaluateResponse, Failure> {
    serde_json::from_value(response).map_err(|error| {
        Failure::new(
            ErrorCode::CdpError,
            format!("The response to Runtime.evaluate is not understood: {error}."),
        )
    })
}

/// Whether the text is `function () {}`, which is not a statement without a name.
fn is_nameless_function(text: &str) -> bool {
    let text = text.trim_start();
    let text = text.strip_prefix("async").map_or(text, str::trim_start);
    text.strip_prefix("function").is_some_and(|rest| rest.trim_start().starts_with('('))
}

/// Whether the text is a function literal. Evaluating one twice has no side effects, unlike an expression that returns
/// a function.
fn is_written_as_function(text: &str) -> bool {
    let text = text.trim_start();
    let text = text.strip_prefix("async").map_or(text, str::trim_start);
    if text.starts_with("function") {
        return true;
    }
    let head = text.split_once("=>").map(|(head, _)| head.trim());
    head.is_some_and(|head| {
        let is_name =
            |name: &str| name.chars().all(|letter| letter.is_alphanumeric() || "_$".contains(letter));
        let inside = head.strip_prefix('(').and_then(|head| head.strip_suffix(')'));
        is_name(head) || inside.is_some_and(|inside| !inside.contains('('))
    })
}

impl Render for EvalResult {
    fn render(&self) -> String {
        let text = match (&self.described, &self.value) {
            (Some(described), _) => value_text("value", described),
            (None, Value::String(text)) => value_text("value", text),
            // JSON quotes strings, so they cannot be mistaken for Tabwire's own lines.
            (None, value) => serde_json::to_string_pretty(value).unwrap_or_default(),
        };
        match self.cut_from_bytes {
            Some(bytes) => {
                format!("{text}\n… (cut: the whole result has {bytes} bytes; return less, or a part)")
            }
            None => text,
        }
    }

    fn bare(&self) -> Option<BareValue> {
        let text = match (&self.described, &self.value) {
            (Some(described), _) => described.clone(),
            (None, Value::String(text)) => text.clone(),
            (None, value) => value.to_string(),
        };
        let cut = |bytes: usize| format!("The whole result has {bytes} bytes; return less, or a part.");
        Some(BareValue::whole(text).with_cut(self.cut_from_bytes.map(cut)))
    }
}
