//! `get_html`: reads the page's HTML, raw or cleaned.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_api::Failure;
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::result::BareValue;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions, ToolResult};
use crate::read::PartArguments;
use crate::read::excerpt::{Excerpt, RangeArguments};

/// Read the current HTML of the page or of an element.
///
/// Values of password fields are masked. Long pages come in parts: continue with --from.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct GetHtml {
    #[command(flatten)]
    #[serde(flatten)]
    part: PartArguments,
    /// Leave out scripts, styles, comments, hidden elements, event handlers, data: URLs and most attributes; inline the
    /// frames.
    #[arg(long)]
    #[serde(default)]
    clean: bool,
    #[command(flatten)]
    #[serde(flatten)]
    range: RangeArguments,
}

/// The HTML.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct Html(Excerpt);

impl Action for GetHtml {
    const NAME: &'static str = "get_html";
    const EFFECT: Effect = Effect::Read;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire get-html main --clean", "Print the cleaned HTML of an element."),
        Example::new("tabwire get-html --raw", "Print the page's HTML for a program."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Default).returning(ToolResult::Text);
    type Output = Html;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Read)
    }

    async fn run(self, context: &Context) -> Result<Html, Failure> {
        self.range.check()?;
        let page = context.page().await?;
        let argument = json!({"clean": self.clean});
        let reading = page.read_part(&self.part, "readHtml", argument, context.read_deadlines()).await?;
        Ok(Html(Excerpt::cut(reading, self.range)?))
    }
}

impl Render for Html {
    fn render(&self) -> String {
        self.0.render()
    }

    fn bare(&self) -> Option<BareValue> {
        Some(self.0.bare())
    }
}
