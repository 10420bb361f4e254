//! Restricts ways out of a page that show it nothing (beacons, prefetches, workers, peer connections), and its
//! navigations. The policy decides what they may reach.

use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};
use tabwire_cdp::{CdpSession, PendingResponse};

use super::events::RequestPaused;
use crate::cdp::Setting;
use crate::limits::SETUP_DEADLINE;

/// Whether a URL may be reached.
type Reach = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// Whether a tab may navigate to a URL, given the page that it shows if known.
type Destination = Arc<dyn Fn(&str, Option<&str>) -> bool + Send + Sync>;

/// Lists what workers may reach; the first match wins.
type Reaches = Arc<dyn Fn() -> Vec<UrlRule> + Send + Sync>;

/// A CDP URL pattern, and whether it is blocked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlRule {
    /// The pattern, such as `https://*.example.org/*`.
    pub pattern: String,
    /// Whether matching URLs are blocked.
    pub is_blocked: bool,
}

/// What pages may reach by invisible requests, and where they may navigate.
#[derive(Clone)]
pub struct EgressPolicy {
    reach: Reach,
    destination: Destination,
    reaches: Reaches,
}

/// Resource types that are paused and judged. To pause prefetches, Chromium 156 needs `Fetch`, and then pauses script
/// fetches as well; only prefetches still have this type when they are paused.
const JUDGED: &[&str] = &["Ping", "Fetch", "CSPViolationReport"];

/// Documents are paused too, so that a redirect, link or form sends nothing to a site that the tab may not show.
/// Frames continue, because most pages need them.
const DOCUMENT: &str = "Document";

/// Removes APIs from a document that communicate without requests or outlive it. Runs before the page's scripts.
const FENCE: &str = "(() => {
    for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport', 'SharedWorker']) {
        delete globalThis[name];
    }
    if (globalThis.ServiceWorkerContainer) {
        const refuse = () => Promise.reject(new DOMException('Service workers are off here.', 'SecurityError'));
        ServiceWorkerContainer.prototype.register = refuse;
    }
})()";

/// The same for a worker, whose sockets cannot be paused either.
const WORKER_FENCE: &str =
    "for (const name of ['WebSocket', 'WebSocketStream', 'WebTransport']) { delete self[name]; }";

/// The commands for a worker before it starts.
pub(crate) struct WorkerFence {
    /// Which URLs it may reach.
    pub(crate) blocked: Result<PendingResponse, tabwire_cdp::CdpError>,
    /// Removes its sockets.
    pub(crate) fenced: Result<PendingResponse, tabwire_cdp::CdpError>,
    /// Applies to its own workers.
    pub(crate) attaching: Result<PendingResponse, tabwire_cdp::CdpError>,
}

impl EgressPolicy {
    /// Calls `reach` for every beacon and prefetch, `destination` for every navigation, and `reaches` once for every
    /// worker.
    pub fn new(
        reach: impl Fn(&str) -> bool + Send + Sync + 'static,
        destination: impl Fn(&str, Option<&str>) -> bool + Send + Sync + 'static,
        reaches: impl Fn() -> Vec<UrlRule> + Send + Sync + 'static,
    ) -> Self {
        Self { reach: Arc::new(reach), destination: Arc::new(destination), reaches: Arc::new(reaches) }
    }

    /// What the browser has to pause.
    pub(crate) fn patterns() -> impl Iterator<Item = Value> {
        JUDGED.iter().chain([&DOCUMENT]).map(|kind| json!({"urlPattern": "*", "resourceType": kind}))
    }

    /// Whether a paused request is blocked.
    pub(crate) fn stops(&self, paused: &RequestPaused) -> bool {
        JUDGED.contains(&paused.resource_type.as_str()) && !(self.reach)(&paused.request.url)
    }

    /// Whether a paused request would navigate the tab to a denied URL. `main` is the main frame, `shown` the URL of
    /// its document.
    pub(crate) fn blocks_navigation(&self, paused: &RequestPaused, main: &str, shown: Option<&str>) -> bool {
        let url = &paused.request.url;
        // Other schemes send nothing.
        let is_of_the_web = url.starts_with("http://") || url.starts_with("https://");
        paused.resource_type == DOCUMENT
            && paused.frame_id == main
            && is_of_the_web
            && !(self.destination)(url, shown)
    }

    /// The commands for every process of a page before it starts.
    pub(crate) fn fence() -> [Setting; 2] {
        let script = Setting {
            key: "network.egress".to_owned(),
            method: "Page.addScriptToEvaluateOnNewDocument",
            params: json!({"source": FENCE, "runImmediately": true}),
            persistent: true,
        };
        // A service worker of a kept profile responds to its site's pages and fetches from anywhere; its requests are
        // not those of the page.
        let service_workers = Setting {
            key: "network.service_workers".to_owned(),
            method: "Network.setBypassServiceWorker",
            params: json!({"bypass": true}),
            persistent: true,
        };
        [script, service_workers]
    }

    /// Sends a worker all commands without waiting.
    pub(crate) fn begin_in_worker(&self, worker: &CdpSession) -> WorkerFence {
        let begin = |method: &'static str, params: Value| worker.begin(method, &params, SETUP_DEADLINE);
        let mut rules: Vec<Value> = (self.reaches)()
            .iter()
            .map(|rule| json!({"urlPattern": rule.pattern, "block": rule.is_blocked}))
            .collect();
        // The first match wins, so this rule blocks what no other rule allows.
        rules.push(json!({"urlPattern": "*://*:*/*", "block": true}));
        // Workers that a worker starts are announced on its session, not on the page's.
        let children = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
        WorkerFence {
            blocked: begin("Network.setBlockedURLs", json!({"urlPatterns": rules})),
            fenced: begin("Runtime.evaluate", json!({"expression": WORKER_FENCE, "silent": true})),
            attaching: begin("Target.setAutoAttach", children),
        }
    }
}

impl fmt::Debug for EgressPolicy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("EgressPolicy")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t25_beacons_and_prefetches_are_judged_and_script_fetches_are_not() {
        let good = |url: &str| url.starts_with("https://good.test/");
        let egress = EgressPolicy::new(good, move |url, shown| good(url) || shown == Some("files"), Vec::new);
        let paused = |kind: &str, url: &str| -> RequestPaused {
            let paused = json!({
                "requestId": "1", "resourceType": kind, "frameId": "main",
                "request": {"url": url, "method": "GET", "headers": {}},
            });
            serde_json::from_value(paused).expect("a request")
        };
        let held = |kind: &str, url: &str| egress.stops(&paused(kind, url));
        for kind in ["Ping", "Fetch", "CSPViolationReport"] {
            assert!(held(kind, "https://bad.test/?secret") && !held(kind, "https://good.test/x"), "{kind}");
        }
        assert!(!held("XHR", "https://bad.test/"));
        for (kind, url, main, shown, expected) in [
            ("Document", "https://bad.test/", "main", None, true),
            ("Document", "https://bad.test/", "main", Some("https://good.test/"), true),
            ("Document", "https://good.test/", "main", None, false),
            ("Document", "https://bad.test/", "main", Some("files"), false),
            ("Document", "https://bad.test/", "another", None, false),
            ("Document", "blob:https://bad.test/1", "main", None, false),
            ("Image", "https://bad.test/", "main", None, false),
        ] {
            let is_kept = egress.blocks_navigation(&paused(kind, url), main, shown);
            assert_eq!(is_kept, expected, "{kind} {url} in {main}, shown {shown:?}");
        }
    }
}
