//! `context_new`, `context_page` and `context_close`: browser contexts of a script, with cookies and storage of their own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::{BrowserContextId, Failure, TabId};
use tabwire_policy::Needs;

use super::Nothing;
use crate::action::context::Context;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};

/// Make a browser context.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema, clap::Args)]
#[serde(default)]
pub(crate) struct ContextNew {}

/// A new browser context.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ContextNewResult {
    /// Its id.
    context: String,
}

impl Action for ContextNew {
    const NAME: &'static str = "context_new";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Execute);
    type Output = ContextNewResult;

    fn needs(&self) -> Needs {
        Needs::nothing()
    }

    async fn run(self, context: &Context) -> Result<ContextNewResult, Failure> {
        let made = context.browser.make_context(context.deadline).await?;
        Ok(ContextNewResult { context: made.to_string() })
    }
}

impl Render for ContextNewResult {
    fn render(&self) -> String {
        self.context.clone()
    }
}

/// Open a tab in a browser context of the script.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct ContextPage {
    /// The id of the context.
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    context: String,
}

/// A new tab.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ContextPageResult {
    /// Its id.
    #[schemars(with = "String")]
    page: TabId,
}

impl Action for ContextPage {
    const NAME: &'static str = "context_page";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Execute);
    type Output = ContextPageResult;

    fn needs(&self) -> Needs {
        Needs::nothing()
    }

    async fn run(self, context: &Context) -> Result<ContextPageResult, Failure> {
        let jar = BrowserContextId::new(&self.context);
        Ok(ContextPageResult { page: context.browser.open_in_context(&jar).await? })
    }
}

impl Render for ContextPageResult {
    fn render(&self) -> String {
        self.page.to_string()
    }
}

/// Close a browser context of the script with its tabs.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct ContextClose {
    /// The id of the context.
    #[schemars(extend("x-carries" = "text", "x-log" = "keyword"))]
    context: String,
}

impl Action for ContextClose {
    const NAME: &'static str = "context_close";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Execute);
    type Output = Nothing;

    fn needs(&self) -> Needs {
        Needs::nothing()
    }

    async fn run(self, context: &Context) -> Result<Nothing, Failure> {
        context.browser.end_context(&self.context, context.deadline).await.map(|()| Nothing {})
    }
}
