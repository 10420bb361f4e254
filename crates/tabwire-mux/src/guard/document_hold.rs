//! Pauses the document requests of pages until a guard allows the navigation: in popups, in tabs that no
//! client is attached to, and in clients' own tabs. Requests whose responses the page cannot read, such as
//! beacons, are paused too.
//!
//! A popup is paused when the mux attaches to it, so even its first document request is paused. The mux
//! attached before every client, so its `Fetch` handler runs last and sees the request with every change that
//! clients made.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use tabwire_api::{CdpSessionId, ClientId, TargetId};

use crate::guard::Guard;
use crate::mux::Mux;
use crate::routing::from_browser::read_params;
use crate::routing::pending::InternalCommand;
use crate::session::table::Session;
use crate::state::BrowserState;
use crate::target::entry::{Owner, TargetEntry};

/// The resource type of documents.
const DOCUMENT: &str = "Document";

/// Resource types whose responses a page cannot read. In Chromium 156 only the pattern type `Fetch` pauses
/// prefetches. It pauses the fetches of scripts too, but the paused event has the type `Fetch` for prefetches
/// only.
const UNSEEN: [&str; 3] = ["Ping", "Fetch", "CSPViolationReport"];

impl Mux {
    /// A client joined. If its guard checks documents, the document requests of its pages are paused from now
    /// on.
    pub(crate) fn pause_documents(&mut self, client: ClientId, now: Instant) {
        let guard = self.state.clients.get(client).and_then(|client| client.options.guard.as_ref());
        if !guard.is_some_and(|guard| guard.0.pauses_documents()) {
            return;
        }
        for session in self.state.sessions.internal_target_sessions() {
            self.pause_documents_of(&session, now);
        }
    }

    /// Pauses the document requests of one page on the mux's session, if a guard of its partition checks
    /// them. Other pages have no extra cost.
    pub(crate) fn pause_documents_of(&mut self, session: &CdpSessionId, now: Instant) {
        let target: Option<TargetId> =
            self.state.sessions.find(session.as_str()).and_then(|session| session.target().cloned());
        let Some(entry) = target.as_ref().and_then(|target| self.state.targets.find(target.as_str())) else {
            return;
        };
        let is_page = entry.target_type() == "page";
        let is_sent = entry.target_type() == "iframe" && !entry.navigated_frames.is_empty();
        if !(is_page || is_sent)
            || entry.paused_on.as_ref() == Some(session)
            || self.state.document_guards(entry).is_empty()
        {
            return;
        }
        if let Some(entry) = target.and_then(|target| self.state.targets.find_mut(target.as_str())) {
            entry.paused_on = Some(session.clone());
        }
        // Not the only guard, because `Fetch` fails open: Chromium continues paused requests when their CDP session ends (docs/cdp/network-
        // against-fetch.md).
        let kinds = UNSEEN.iter().filter(|_| is_page).chain([&DOCUMENT]);
        let patterns: Vec<Value> =
            kinds.map(|kind| json!({"urlPattern": "*", "resourceType": kind})).collect();
        self.router.send(
            Some(session),
            "Fetch.enable",
            json!({"patterns": patterns}),
            InternalCommand::FireAndForget,
            now,
        );
    }

    /// A request is paused on a session of the mux: continues it, or fails it.
    pub(crate) fn request_paused(&mut self, session: &CdpSessionId, frame: &[u8], now: Instant) {
        let params = read_params(frame);
        let Some(request) = params.get("requestId").and_then(Value::as_str) else { return };
        let target = self.state.sessions.find(session.as_str()).and_then(Session::target);
        let entry = target.and_then(|target| self.state.targets.find(target.as_str()));
        // A redirect pauses again with the new URL, under the same network id: every hop is judged here.
        if entry.is_none_or(|entry| self.state.may_navigate(entry, &params)) {
            let params = json!({"requestId": request});
            self.router.send(
                Some(session),
                "Fetch.continueRequest",
                params,
                InternalCommand::FireAndForget,
                now,
            );
        } else {
            self.counters.documents_stopped += 1;
            let params = json!({"requestId": request, "errorReason": "BlockedByClient"});
            self.router.send(Some(session), "Fetch.failRequest", params, InternalCommand::FireAndForget, now);
        }
    }
}

impl BrowserState {
    /// The guards that decide about a page's navigations: those of clients that see the page's partition, or all
    /// when the partition is unknown.
    fn document_guards(&self, entry: &TargetEntry) -> Vec<Arc<dyn Guard>> {
        let partition = self.partition_of(entry);
        let concerned = self.clients.iter().map(|(_, client)| client).filter(|client| {
            let is_in = |partition| client.options.partition.as_ref() == partition;
            partition.is_none_or(is_in) || self.is_user_tab(client, entry)
        });
        let guards = concerned.filter_map(|client| client.options.guard.as_ref());
        guards.filter(|guard| guard.0.pauses_documents()).map(|guard| Arc::clone(&guard.0)).collect()
    }

    /// Whether a page may send this request.
    fn may_navigate(&self, entry: &TargetEntry, params: &Value) -> bool {
        let text = |path: &str| params.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let (url, kind) = (text("/request/url"), text("/resourceType"));
        // A page's main frame has the page's id. Other frames may load anything: their content is filtered
        // where it may not be read.
        let is_page = entry.target_type() == "page" && text("/frameId") == entry.id.as_str();
        let is_sent = entry.navigated_frames.contains(text("/frameId"));
        let is_own = kind == DOCUMENT && (is_page || is_sent);
        let is_unseen = UNSEEN.contains(&kind);
        let is_web = url.starts_with("http://") || url.starts_with("https://");
        if !(is_own || is_unseen) || !is_web || self.opened_by_user(entry) {
            return true;
        }
        let opener = entry.text("openerId").and_then(|opener| self.targets.find(opener));
        let shown = shown_url(entry).or_else(|| opener.and_then(shown_url)).filter(|_| is_own);
        self.document_guards(entry).iter().all(|guard| guard.may_navigate(url, shown))
    }

    /// Whether the user opened this tab in the browser's window and no client is attached to it.
    fn opened_by_user(&self, entry: &TargetEntry) -> bool {
        matches!(entry.owner, Owner::Unowned { is_users: true, .. })
            && !entry.predates_link
            && entry.text("openerId").is_none()
            && !self.sessions.is_entered(entry.id.as_str())
    }
}

/// The URL that a page shows, if it is http or https.
fn shown_url(entry: &TargetEntry) -> Option<&str> {
    let shown = entry.page_url.as_deref().or_else(|| entry.text("url"))?;
    shown.starts_with("http").then_some(shown)
}
