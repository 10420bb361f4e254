//! `evaluate`: runs a script's function in the page, with an argument and elements, and returns a tagged value.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, FrameId};
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::cdp::CommandTarget;
use crate::input::element::{TargetArguments, milliseconds_left, with_grace};
use crate::page::Page;
use crate::page::evaluate::EvaluateResponse;
use crate::snapshot::ElementKey;

/// Largest result.
const RESULT_BYTES: usize = 8 * 1024 * 1024;

/// Elements that `evaluateAll` passes to a function.
const MOST_ELEMENTS: usize = 2_000;

/// Reads the argument and writes the result in the page. Values that JSON cannot carry are tagged, as in
/// `crates/tabwire-script/api/values.js`.
const VALUES: &str = include_str!("evaluate_values.js");

/// Run a function in the page.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Evaluate {
    /// A function, or an expression.
    #[schemars(extend("x-carries" = "code"))]
    expression: String,
    /// The argument of the function, as tagged JSON.
    #[serde(default)]
    #[schemars(extend("x-carries" = "text"))]
    argument: Option<String>,
    /// The locator of the element, or of all elements.
    #[serde(default)]
    #[schemars(extend("x-carries" = "target"))]
    target: Option<String>,
    /// Pass all matches as an array.
    #[arg(long)]
    #[serde(default)]
    all: bool,
}

/// The result of a function.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct EvaluateResult {
    /// The value, tagged.
    value: Value,
}

#[derive(Deserialize)]
struct Found {
    elements: Vec<FoundElement>,
}

#[derive(Deserialize)]
struct FoundElement {
    key: ElementKey,
}

impl Action for Evaluate {
    const NAME: &'static str = "evaluate";
    const EFFECT: Effect = Effect::Eval;
    const EXAMPLES: &'static [Example] = &[];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Execute);
    type Output = EvaluateResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Eval)
    }

    async fn run(self, context: &Context) -> Result<EvaluateResult, Failure> {
        let page = context.page().await?;
        let evaluation = match self.target.clone() {
            None => self.in_frame(context, &page, page.main_frame().clone()).await?,
            Some(target) => self.on_elements(context, &page, target).await?,
        };
        let value = evaluation.into_result()?.value;
        if value.to_string().len() > RESULT_BYTES {
            let message = format!("The result is larger than {RESULT_BYTES} bytes.");
            return Err(Failure::new(ErrorCode::BadArgs, message).with_remedy("Return less."));
        }
        Ok(EvaluateResult { value })
    }
}

impl Evaluate {
    /// The source of a function that runs the script's function. `given` is an expression for its first argument.
    fn function(&self, parameters: &str, given: &str) -> Result<String, Failure> {
        let argument = self.argument.as_deref().unwrap_or("{\"v\":\"undefined\"}");
        // Parsed, so that the text is JSON and nothing else.
        let argument: Value = serde_json::from_str(argument)
            .map_err(|error| Failure::new(ErrorCode::BadArgs, format!("`argument` is not JSON: {error}.")))?;
        let expression = &self.expression;
        Ok(format!(
            "async function ({parameters}) {{ {VALUES}\nconst given = (\n{expression}\n); \
             const value = typeof given === \"function\" ? given({given}readValue({argument})) : given; \
             return writeValue(await value); }}"
        ))
    }

    async fn in_frame(
        &self,
        context: &Context,
        page: &Page,
        frame: FrameId,
    ) -> Result<EvaluateResponse, Failure> {
        let place =
            if frame == *page.main_frame() { CommandTarget::Page } else { CommandTarget::Frame(frame) };
        let params = json!({
            "expression": format!("({})()", self.function("", "")?), "awaitPromise": true, "returnByValue": true,
            "userGesture": true,
        });
        let response = page
            .unless_blocked(async {
                let sent = page.begin_on(&place, "Runtime.evaluate", &params, context.deadline).await;
                sent.map_err(|error| page.session().failure(error))
            })
            .await?;
        read(response)
    }

    async fn on_elements(
        &self,
        context: &Context,
        page: &Page,
        target: String,
    ) -> Result<EvaluateResponse, Failure> {
        let resolved = page.resolve(&TargetArguments { target, nth: None }, context.deadline).await?;
        let argument = json!({
            "spec": resolved.spec, "all": self.all, "keys": true, "timeout": milliseconds_left(context.deadline),
        });
        let found: Found =
            page.call_again_in(&resolved.frame, "query", &argument, with_grace(context.deadline)).await?;
        let keys: Vec<ElementKey> = found.elements.iter().map(|element| element.key).collect();
        if keys.len() > MOST_ELEMENTS {
            let message =
                format!("The locator matches {} elements; {MOST_ELEMENTS} can be passed.", keys.len());
            return Err(Failure::new(ErrorCode::BadArgs, message));
        }
        let given = if self.all { "elements, " } else { "elements[0], " };
        let function = self.function("...elements", given)?;
        let called = page.session().call_on_elements(&resolved.frame, &keys, &function, context.deadline);
        read(page.unless_blocked(called).await?)
    }
}

fn read(response: Value) -> Result<EvaluateResponse, Failure> {
    serde_json::from_value(response).map_err(|error| {
        Failure::new(ErrorCode::CdpError, format!("Unexpected result of the evaluation: {error}."))
    })
}

impl Render for EvaluateResult {
    fn render(&self) -> String {
        self.value.to_string()
    }
}
