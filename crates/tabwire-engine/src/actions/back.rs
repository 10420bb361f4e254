//! `back`: goes one step back in the tab's history.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::Failure;
use tabwire_policy::Needs;

use crate::action::context::Context;
use crate::action::result::NavigationResult;
use crate::action::{Action, Effect, Example, ToolGroup, ToolOptions};
use crate::page::history::HistoryDirection;
use crate::page::navigation::LoadState;

/// Go one step back in the tab's history.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Back {
    /// The load state to wait for.
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    wait_until: LoadState,
}

impl Action for Back {
    const NAME: &'static str = "back";
    const EFFECT: Effect = Effect::Navigate;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire back", "Go back one page."),
        Example::new("tabwire back --wait-until commit", "Go back without waiting for the load."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Default);
    type Output = NavigationResult;

    fn needs(&self) -> Needs {
        Needs::destination()
    }

    async fn run(self, context: &Context) -> Result<NavigationResult, Failure> {
        let page = context.tab_page().await?;
        let arrival = page.go(HistoryDirection::Back, self.wait_until, context.deadline).await?;
        NavigationResult::read(context, &page, arrival).await
    }
}
