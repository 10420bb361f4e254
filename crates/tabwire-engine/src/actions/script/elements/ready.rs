//! `ready`: waits until an element can be acted on, without acting: `trial` of a script's actions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_api::{ErrorCode, Failure};
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::input::element::TargetArguments;

/// What an element can be made ready for.
const PURPOSES: [&str; 8] = ["click", "check", "hover", "select", "focus", "reveal", "stable", "text"];

/// Wait until an element can be acted on.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Ready {
    /// The locator.
    #[schemars(extend("x-carries" = "target"))]
    target: String,
    /// What for: `click`, `check`, `hover`, `select`, `focus`, `reveal`, `stable`, `text`.
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    purpose: String,
    /// The point in the element, from its top left.
    #[arg(long, value_name = "X,Y", value_parser = crate::actions::parse_position)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    position: Option<(f64, f64)>,
    /// Do not wait until the element is stable, enabled and uncovered.
    #[arg(long)]
    #[serde(default)]
    force: bool,
    /// Put the caret at the start of a field that does not have the focus yet.
    #[arg(long)]
    #[serde(default)]
    reset: bool,
    /// Do not scroll.
    #[arg(long)]
    #[serde(default)]
    no_scroll: bool,
}

/// Where the element is.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ReadyResult {
    /// The point that input would go to, from the left of the tab.
    x: f64,
    /// The same, from the top.
    y: f64,
}

impl Action for Ready {
    const NAME: &'static str = "ready";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Execute);
    type Output = ReadyResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<ReadyResult, Failure> {
        let Some(purpose) = PURPOSES.iter().find(|purpose| **purpose == self.purpose) else {
            return Err(Failure::new(
                ErrorCode::BadArgs,
                format!("`purpose` is one of {}.", PURPOSES.join(", ")),
            ));
        };
        let page = context.page().await?;
        let mut request = json!({
            "guard": false, "force": self.force, "reset": self.reset, "noScroll": self.no_scroll,
        });
        if let Some((x, y)) = self.position {
            request["position"] = json!({"x": x, "y": y});
        }
        let target = TargetArguments { target: self.target, nth: None };
        let element = page.prepare(&target, purpose, request, context.deadline).await?;
        Ok(ReadyResult { x: element.info.point.x, y: element.info.point.y })
    }
}

impl Render for ReadyResult {
    fn render(&self) -> String {
        format!("{},{}", self.x, self.y)
    }
}
