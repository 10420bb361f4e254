//! Documents that pages ask for, held by the mux until a guard has said that the page may go there: those of popups,
//! of tabs that no client has entered, and of clients' own tabs alike. So are requests that show a page nothing, as
//! beacons. Knows nothing of who may read what.
//!
//! A popup is paused when the mux is attached to it, so even its first document is held. The mux was there before
//! every client, so it is the last to be asked: what a client holds or changes by itself, it sees as it is sent.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use tabwire_api::{CdpSessionId, ClientId, TargetId};

use crate::guard::Guard;
use crate::mux::Mux;
use crate::routing::from_browser::read_params;
use crate::routing::pending::InternalCommand;
use crate::session::table::Session;
use crate::target::entry::{Owner, TargetEntry};

/// What the browser calls documents.
const DOCUMENT: &str = "Document";

/// What it calls requests whose answers a page is not shown. Chromium 156 has to be asked for `Fetch` to hold
/// prefetches, and then holds what scripts fetch as well; only prefetches are still called so when they are held.
const UNSEEN: [&str; 3] = ["Ping", "Fetch", "CSPViolationReport"];

impl Mux {
    /// A client came whose guard may have documents held: from now on those of its pages are.
    pub(crate) fn pause_documents(&mut self, client: ClientId, now: Instant) {
        let guard = self.clients.get(client).and_then(|client| client.options.guard.as_ref());
        if !guard.is_some_and(|guard| guard.0.pauses_documents()) {
            return;
        }
        for session in self.sessions.internal_target_sessions() {
            self.pause_documents_of(&session, now);
        }
    }

    /// Has the documents of one page held, on the mux's session on it, if somebody wants that. Pages of others, open
    /// sessions' among them, cost nothing.
    pub(crate) fn pause_documents_of(&mut self, session: &CdpSessionId, now: Instant) {
        let target: Option<TargetId> =
            self.sessions.find(session.as_str()).and_then(|session| session.target().cloned());
        let Some(entry) = target.as_ref().and_then(|target| self.targets.find(target.as_str())) else {
            return;
        };
        let is_page = entry.target_type() == "page";
        let is_sent = entry.target_type() == "iframe" && !entry.navigated_frames.is_empty();
        if !(is_page || is_sent)
            || entry.paused_on.as_ref() == Some(session)
            || self.document_guards(entry).is_empty()
        {
            return;
        }
        if let Some(entry) = target.and_then(|target| self.targets.find_mut(target.as_str())) {
            entry.paused_on = Some(session.clone());
        }
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

    /// The guards that have a say in where a page goes: those of its partition, or all when that is not known.
    fn document_guards(&self, entry: &TargetEntry) -> Vec<Arc<dyn Guard>> {
        let partition = self.partition_of(entry);
        let concerned = self.clients.iter().map(|(_, client)| client).filter(|client| {
            partition.is_none_or(|partition| client.options.partition.as_ref() == partition)
        });
        let guards = concerned.filter_map(|client| client.options.guard.as_ref());
        guards.filter(|guard| guard.0.pauses_documents()).map(|guard| Arc::clone(&guard.0)).collect()
    }

    /// A request is held, on a CDP session of the control: it goes on, or is never asked for.
    pub(crate) fn request_paused(&mut self, session: &CdpSessionId, frame: &[u8], now: Instant) {
        let params = read_params(frame);
        let Some(request) = params.get("requestId").and_then(Value::as_str) else { return };
        let target = self.sessions.find(session.as_str()).and_then(Session::target);
        let entry = target.and_then(|target| self.targets.find(target.as_str()));
        if entry.is_none_or(|entry| self.may_navigate(entry, &params)) {
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

    /// Whether a page may have what it asks for.
    fn may_navigate(&self, entry: &TargetEntry, params: &Value) -> bool {
        let text = |path: &str| params.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let (url, kind) = (text("/request/url"), text("/resourceType"));
        // A page's main frame has the page's id. What frames show is left out where it may not be read.
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

    /// Whether a tab is one that somebody opened by hand at the browser's window and no client has entered.
    fn opened_by_user(&self, entry: &TargetEntry) -> bool {
        matches!(entry.owner, Owner::Unowned { released: 0, .. })
            && !entry.predates_link
            && entry.text("openerId").is_none()
            && !self.sessions.is_entered(entry.id.as_str())
    }
}

/// The address of what a page shows, if it is one of the web.
fn shown_url(entry: &TargetEntry) -> Option<&str> {
    let shown = entry.page_url.as_deref().or_else(|| entry.text("url"))?;
    shown.starts_with("http").then_some(shown)
}
