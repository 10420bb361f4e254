//! `forward`: goes one step forward in the tab's history.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_policy::Needs;
use tabwire_wire::Failure;

use crate::action::{Action, Effect, Example};
use crate::context::Context;
use crate::history::Way;
use crate::navigation::LoadState;
use crate::went::Went;

/// Go one step forward in the tab's history.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Forward {
    /// How far the page must have come.
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    wait_until: LoadState,
}

impl Action for Forward {
    const NAME: &'static str = "forward";
    const EFFECT: Effect = Effect::Navigate;
    const EXAMPLES: &'static [Example] = &[Example::new("tabwire forward", "Go forward one page.")];
    type Output = Went;

    fn needs(&self) -> Needs {
        Needs::destination()
    }

    async fn run(self, context: &Context) -> Result<Went, Failure> {
        let page = context.tab_page().await?;
        let arrival = page.go(Way::Forward, self.wait_until, context.deadline).await?;
        Went::tell(&context.browser, &page, arrival, context.deadline).await
    }
}
