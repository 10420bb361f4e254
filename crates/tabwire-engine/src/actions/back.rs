//! `back`: goes one step back in the tab's history.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_policy::Needs;
use tabwire_wire::Failure;

use crate::action::{Action, Effect, Example};
use crate::context::Context;
use crate::history::Way;
use crate::navigation::LoadState;
use crate::went::Went;

/// Go one step back in the tab's history.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Back {
    /// How far the page must have come.
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    wait_until: LoadState,
}

impl Action for Back {
    const NAME: &'static str = "back";
    const EFFECT: Effect = Effect::Navigate;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire back", "Go back one page."),
        Example::new("tabwire back --wait-until commit", "Go back and do not wait until it has loaded."),
    ];
    type Output = Went;

    fn needs(&self) -> Needs {
        Needs::destination()
    }

    async fn run(self, context: &Context) -> Result<Went, Failure> {
        let page = context.tab_page().await?;
        let arrival = page.go(Way::Back, self.wait_until, context.deadline).await?;
        Went::tell(&context.browser, &page, arrival, context.deadline).await
    }
}
