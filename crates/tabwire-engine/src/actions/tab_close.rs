//! `tab_close`: closes a tab.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::{Failure, TabId};
use tabwire_policy::Needs;

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, Render, TabUse, ToolGroup, ToolOptions};

/// Close a tab: the given one, or the current one.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct TabClose {
    /// The tab: its id from `tabs-list`, its number, or a part of its title or URL; the current one if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[arg(value_name = "TAB")]
    #[schemars(extend("x-carries" = "tab", "x-log" = "hidden"))]
    id: Option<String>,
}

/// The result of closing a tab.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct TabCloseResult {
    /// The closed tab.
    #[schemars(with = "String")]
    closed: TabId,
    /// The tab that later actions use.
    #[schemars(with = "Option<String>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    current: Option<TabId>,
}

impl Action for TabClose {
    const NAME: &'static str = "tab_close";
    const EFFECT: Effect = Effect::Navigate;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire tab-close", "Close the current tab."),
        Example::new("tabwire tab-close pipe:7f3a:3", "Close another one."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Default);
    const TAB: TabUse = TabUse::Closes;
    type Output = TabCloseResult;

    fn needs(&self) -> Needs {
        Needs::nothing()
    }

    async fn run(self, context: &Context) -> Result<TabCloseResult, Failure> {
        let named = match &self.id {
            Some(name) => Some(context.browser.find_tab(name, |_| true, context.deadline).await?),
            None => None,
        };
        let tab = match named.or(context.tab) {
            Some(tab) => tab,
            None => context.browser.tab_id(&context.tab_page().await?),
        };
        context.browser.close_tab(tab, context.deadline).await?;
        let tabs = context.browser.tabs(context.deadline).await?;
        let is_open = |tab: &TabId| tabs.iter().any(|info| info.tab == *tab);
        let current = match &context.client_tabs {
            Some(own) => own.iter().rev().copied().find(is_open),
            None => tabs.iter().find(|tab| tab.current).map(|tab| tab.tab),
        };
        Ok(TabCloseResult { closed: tab, current })
    }
}

impl Render for TabCloseResult {
    fn render(&self) -> String {
        match self.current {
            Some(current) => format!("closed {}; the current tab is {current}", self.closed),
            None => format!("closed {}; the session has no tab left", self.closed),
        }
    }
}
