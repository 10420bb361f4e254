//! `navigate`: goes to a URL in the tab.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::Failure;
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::result::NavigationResult;
use crate::action::{Action, Effect, Example, ToolGroup, ToolOptions};
use crate::page::navigation::LoadState;
use crate::url::checked_url;

/// Go to a URL in the tab.
///
/// Fails when the URL cannot be reached. A response with an HTTP error status is a success, and the result has the status.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Navigate {
    /// The URL; `https://` may be left out.
    #[schemars(extend("x-carries" = "url"))]
    url: String,
    /// The load state to wait for.
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    wait_until: LoadState,
    /// The request's Referer header.
    #[arg(long, value_name = "URL")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text"))]
    referer: Option<String>,
}

impl Action for Navigate {
    const NAME: &'static str = "navigate";
    const EFFECT: Effect = Effect::Navigate;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire navigate example.org", "Go to a URL in the current tab."),
        Example::new(
            "tabwire navigate https://example.org/app --wait-until networkidle",
            "Wait until the network is idle.",
        ),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Default)
        .described("Go to a URL in the tab")
        .idempotent()
        .hiding(&["referer"]);
    const ALIASES: &'static [&'static str] = &["goto"];
    type Output = NavigationResult;

    fn needs(&self) -> Needs {
        Needs::destination().at(Capability::Read, checked_url(&self.url).ok())
    }

    async fn run(self, context: &Context) -> Result<NavigationResult, Failure> {
        let url = checked_url(&self.url)?;
        let page = context.tab_page().await?;
        let referer = self.referer.as_deref();
        let arrival =
            context.browser.navigate_from(&page, &url, referer, self.wait_until, context.deadline).await?;
        NavigationResult::read(context, &page, arrival).await
    }
}
