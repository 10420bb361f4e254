//! `reload`: loads the tab's page anew.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_policy::{Capability, Needs};
use tabwire_wire::Failure;

use crate::action::{Action, Effect, Example};
use crate::context::Context;
use crate::navigation::LoadState;
use crate::went::Went;

/// Load the tab's page anew.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Reload {
    /// Fetch everything again in place of using the browser's cache.
    #[arg(long)]
    #[serde(default)]
    past_cache: bool,
    /// How far the page must have come.
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    wait_until: LoadState,
}

impl Action for Reload {
    const NAME: &'static str = "reload";
    const EFFECT: Effect = Effect::Navigate;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire reload", "Load the page again."),
        Example::new("tabwire reload --past-cache", "Fetch everything anew."),
    ];
    type Output = Went;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Read)
    }

    async fn run(self, context: &Context) -> Result<Went, Failure> {
        let page = context.tab_page().await?;
        context.browser.revive(page.target());
        let arrival = page.reload(self.past_cache, self.wait_until, context.deadline).await?;
        Went::tell(&context.browser, &page, arrival, context.deadline).await
    }
}
