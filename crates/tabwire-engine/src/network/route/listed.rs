//! Routes in results.

use schemars::JsonSchema;
use serde::Serialize;

use super::{AbortReason, Route, RouteEffect};
use crate::action::Render;
use crate::network::log::resource_kind::ResourceKind;
use tabwire_secrets::mask_url;

/// One route in a list.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct ListedRoute {
    /// Its number, for `unroute N`.
    pub(crate) number: u32,
    /// Its URL pattern.
    pub(crate) url: String,
    /// Its resource types; empty for all.
    #[serde(rename = "type", skip_serializing_if = "Vec::is_empty")]
    pub(crate) kinds: Vec<ResourceKind>,
    /// What it does. Header values and bodies are left out.
    pub(crate) does: String,
    /// How often it was applied.
    pub(crate) hits: u32,
    /// How often the browser or the policy rejected it, so that the request continued unchanged.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) refused: u32,
    /// How often it applies at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) times: Option<u32>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The routes of a page.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct RouteList {
    /// The new route.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) added: Option<u32>,
    /// The removed routes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) removed: Vec<u32>,
    /// The current routes; the last match wins.
    pub(crate) routes: Vec<ListedRoute>,
}

impl From<&Route> for ListedRoute {
    fn from(route: &Route) -> Self {
        let does = match &route.effect {
            RouteEffect::Abort(AbortReason::Blocked) => "abort".to_owned(),
            RouteEffect::Abort(reason) => format!("abort ({})", reason.browser_word()),
            RouteEffect::Fulfil(response) => {
                format!("respond with status {} and {} bytes", response.status, response.body.len())
            }
            RouteEffect::Rewrite(change) => {
                let mut parts = Vec::new();
                parts.extend(change.url.as_ref().map(|url| format!("go to {}", mask_url(url))));
                parts.extend(change.method.as_ref().map(|method| format!("method {method}")));
                parts.extend(change.set_headers.iter().map(|header| format!("set {}", header.name)));
                parts.extend(change.remove_headers.iter().map(|name| format!("remove {name}")));
                parts.extend(change.post_data.as_ref().map(|data| format!("send {} bytes", data.len())));
                parts.join(", ")
            }
        };
        Self {
            number: route.number,
            url: route.glob.to_string(),
            kinds: route.kinds.clone(),
            does,
            hits: route.hits,
            refused: route.refused,
            times: route.times,
        }
    }
}

impl Render for RouteList {
    fn render(&self) -> String {
        let mut lines = Vec::new();
        lines.extend(self.added.map(|number| format!("added route {number}")));
        lines.extend(self.removed.iter().map(|number| format!("removed route {number}")));
        lines.extend(self.routes.iter().map(ListedRoute::line));
        if lines.is_empty() { "no routes".to_owned() } else { lines.join("\n") }
    }
}

impl ListedRoute {
    fn line(&self) -> String {
        let kinds: Vec<&str> = self.kinds.iter().map(|kind| kind.as_str()).collect();
        let kinds = if kinds.is_empty() { String::new() } else { format!(" [{}]", kinds.join(", ")) };
        let times = self.times.map(|times| format!(" of {times}")).unwrap_or_default();
        let refused = match self.refused {
            0 => String::new(),
            count => {
                format!("; refused by the browser or the policy: {count}, those requests continued unchanged")
            }
        };
        format!("{} {}{kinds}: {} (hits: {}{times}{refused})", self.number, self.url, self.does, self.hits)
    }
}
