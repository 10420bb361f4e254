//! `cdp_command`: the row in the log of a CDP command that a script sends. The daemon sends it through its CDP guard.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::{ErrorCode, Failure};
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, ToolGroup, ToolOptions};
use crate::actions::script::Nothing;

/// Send a CDP command to a tab.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema, clap::Args)]
#[serde(default)]
pub(crate) struct CdpCommand {
    /// The CDP session; none opens one.
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    session: Option<String>,
    /// The method; none closes the session.
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    method: Option<String>,
    /// The parameters, as JSON.
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text"))]
    params: Option<String>,
}

impl Action for CdpCommand {
    const NAME: &'static str = "cdp_command";
    const EFFECT: Effect = Effect::Eval;
    const EXAMPLES: &'static [Example] = &[];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Execute);
    type Output = Nothing;

    fn needs(&self) -> Needs {
        // A command can do what code in the page can do. The CDP guard judges it again by what it touches.
        Needs::page(Capability::Eval)
    }

    async fn run(self, _: &Context) -> Result<Nothing, Failure> {
        let method = self.method.as_deref().unwrap_or_default();
        if method.starts_with("Target.") || method.starts_with("Browser.") {
            let message =
                format!("`{method}` is not available to scripts: their CDP sessions are those of pages.");
            return Err(Failure::new(ErrorCode::UnknownMethod, message));
        }
        let is_json = |given: &String| serde_json::from_str::<serde::de::IgnoredAny>(given).is_ok();
        if !self.params.iter().all(is_json) {
            return Err(Failure::new(ErrorCode::BadArgs, "`params` is not JSON."));
        }
        Ok(Nothing {})
    }
}
