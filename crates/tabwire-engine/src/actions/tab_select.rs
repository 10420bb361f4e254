//! `tab_select`: makes a tab the current one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::Failure;
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::result::NavigationResult;
use crate::action::{Action, Effect, Example, TabUse, ToolGroup, ToolOptions};
use crate::page::navigation::DocumentResponse;

/// Make a tab the current one for later actions, by id, number, title or URL.
///
/// The browser's window stays as it is unless `--foreground` is given.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct TabSelect {
    /// The tab: its id from `tabs-list`, its number, or a part of its title or URL.
    #[arg(value_name = "TAB")]
    #[schemars(extend("x-carries" = "tab", "x-log" = "hidden"))]
    id: String,
    /// Bring it to the front of its window.
    #[arg(long)]
    #[serde(default)]
    foreground: bool,
}

impl Action for TabSelect {
    const NAME: &'static str = "tab_select";
    const EFFECT: Effect = Effect::Navigate;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire tab-select pipe:7f3a:3", "Use this tab for later actions."),
        Example::new("tabwire tab-select 3", "The same by its number."),
        Example::new("tabwire tab-select Inbox", "The same by a part of its title."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Default).idempotent();
    const TAB: TabUse = TabUse::Selects;
    type Output = NavigationResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Read)
    }

    async fn run(self, context: &Context) -> Result<NavigationResult, Failure> {
        let tab = context.browser.find_tab(&self.id, |_| true, context.deadline).await?;
        let page = context.browser.select(tab, context.selects()).await?;
        if self.foreground {
            // Sent only on request: in a browser with a window it takes the focus from the user.
            page.command("Page.bringToFront", &serde_json::json!({}), context.deadline).await?;
            context.browser.note_brought_to_front(&page);
        }
        NavigationResult::read(context, &page, DocumentResponse::default()).await
    }
}
