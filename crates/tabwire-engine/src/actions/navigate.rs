//! `navigate`: goes to an address in the tab.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_policy::{Capability, Needs};
use tabwire_wire::Failure;

use crate::action::{Action, Effect, Example};
use crate::address::checked_address;
use crate::context::Context;
use crate::navigation::LoadState;
use crate::went::Went;

/// Go to an address in the tab.
///
/// Fails when the address cannot be reached; an answer with an HTTP error status is an arrival and says so.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Navigate {
    /// The address; `https://` may be left out.
    #[schemars(extend("x-carries" = "url"))]
    url: String,
    /// How far the page must have come.
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    wait_until: LoadState,
}

impl Action for Navigate {
    const NAME: &'static str = "navigate";
    const EFFECT: Effect = Effect::Navigate;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire navigate example.org", "Go to an address in the current tab."),
        Example::new(
            "tabwire navigate https://example.org/app --wait-until networkidle",
            "Wait until it asks for nothing more.",
        ),
    ];
    type Output = Went;

    fn needs(&self) -> Needs {
        Needs::destination().at(Capability::Read, checked_address(&self.url).ok())
    }

    async fn run(self, context: &Context) -> Result<Went, Failure> {
        let url = checked_address(&self.url)?;
        let page = context.tab_page().await?;
        let arrival = context.browser.navigate(&page, &url, self.wait_until, context.deadline).await?;
        Went::tell(&context.browser, &page, arrival, context.deadline).await
    }
}
