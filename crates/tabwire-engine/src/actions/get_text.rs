//! `get_text`: reads the page's visible text.

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

/// Read the visible text of the page or of an element, frames included.
///
/// Hidden text is left out. Long texts come in parts: continue with --from.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct GetText {
    #[command(flatten)]
    #[serde(flatten)]
    part: PartArguments,
    #[command(flatten)]
    #[serde(flatten)]
    range: RangeArguments,
}

/// The visible text.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct VisibleText(Excerpt);

impl Action for GetText {
    const NAME: &'static str = "get_text";
    const EFFECT: Effect = Effect::Read;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire get-text", "Print the page's visible text."),
        Example::new("tabwire get-text e6 --raw", "Print only the text of an element."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Default).returning(ToolResult::Text);
    const ALIASES: &'static [&'static str] = &["text"];
    type Output = VisibleText;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Read)
    }

    async fn run(self, context: &Context) -> Result<VisibleText, Failure> {
        self.range.check()?;
        let page = context.page().await?;
        let reading = page.read_part(&self.part, "readText", json!({}), context.read_deadlines()).await?;
        Ok(VisibleText(Excerpt::cut(reading, self.range)?))
    }
}

impl Render for VisibleText {
    fn render(&self) -> String {
        self.0.render()
    }

    fn bare(&self) -> Option<BareValue> {
        Some(self.0.bare())
    }
}
