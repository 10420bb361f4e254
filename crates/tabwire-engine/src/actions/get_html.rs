//! `get_html`: the page's HTML, as it is or cleaned.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_api::Failure;
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::result::BareValue;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions, ToolResult};
use crate::read::PartArguments;
use crate::read::excerpt::{Excerpt, StretchArguments};

/// Read the HTML of the page or of an element as it is now.
///
/// What stands in password fields is masked. Long pages come in parts: continue with --from.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct GetHtml {
    #[command(flatten)]
    #[serde(flatten)]
    part: PartArguments,
    /// Leave out scripts, styles, comments, hidden elements, event handlers, data: addresses and most attributes;
    /// frames are put in place.
    #[arg(long)]
    #[serde(default)]
    clean: bool,
    #[command(flatten)]
    #[serde(flatten)]
    stretch: StretchArguments,
}

/// The HTML.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct Html(Excerpt);

impl Action for GetHtml {
    const NAME: &'static str = "get_html";
    const EFFECT: Effect = Effect::Read;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire get-html main --clean", "Print a part's markup without noise."),
        Example::new("tabwire get-html --raw", "Print the whole page's markup for a program."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Default).returning(ToolResult::Text);
    type Output = Html;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Read)
    }

    async fn run(self, context: &Context) -> Result<Html, Failure> {
        self.stretch.check()?;
        let page = context.page().await?;
        let argument = json!({"clean": self.clean});
        let reading = page.read_part(&self.part, "readHtml", argument, context.deadline).await?;
        Ok(Html(Excerpt::cut(reading, self.stretch)?))
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
