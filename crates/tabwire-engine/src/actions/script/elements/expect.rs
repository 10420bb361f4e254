//! `expect`: an assertion about a page or an element, tried in the page until it holds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::Failure;
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::input::element::{TargetArguments, milliseconds_left, with_grace};
use crate::snapshot::plain_value;

/// Wait until an assertion about the page or an element holds.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Expect {
    /// The locator; none for the page.
    #[serde(default)]
    #[schemars(extend("x-carries" = "target"))]
    target: Option<String>,
    /// The assertion: `to_be_visible`, `to_have_text` and others.
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    matcher: String,
    /// The expected value as JSON.
    #[serde(default)]
    #[schemars(extend("x-carries" = "text"))]
    expected: Option<String>,
    /// Options of the assertion as JSON.
    #[serde(default)]
    #[schemars(extend("x-carries" = "text"))]
    options: Option<String>,
    /// Wait until it does not hold.
    #[arg(long)]
    #[serde(default)]
    negated: bool,
}

/// The result of an assertion.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all(deserialize = "camelCase"))]
pub(crate) struct ExpectResult {
    /// Whether it held in time.
    pass: bool,
    /// The last received value.
    #[serde(default)]
    received: Value,
    /// Whether no element matched.
    #[serde(default)]
    is_missing: bool,
    /// The element, or the number of elements, that was tried last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    preview: Option<String>,
}

impl Action for Expect {
    const NAME: &'static str = "expect";
    const EFFECT: Effect = Effect::Read;
    const EXAMPLES: &'static [Example] = &[];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Execute);
    type Output = ExpectResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Read)
    }

    async fn run(self, context: &Context) -> Result<ExpectResult, Failure> {
        let page = context.page().await?;
        let (frame, spec) = match self.target {
            None => (page.main_frame().clone(), Value::Null),
            Some(target) => {
                let target = TargetArguments { target, nth: None };
                let resolved = page.resolve(&target, context.deadline).await?;
                (resolved.frame, resolved.spec)
            }
        };
        let parse = |text: Option<String>| text.and_then(|text| serde_json::from_str::<Value>(&text).ok());
        let mut argument = json!({
            "spec": spec, "matcher": self.matcher, "negated": self.negated,
            "options": parse(self.options).unwrap_or_else(|| json!({})),
            "timeout": milliseconds_left(context.deadline),
        });
        if let Some(expected) = parse(self.expected) {
            argument["expected"] = expected;
        }
        let result: ExpectResult =
            page.call_again_in(&frame, "expect", &argument, with_grace(context.deadline)).await?;
        Ok(ExpectResult { received: plain_value(result.received), ..result })
    }
}

impl Render for ExpectResult {
    fn render(&self) -> String {
        json!({"pass": self.pass, "received": self.received}).to_string()
    }
}
