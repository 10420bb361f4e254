//! `tab_new`: opens a tab.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::Failure;
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::result::{BareValue, NavigationResult};
use crate::action::{Action, Effect, Example, Render, TabUse, ToolGroup, ToolOptions};
use crate::page::navigation::{DocumentResponse, LoadState};
use crate::url::checked_url;

/// Open a tab and make it the current one.
///
/// It opens in the background, so that the user's window does not change, unless `--foreground` is given.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct TabNew {
    /// The URL to open; an empty page by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "url"))]
    url: Option<String>,
    /// Open it in the background (default).
    #[arg(long, conflicts_with = "foreground")]
    #[serde(default)]
    background: bool,
    /// Bring it to the front.
    #[arg(long)]
    #[serde(default)]
    foreground: bool,
    /// The load state to wait for.
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    wait_until: LoadState,
}

/// The new tab and its URL.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct OpenedTab(NavigationResult);

impl Action for TabNew {
    const NAME: &'static str = "tab_new";
    const EFFECT: Effect = Effect::Navigate;
    const EXAMPLES: &'static [Example] = &[
        Example::new(
            "tabwire tab-new example.org",
            "Open a URL in a new tab, which becomes the current one.",
        )
        .in_skill(),
        Example::new("tabwire tab-new --raw example.org", "Print only the new tab's id, for --tab."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Default).hiding(&["background"]);
    const TAB: TabUse = TabUse::Opens;
    type Output = OpenedTab;

    fn needs(&self) -> Needs {
        let url = self.url.as_deref().and_then(|url| checked_url(url).ok());
        Needs::destination().at(Capability::Read, url)
    }

    async fn run(self, context: &Context) -> Result<OpenedTab, Failure> {
        let url = self.url.as_deref().map(checked_url).transpose()?;
        let page = context.browser.new_tab(!self.foreground, context.selects()).await?;
        let arrival = match url {
            Some(url) => context.browser.navigate(&page, &url, self.wait_until, context.deadline).await?,
            None => DocumentResponse::default(),
        };
        NavigationResult::read(context, &page, arrival).await.map(OpenedTab)
    }
}

impl Render for OpenedTab {
    fn render(&self) -> String {
        self.0.render()
    }

    /// The caller knows the URL, so the bare value is the tab's id.
    fn bare(&self) -> Option<BareValue> {
        Some(BareValue::whole(self.0.tab.to_string()))
    }
}
