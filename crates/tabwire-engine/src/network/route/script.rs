//! Requests that a script decides about: it is asked, and its decision is applied as the policy allows.

use tokio::sync::oneshot;

use super::{AbortReason, Verdict, fulfil, rewrite};
use crate::feed::{RouteDecision, paused_facts};
use crate::network::events::RequestPaused;
use crate::network::page_network::PageNetwork;

impl PageNetwork {
    /// Whether a paused request has its number, or no script asks for it.
    pub(crate) fn is_ready_to_ask(&self, paused: &RequestPaused) -> bool {
        let feed = self.feed();
        let is_listed = |id: &String| self.log().last_of(id).is_some();
        feed.feed().patterns(feed.target()).is_empty() || paused.network_id.as_ref().is_none_or(is_listed)
    }

    /// Asks the script that routes requests of this page. None when there is none, or when it may not see the request.
    pub(crate) fn ask_script(&self, paused: &RequestPaused) -> Option<oneshot::Receiver<RouteDecision>> {
        let feed = self.feed();
        if feed.feed().patterns(feed.target()).is_empty() || self.is_blocked(paused) {
            return None;
        }
        let access = self.access(paused);
        if !access.may_show(paused) {
            return None;
        }
        let number =
            paused.network_id.as_ref().and_then(|id| self.log().last_of(id).map(|entry| entry.number));
        let facts = paused_facts(paused, number, self.main().as_str());
        feed.feed().ask_route(feed.target(), &access.urls_of(paused), &facts)
    }

    /// The command of a script's decision. None when the request goes on as if there were no script: the script wants it,
    /// or the policy does not let it change the request.
    pub(crate) fn apply_decision(&self, paused: &RequestPaused, decision: RouteDecision) -> Option<Verdict> {
        let access = self.access(paused);
        match decision {
            RouteDecision::Pass => None,
            RouteDecision::Abort(reason) => Some(Verdict::fail(&paused.request_id, reason)),
            RouteDecision::Fulfil(_) | RouteDecision::Continue(_) if !access.may_change(paused) => {
                Some(Verdict::fail(&paused.request_id, AbortReason::Blocked))
            }
            RouteDecision::Fulfil(response) => Some(fulfil(paused, &response)),
            RouteDecision::Continue(change) => {
                let may_send = change.url.as_ref().is_none_or(|url| access.may_send_to(url));
                let verdict = if may_send {
                    rewrite(paused, &change)
                } else {
                    Verdict::fail(&paused.request_id, AbortReason::Blocked)
                };
                Some(verdict)
            }
        }
    }
}
