//! `unroute`: takes routes away.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_policy::{Capability, Needs};
use tabwire_wire::{ErrorCode, Failure};

use crate::action::{Action, Effect, Example};
use crate::context::Context;
use crate::network::{ListedRoute, RouteList};

/// Take routes away: one by its number, those of an address, or all.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Unroute {
    /// A route's number, or the address it was made with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "pattern"))]
    route: Option<String>,
    /// Take all routes away.
    #[arg(long)]
    #[serde(default)]
    all: bool,
}

impl Action for Unroute {
    const NAME: &'static str = "unroute";
    const EFFECT: Effect = Effect::Act;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire unroute 2", "Take a route away."),
        Example::new("tabwire unroute --all", "Take all away."),
    ];
    type Output = RouteList;

    fn needs(&self) -> Needs {
        Needs::tab(Capability::Act)
    }

    async fn run(self, context: &Context) -> Result<RouteList, Failure> {
        if self.all == self.route.is_some() {
            return Err(Failure::new(ErrorCode::BadArgs, "Say which route, or --all.")
                .with_hint("Run `tabwire route` to see them."));
        }
        let page = context.page().await?;
        let wanted = self.route.as_deref().map(str::trim);
        // An open dialog is told before anything is changed.
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
                .with_hint("Run `tabwire route` to see the routes there are."));
        }
        page.apply_interception(context.deadline).await?;
        let settings = page.network().settings();
        let routes = settings.routes.iter().map(ListedRoute::from).collect();
        Ok(RouteList { added: None, removed, routes })
    }
}
