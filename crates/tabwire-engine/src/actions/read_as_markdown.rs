//! `read_as_markdown`: reads the page or its main content as Markdown without active links or images.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure};
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::result::BareValue;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions, ToolResult};
use crate::read::PartArguments;
use crate::read::excerpt::{Excerpt, RangeArguments};

/// Read the page's main content, the whole page or an element as Markdown.
///
/// Hidden text is left out. Links and images are inactive: a link is written [text] (`URL`), with a URL relative to the
/// page's site for links inside it; an image is written (image: description) without a URL.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct ReadAsMarkdown {
    #[command(flatten)]
    #[serde(flatten)]
    part: PartArguments,
    /// The whole page, with menus, sidebars and footers.
    #[arg(long, conflicts_with = "target")]
    #[serde(default)]
    whole: bool,
    #[command(flatten)]
    #[serde(flatten)]
    range: RangeArguments,
}

/// The page as Markdown.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct MarkdownText {
    /// What was read: `main`, `page` or `element`.
    part: String,
    #[serde(flatten)]
    excerpt: Excerpt,
}

impl Action for ReadAsMarkdown {
    const NAME: &'static str = "read_as_markdown";
    const EFFECT: Effect = Effect::Read;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire read-as-markdown", "Read the page's main content as Markdown.").in_skill(),
        Example::new("tabwire read-as-markdown --whole --raw", "The whole page, without the fence."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Default).returning(ToolResult::Text);
    type Output = MarkdownText;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Read)
    }

    async fn run(self, context: &Context) -> Result<MarkdownText, Failure> {
        self.range.check()?;
        if self.whole && self.part.target.is_some() {
            return Err(Failure::new(ErrorCode::BadArgs, "`whole` and a target exclude each other.")
                .with_remedy("Give one of them."));
        }
        let page = context.page().await?;
        let argument = json!({"main": !self.whole});
        let reading = page.read_part(&self.part, "readMarkdown", argument, context.read_deadlines()).await?;
        let part = reading.more.get("part").and_then(Value::as_str).unwrap_or("page").to_owned();
        Ok(MarkdownText { part, excerpt: Excerpt::cut(reading, self.range)? })
    }
}

impl Render for MarkdownText {
    fn render(&self) -> String {
        let text = self.excerpt.render();
        match self.part.as_str() {
            "main" => format!("{text}\n(main content; `whole` reads the rest)"),
            _ => text,
        }
    }

    fn bare(&self) -> Option<BareValue> {
        Some(self.excerpt.bare())
    }
}
