//! `reload`: reloads the tab's page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::Failure;
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::result::NavigationResult;
use crate::action::{Action, Effect, Example, ToolGroup, ToolOptions};
use crate::page::navigation::LoadState;

/// Reload the tab's page.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Reload {
    /// Bypass the browser's cache.
    #[arg(long)]
    #[serde(default)]
    past_cache: bool,
    /// The load state to wait for.
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    wait_until: LoadState,
}

impl Action for Reload {
    const NAME: &'static str = "reload";
    const EFFECT: Effect = Effect::Navigate;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire reload", "Reload the page."),
        Example::new("tabwire reload --past-cache", "Bypass the cache."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Default).idempotent();
    type Output = NavigationResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Read)
    }

    async fn run(self, context: &Context) -> Result<NavigationResult, Failure> {
        let page = context.tab_page().await?;
        context.browser.clear_crash(page.target());
        let arrival = page.reload(self.past_cache, self.wait_until, context.deadline).await?;
        NavigationResult::read(context, &page, arrival).await
    }
}
