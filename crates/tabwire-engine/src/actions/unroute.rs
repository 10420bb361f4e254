//! `unroute`: removes routes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, ToolGroup, ToolOptions};
use crate::network::{ListedRoute, RouteList};

/// Remove routes: one by its number, those of a URL pattern, or all.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Unroute {
    /// A route's number, or its URL pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "pattern", "x-log" = "keyword"))]
    route: Option<String>,
    /// Remove all routes.
    #[arg(long)]
    #[serde(default)]
    all: bool,
}

impl Action for Unroute {
    const NAME: &'static str = "unroute";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire unroute 2", "Remove one route."),
        Example::new("tabwire unroute --all", "Remove all routes."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Network);
    type Output = RouteList;

    fn needs(&self) -> Needs {
        Needs::tab(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<RouteList, Failure> {
        if self.all == self.route.is_some() {
            return Err(Failure::new(ErrorCode::BadArgs, "A route or `all` is required.")
                .with_remedy(Remedy::new("Run {} to list them.", [Step::action("route")])));
        }
        let page = context.page().await?;
        let wanted = self.route.as_deref().map(str::trim);
        // Report an open dialog before any change.
        page.unless_blocked(async { Ok(()) }).await?;
        let removed: Vec<u32> = {
            let mut settings = page.network().settings();
            let taken = settings.routes.take(|route| {
                wanted
                    .is_none_or(|wanted| route.glob.as_str() == wanted || route.number.to_string() == wanted)
            });
            taken.iter().map(|route| route.number).collect()
        };
        if removed.is_empty() && !self.all {
            return Err(Failure::new(ErrorCode::BadArgs, "The tab has no such route.")
                .with_remedy(Remedy::new("Run {} to list the routes.", [Step::action("route")])));
        }
        page.apply_interception(context.deadline).await?;
        let settings = page.network().settings();
        let routes = settings.routes.iter().map(ListedRoute::from).collect();
        Ok(RouteList { added: None, removed, routes })
    }
}
