//! The routes of one page in order.

use super::{Route, RouteEffect, Verdict};
use crate::network::events::RequestPaused;
use crate::network::log::resource_kind::ResourceKind;

/// The routes of one page.
#[derive(Debug, Default)]
pub(crate) struct RouteTable {
    routes: Vec<Route>,
    last: u32,
}

impl RouteTable {
    /// Adds a route and returns its number.
    pub(crate) fn add(&mut self, mut route: Route) -> u32 {
        self.last += 1;
        route.number = self.last;
        self.routes.push(route);
        self.last
    }

    /// Removes the matching routes.
    pub(crate) fn take(&mut self, is_meant: impl Fn(&Route) -> bool) -> Vec<Route> {
        self.routes.extract_if(.., |route| is_meant(route)).collect()
    }

    /// The routes, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Route> {
        self.routes.iter()
    }

    pub(crate) fn len(&self) -> usize {
        self.routes.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.routes.is_empty()
    }

    /// Records that the browser rejected a route.
    pub(crate) fn note_refused(&mut self, number: u32) {
        if let Some(route) = self.routes.iter_mut().find(|route| route.number == number) {
            route.refused = route.refused.saturating_add(1);
        }
    }

    /// The command for a request, if a route matches; the newest one wins. With the route's number, unless the policy
    /// does not allow changing the request: then it continues.
    pub(crate) fn judge(
        &mut self,
        paused: &RequestPaused,
        may_apply: impl Fn(&RouteEffect) -> bool,
    ) -> Option<(Option<u32>, Verdict)> {
        let kind = ResourceKind::from_browser(&paused.resource_type);
        let url = &paused.request.url;
        let route = self.routes.iter_mut().rev().find(|route| route.applies(url, kind))?;
        if !may_apply(&route.effect) {
            route.refused = route.refused.saturating_add(1);
            return Some((None, Verdict::proceed(&paused.request_id)));
        }
        route.hits = route.hits.saturating_add(1);
        Some((Some(route.number), route.judge(paused)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::AbortReason;
    use super::super::url_glob::UrlGlob;
    use super::*;

    fn route(pattern: &str, kinds: &[ResourceKind], times: Option<u32>) -> Route {
        let glob = UrlGlob::parse(pattern).expect("a pattern");
        let effect = RouteEffect::Abort(AbortReason::Failed);
        Route { number: 0, glob, kinds: kinds.to_vec(), effect, times, hits: 0, refused: 0 }
    }

    fn paused(url: &str, kind: &str) -> RequestPaused {
        let event = json!({"requestId": "1", "request": {"url": url}, "resourceType": kind});
        serde_json::from_value(event).expect("an event")
    }

    #[test]
    fn the_newest_route_that_applies_decides() {
        let mut table = RouteTable::default();
        table.add(route("/a", &[], None));
        table.add(route("/a", &[ResourceKind::Image], None));
        table.add(route("/a", &[], Some(1)));
        let mut judge = |url, kind| table.judge(&paused(url, kind), |_| true).and_then(|(number, _)| number);
        assert_eq!(judge("http://x/a", "Image"), Some(3));
        assert_eq!(judge("http://x/a", "Image"), Some(2));
        assert_eq!(judge("http://x/a", "Fetch"), Some(1));
        assert_eq!(judge("http://x/b", "Fetch"), None);
        assert_eq!(table.take(|route| route.number == 2).len(), 1);
        assert_eq!((table.len(), table.iter().map(|route| route.hits).sum::<u32>()), (2, 2));
        let refused = table.judge(&paused("http://x/a", "Fetch"), |_| false).expect("a route matches");
        assert_eq!((refused.0, refused.1.method), (None, "Fetch.continueRequest"));
        assert_eq!(table.iter().map(|route| route.refused).sum::<u32>(), 1);
    }
}
