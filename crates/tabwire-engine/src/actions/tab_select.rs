//! `tab_select`: makes a tab the one that actions are for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_policy::{Capability, Needs};
use tabwire_wire::{Failure, TabId};

use crate::action::{Action, Effect, Example};
use crate::context::Context;
use crate::navigation::Arrival;
use crate::went::Went;

/// Make a tab the one that later actions are for.
///
/// The browser's window stays as it is unless `--foreground` is given.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct TabSelect {
    /// The tab's id, from `tabs-list`.
    #[schemars(with = "String")]
    #[schemars(extend("x-carries" = "tab"))]
    id: TabId,
    /// Bring it to the front of its window.
    #[arg(long)]
    #[serde(default)]
    foreground: bool,
}

impl Action for TabSelect {
    const NAME: &'static str = "tab_select";
    const EFFECT: Effect = Effect::Navigate;
    const EXAMPLES: &'static [Example] =
        &[Example::new("tabwire tab-select pipe:7f3a:3", "Act on this tab from now on.")];
    type Output = Went;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Read)
    }

    async fn run(self, context: &Context) -> Result<Went, Failure> {
        let page = context.browser.select(self.id).await?;
        if self.foreground {
            page.command("Page.bringToFront", &serde_json::json!({}), context.deadline).await?;
        }
        Went::tell(&context.browser, &page, Arrival::default(), context.deadline).await
    }
}
