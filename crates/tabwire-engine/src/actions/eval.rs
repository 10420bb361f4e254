//! `eval`: runs JavaScript of the caller's in the page's own world.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_cdp::{CdpError, Deadline};
use tabwire_wire::{Failure, TabId};

use crate::action::{Action, Effect, Render};
use crate::context::Context;
use crate::evaluation::{Evaluated, Evaluation};
use crate::limits::{RESULT_BYTES, SETUP_DEADLINE};
use crate::page::Page;

/// Run JavaScript in the page and print the result.
///
/// Promises are awaited. A result that is a string is printed as it is, anything else as JSON.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Eval {
    /// An expression, or a function such as `() => document.title`.
    #[arg(allow_hyphen_values = true)]
    expression: String,
}

/// What an evaluation came to.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct EvalResult {
    /// The tab it ran in.
    #[schemars(with = "String")]
    tab: TabId,
    /// The value; `null` for what JSON cannot carry.
    value: Value,
    /// What JSON cannot carry, as text: `undefined`, `NaN`, a function.
    #[serde(skip_serializing_if = "Option::is_none")]
    described: Option<String>,
    /// How many bytes the whole result has, when it was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut_from_bytes: Option<usize>,
}

impl Action for Eval {
    const NAME: &'static str = "eval";
    const EFFECT: Effect = Effect::Eval;
    type Output = EvalResult;

    async fn run(self, context: &Context) -> Result<EvalResult, Failure> {
        let page = context.page().await?;
        let Evaluated { value, described } = evaluate(&page, &self.expression, context.deadline).await?;
        let tab = context.browser.tab_of(&page);
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

/// Evaluates an expression in the page's own world and awaits it.
async fn evaluate(page: &Page, expression: &str, deadline: Deadline) -> Result<Evaluated, Failure> {
    // Only the console's mode takes `await` outside a function, and only the other awaits a promise that
    // the expression yields.
    let awaits = expression.contains("await");
    let params = json!({
        "expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true,
        "replMode": awaits,
    });
    page.unless_blocked(async {
        let answer = page.begin("Runtime.evaluate", &params, deadline).await;
        if matches!(answer, Err(CdpError::Timeout { .. })) {
            // What still runs would keep the page from everything else.
            drop(page.begin("Runtime.terminateExecution", &json!({}), SETUP_DEADLINE.into()));
        }
        let answer = answer.map_err(CdpError::into_failure)?;
        let evaluation: Evaluation = serde_json::from_value(answer).map_err(|error| {
            Failure::new(tabwire_wire::ErrorCode::CdpError, format!("Runtime.evaluate: {error}."))
        })?;
        evaluation.into_result()
    })
    .await
}

impl Render for EvalResult {
    fn render(&self) -> String {
        let text = match (&self.described, &self.value) {
            (Some(described), _) => described.clone(),
            (None, Value::String(text)) => text.clone(),
            (None, value) => serde_json::to_string_pretty(value).unwrap_or_default(),
        };
        match self.cut_from_bytes {
            Some(bytes) => format!("{text}\n… (cut: the whole result has {bytes} bytes; return less, or a part)"),
            None => text,
        }
    }
}
