//! Which requests may be shown, fulfilled or changed, judged by their own URLs and by the document that made them.

use std::collections::HashMap;

use tabwire_api::Failure;
use tabwire_policy::Capability;

use super::events::RequestPaused;
use super::log::RequestLog;
use super::log::entry::RequestEntry;
use crate::frames::policy::{FramePolicy, OmittedSites};

/// Requests of a log that lack a capability, by CDP id: the hops of a redirect share one.
#[derive(Debug, Default)]
pub(crate) struct RefusedRequests {
    /// The deciding URL for each id.
    by_id: HashMap<String, String>,
}

impl RefusedRequests {
    /// Finds the requests of a log that lack a capability.
    pub(crate) fn find(log: &RequestLog, policy: &FramePolicy, capability: Capability) -> Self {
        let mut refused = Self::default();
        if policy.is_idle() {
            return refused;
        }
        let mut known: HashMap<String, bool> = HashMap::new();
        for entry in log.since(0) {
            let decides = judged_urls(entry).into_iter().find(|url| {
                let is_allowed = *known.entry(url.clone()).or_insert_with(|| policy.allows(url, capability));
                !is_allowed
            });
            if let Some(url) = decides {
                refused.by_id.entry(entry.id.clone()).or_insert(url);
            }
        }
        refused
    }

    /// The URL that denies a request; none when it is allowed.
    pub(crate) fn url_for(&self, entry: &RequestEntry) -> Option<&str> {
        self.by_id.get(&entry.id).map(String::as_str)
    }

    /// Keeps the allowed requests, and counts the others.
    pub(crate) fn split_allowed(&self, entries: Vec<RequestEntry>) -> (Vec<RequestEntry>, OmittedSites) {
        let mut left_out = OmittedSites::default();
        let mut kept = Vec::new();
        for entry in entries {
            match self.url_for(&entry) {
                Some(url) => left_out.add(url),
                None => kept.push(entry),
            }
        }
        (kept, left_out)
    }
}

/// The URLs that a request is judged by: its own, that of its response, and that of its document.
pub(crate) fn judged_urls(entry: &RequestEntry) -> Vec<String> {
    let response = entry.response.as_ref().map(|head| head.url.as_str()).unwrap_or_default();
    let mut urls: Vec<String> =
        [entry.url.as_str(), response, entry.document.as_str()].into_iter().filter_map(judged_form).collect();
    urls.dedup();
    urls
}

/// A URL for the policy; none for one that belongs to the document that uses it.
fn judged_form(url: &str) -> Option<String> {
    if let Some(rest) = url.strip_prefix("ws") {
        // The same server over another protocol.
        return Some(format!("http{rest}"));
    }
    let is_inside = url.is_empty() || url.starts_with("data:") || url.starts_with("about:");
    (!is_inside).then(|| url.to_owned())
}

/// Judges paused requests.
#[derive(Clone, Debug)]
pub(crate) struct HeldAccess<'a> {
    pub(crate) policy: &'a FramePolicy,
    /// The URL that the frame of the request is judged by.
    pub(crate) frame_url: Option<String>,
}

impl HeldAccess<'_> {
    /// Whether a paused request may be fulfilled or changed: the response acts as its own origin, and runs in the
    /// document that requested it.
    pub(crate) fn may_change(&self, paused: &RequestPaused) -> bool {
        if self.policy.is_idle() {
            return true;
        }
        self.urls_of(paused).iter().all(|url| self.policy.allows(url, Capability::Eval))
    }

    /// Whether a script may see a paused request: by its own URL and that of its document.
    pub(crate) fn may_show(&self, paused: &RequestPaused) -> bool {
        self.policy.is_idle()
            || self.urls_of(paused).iter().all(|url| self.policy.allows(url, Capability::Read))
    }

    /// The URLs that a paused request is judged by.
    pub(crate) fn urls_of(&self, paused: &RequestPaused) -> Vec<String> {
        // A navigation replaces the current document.
        let frame = self.frame_url.as_deref().filter(|_| paused.resource_type != "Document");
        [Some(paused.request.url.as_str()), frame].into_iter().flatten().filter_map(judged_form).collect()
    }

    /// Whether a paused request may be sent to another URL.
    pub(crate) fn may_send_to(&self, url: &str) -> bool {
        self.policy.allows(url, Capability::Read)
    }

    /// Whether the session's headers may be added to a paused request.
    pub(crate) fn may_add_headers(&self, paused: &RequestPaused) -> bool {
        self.policy.allows(&paused.request.url, Capability::Act)
    }
}

/// Fails when a request may not be shown.
pub(crate) fn check_request(
    log: &RequestLog,
    entry: &RequestEntry,
    policy: &FramePolicy,
    capability: Capability,
) -> Result<(), Failure> {
    match RefusedRequests::find(log, policy, capability).url_for(entry) {
        Some(url) => policy.check(url, capability),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tabwire_api::ErrorCode;

    use super::*;

    fn policy(granted: &'static str) -> FramePolicy {
        FramePolicy::new(
            || false,
            move |address, _| {
                let refused = Failure::new(ErrorCode::PolicyDenied, "Refused.");
                if granted.starts_with(&address.label()) { Ok(()) } else { Err(refused) }
            },
        )
    }

    fn paused(kind: &str, url: &str) -> RequestPaused {
        let event = json!({"requestId": "1", "resourceType": kind, "frameId": "f", "request": {"url": url}});
        serde_json::from_value(event).expect("a request")
    }

    #[test]
    fn c2_a_paused_request_is_judged_by_its_url_and_its_document() {
        let policy = policy("http://good.test/");
        let good = HeldAccess { policy: &policy, frame_url: Some("http://good.test/page".to_owned()) };
        for kind in ["Document", "Script", "XHR", "Image"] {
            assert!(good.may_change(&paused(kind, "http://good.test/x")), "{kind}");
            assert!(!good.may_change(&paused(kind, "http://bad.test/x")), "{kind}");
        }
        let bad = HeldAccess { policy: &policy, frame_url: Some("http://bad.test/page".to_owned()) };
        assert!(!bad.may_change(&paused("Script", "http://good.test/lib.js")), "it would run as bad.test");
        assert!(bad.may_change(&paused("Document", "http://good.test/")), "it replaces bad.test");
        let idle = FramePolicy::default();
        let open = HeldAccess { policy: &idle, frame_url: None };
        assert!(open.may_change(&paused("Document", "http://bad.test/")));
    }

    #[test]
    fn a_socket_is_judged_as_its_server_and_data_as_its_document() {
        assert_eq!(judged_form("wss://a.test/x").as_deref(), Some("https://a.test/x"));
        assert_eq!(judged_form("ws://a.test/x").as_deref(), Some("http://a.test/x"));
        assert_eq!(judged_form("data:text/plain,x"), None);
        assert_eq!(judged_form("chrome://version").as_deref(), Some("chrome://version"));
    }
}
