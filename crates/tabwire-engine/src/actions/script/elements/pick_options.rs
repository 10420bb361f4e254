//! `pick_options`: selects options of a drop-down for a script, by value, label, index or element.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure};
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::input::element::TargetArguments;
use crate::page::Page;
use crate::snapshot::ElementRef;

/// Select options of a drop-down.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct PickOptions {
    /// The locator of the drop-down.
    #[schemars(extend("x-carries" = "target"))]
    target: String,
    /// The options, as a JSON list of objects with `either`, `value`, `label`, `index` or `ref`.
    #[schemars(extend("x-carries" = "text"))]
    options: String,
    /// Do not wait until the drop-down is enabled.
    #[arg(long)]
    #[serde(default)]
    force: bool,
}

/// The values that are selected now, or why none are.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct PickedOptions {
    /// The values; absent when some options are not there yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    values: Option<Vec<String>>,
    /// Why nothing can be selected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

impl Action for PickOptions {
    const NAME: &'static str = "pick_options";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Execute);
    type Output = PickedOptions;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<PickedOptions, Failure> {
        let options: Vec<Value> = serde_json::from_str(&self.options)
            .map_err(|error| Failure::new(ErrorCode::BadArgs, format!("`options` is not valid: {error}.")))?;
        let page = context.page().await?;
        let wanted: Vec<Value> =
            options.into_iter().map(|option| with_key(&page, option)).collect::<Result<_, _>>()?;
        let target = TargetArguments { target: self.target, nth: None };
        let request = json!({"guard": false, "force": self.force});
        let element = page.prepare(&target, "select", request, context.deadline).await?;
        let argument = json!({"key": element.key(), "wanted": wanted});
        page.call_in(&element.frame, "pickOptions", &argument, context.deadline).await
    }
}

/// Turns the ref of an option into the agent's key.
fn with_key(page: &Page, option: Value) -> Result<Value, Failure> {
    let Some(given) = option.get("ref").and_then(Value::as_str) else { return Ok(option) };
    let named: ElementRef = given.parse().map_err(|_| {
        Failure::new(ErrorCode::BadArgs, "`ref` names no element.").with_remedy("Use a handle.")
    })?;
    Ok(json!({"key": page.find_ref(named)?.key}))
}

impl Render for PickedOptions {
    fn render(&self) -> String {
        json!(self.values).to_string()
    }
}
