//! One rule as answers list it. Knows nothing of how it is applied.

use schemars::JsonSchema;
use serde::Serialize;

use super::resource_kind::ResourceKind;
use super::route::{AbortReason, Route, RouteEffect};
use super::secret::mask_url;
use crate::action::Render;

/// One rule in a list.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct ListedRoute {
    /// Its number, for `unroute N`.
    pub(crate) number: u32,
    /// The addresses it is for.
    pub(crate) url: String,
    /// The kinds of requests it is for; none means every kind.
    #[serde(rename = "type", skip_serializing_if = "Vec::is_empty")]
    pub(crate) kinds: Vec<ResourceKind>,
    /// What it does, in words. Header values and bodies are not repeated.
    pub(crate) does: String,
    /// How often it has been applied.
    pub(crate) hits: u32,
    /// How often the browser or the policy refused it, so that the request went on as it was.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) refused: u32,
    /// How often it is applied at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) times: Option<u32>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The rules of a page.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct RouteList {
    /// The rule that was just made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) added: Option<u32>,
    /// The rules that were just taken away.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) removed: Vec<u32>,
    /// The rules there are now; the last one that fits decides.
    pub(crate) routes: Vec<ListedRoute>,
}

impl From<&Route> for ListedRoute {
    fn from(route: &Route) -> Self {
        let does = match &route.effect {
            RouteEffect::Abort(AbortReason::Blocked) => "abort".to_owned(),
            RouteEffect::Abort(reason) => format!("abort ({})", reason.browser_word()),
            RouteEffect::Fulfil(answer) => {
                format!("answer {} with {} bytes", answer.status, answer.body.len())
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
            count => format!(
                "; refused by the browser or the policy: {count}, those requests went on as they were"
            ),
        };
        format!("{} {}{kinds}: {} (hits: {}{times}{refused})", self.number, self.url, self.does, self.hits)
    }
}
