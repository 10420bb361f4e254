//! Ways out of a page that show it nothing, beacons, prefetches, workers, peer connections, and where it may send its
//! tab. What may still be reached by them is somebody else's to say.

use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};
use tabwire_cdp::{CdpSession, PendingAnswer};

use super::network_event::RequestPaused;
use crate::driver::Setting;
use crate::limits::SETUP_DEADLINE;

/// Says of an address whether it may be reached.
type Reach = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// Says of an address whether a tab may be sent there, by the page that it shows if that is known.
type Destination = Arc<dyn Fn(&str, Option<&str>) -> bool + Send + Sync>;

/// Lists what workers may and may not reach; what is named first holds.
type Reaches = Arc<dyn Fn() -> Vec<UrlRule> + Send + Sync>;

/// Addresses, as the browser's patterns write them, and whether they are reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlRule {
    /// The pattern, such as `https://*.example.org/*`.
    pub pattern: String,
    /// Whether what fits is not reached.
    pub is_blocked: bool,
}

/// What pages may reach by ways that show them nothing, and where they may send their tab.
#[derive(Clone)]
pub struct Containment {
    reach: Reach,
    destination: Destination,
    reaches: Reaches,
}

/// Kinds of requests that are held and judged, by the browser's names. To hold prefetches, Chromium 156 has to be asked
/// for `Fetch`, and then holds what scripts fetch as well; only prefetches are still called so when they are held.
const JUDGED: &[&str] = &["Ping", "Fetch", "CSPViolationReport"];

/// What the browser calls documents. They are held as well, so that a redirect, a link or a form asks nothing of a site
/// that the tab may not show; those of frames go on, as most pages are nothing without.
const DOCUMENT: &str = "Document";

/// Takes from a document what talks to others without requests, or outlives it. Runs before the page's own scripts.
const FENCE: &str = "(() => {
    for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport', 'SharedWorker']) {
        delete globalThis[name];
    }
    if (globalThis.ServiceWorkerContainer) {
        const refuse = () => Promise.reject(new DOMException('Service workers are off here.', 'SecurityError'));
        ServiceWorkerContainer.prototype.register = refuse;
    }
})()";

/// The same for a worker, whose sockets cannot be held either.
const WORKER_FENCE: &str =
    "for (const name of ['WebSocket', 'WebSocketStream', 'WebTransport']) { delete self[name]; }";

/// What is asked of a worker before it begins.
pub(crate) struct WorkerFence {
    /// Which addresses it reaches.
    pub(crate) blocked: Result<PendingAnswer, tabwire_cdp::CdpError>,
    /// Its sockets are taken away.
    pub(crate) fenced: Result<PendingAnswer, tabwire_cdp::CdpError>,
    /// Its own workers are told.
    pub(crate) attaching: Result<PendingAnswer, tabwire_cdp::CdpError>,
}

impl Containment {
    /// Asks `reach` of every beacon and prefetch, `destination` of every document a tab is sent to, and `reaches` once
    /// for every worker.
    pub fn new(
        reach: impl Fn(&str) -> bool + Send + Sync + 'static,
        destination: impl Fn(&str, Option<&str>) -> bool + Send + Sync + 'static,
        reaches: impl Fn() -> Vec<UrlRule> + Send + Sync + 'static,
    ) -> Self {
        Self { reach: Arc::new(reach), destination: Arc::new(destination), reaches: Arc::new(reaches) }
    }

    /// What the browser is asked to hold.
    pub(super) fn patterns() -> impl Iterator<Item = Value> {
        JUDGED.iter().chain([&DOCUMENT]).map(|kind| json!({"urlPattern": "*", "resourceType": kind}))
    }

    /// Whether a request that is held goes no further.
    pub(super) fn stops(&self, paused: &RequestPaused) -> bool {
        JUDGED.contains(&paused.resource_type.as_str()) && !(self.reach)(&paused.request.url)
    }

    /// Whether a request that is held would send the tab where it may not go. `main` is the page's own frame, `shown`
    /// the address of what it shows.
    pub(super) fn keeps_from(&self, paused: &RequestPaused, main: &str, shown: Option<&str>) -> bool {
        let url = &paused.request.url;
        // Whatever else a tab shows asks nobody.
        let is_of_the_web = url.starts_with("http://") || url.starts_with("https://");
        paused.resource_type == DOCUMENT
            && paused.frame_id == main
            && is_of_the_web
            && !(self.destination)(url, shown)
    }

    /// What every process of a page is told before it begins.
    pub(crate) fn fence() -> [Setting; 2] {
        let script = Setting {
            key: "network.containment".to_owned(),
            method: "Page.addScriptToEvaluateOnNewDocument",
            params: json!({"source": FENCE, "runImmediately": true}),
            lasts: true,
        };
        // A service worker that a kept profile has from an earlier session answers its site's pages and fetches from
        // anywhere; its requests are not those of the page.
        let service_workers = Setting {
            key: "network.service_workers".to_owned(),
            method: "Network.setBypassServiceWorker",
            params: json!({"bypass": true}),
            lasts: true,
        };
        [script, service_workers]
    }

    /// Asks a worker for everything, without waiting.
    pub(crate) fn begin_in_worker(&self, worker: &CdpSession) -> WorkerFence {
        let begin = |method: &'static str, params: Value| worker.begin(method, &params, SETUP_DEADLINE);
        let mut rules: Vec<Value> = (self.reaches)()
            .iter()
            .map(|rule| json!({"urlPattern": rule.pattern, "block": rule.is_blocked}))
            .collect();
        rules.push(json!({"urlPattern": "*://*:*/*", "block": true}));
        let children = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
        WorkerFence {
            blocked: begin("Network.setBlockedURLs", json!({"urlPatterns": rules})),
            fenced: begin("Runtime.evaluate", json!({"expression": WORKER_FENCE, "silent": true})),
            attaching: begin("Target.setAutoAttach", children),
        }
    }
}

impl fmt::Debug for Containment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Containment")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t25_beacons_and_prefetches_are_judged_and_what_a_script_fetches_is_not() {
        let good = |url: &str| url.starts_with("https://good.test/");
        let containment =
            Containment::new(good, move |url, shown| good(url) || shown == Some("files"), Vec::new);
        let paused = |kind: &str, url: &str| -> RequestPaused {
            let paused = json!({
                "requestId": "1", "resourceType": kind, "frameId": "main",
                "request": {"url": url, "method": "GET", "headers": {}},
            });
            serde_json::from_value(paused).expect("a request")
        };
        let held = |kind: &str, url: &str| containment.stops(&paused(kind, url));
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
            let is_kept = containment.keeps_from(&paused(kind, url), main, shown);
            assert_eq!(is_kept, expected, "{kind} {url} in {main}, shown {shown:?}");
        }
    }
}
