//! Records the remote IP addresses of documents, from the `Network` events of the mux's own sessions on
//! pages.

use std::time::Instant;

use serde_json::{Value, json};
use tabwire_api::{BrowserContextId, CdpSessionId, TargetId};

use crate::mux::Mux;
use crate::routing::from_browser::read_params;
use crate::routing::from_client::Command;
use crate::routing::pending::{InternalCommand, ResponseHandling};
use crate::session::table::{Session, SessionOwner};
use crate::state::BrowserState;

/// The bytes in `Network.responseReceived` that mark a document's response, as Chromium writes them.
const DOCUMENT_TYPE: &[u8] = br#""type":"Document""#;

impl Mux {
    /// Records the addresses of all pages' documents from now on.
    pub(crate) fn follow_addresses(&mut self, now: Instant) {
        if !self.guard.follow_addresses() {
            return;
        }
        for session in self.state.sessions.internal_target_sessions() {
            self.follow_addresses_of(&session, now);
        }
    }

    /// Records the addresses of one page's documents, if a guard wants them. A page that is still paused
    /// reports all of them.
    pub(crate) fn follow_addresses_of(&mut self, session: &CdpSessionId, now: Instant) {
        let target = self.state.sessions.find(session.as_str()).and_then(Session::target);
        let entry = target.and_then(|target| self.state.targets.find(target.as_str()));
        if self.guard.follows_addresses() && entry.is_some_and(|entry| entry.target_type() == "page") {
            // The smallest buffers: the mux never requests response bodies.
            let params = json!({"maxTotalBufferSize": 1, "maxResourceBufferSize": 1});
            self.router.send(Some(session), "Network.enable", params, InternalCommand::FireAndForget, now);
        }
    }

    /// Handles `Target.createTarget`. Chromium 156 sends no event for the first response of a target that is
    /// created with a URL. Where addresses are recorded, the target is therefore created with `about:blank`
    /// and the mux navigates it.
    pub(crate) fn command_create(&mut self, command: &Command<'_>, params: &Value, now: Instant) {
        let context = params.get("browserContextId").and_then(Value::as_str).map(BrowserContextId::new);
        let url = params.get("url").and_then(Value::as_str).filter(|url| !matches!(*url, "" | "about:blank"));
        let follows = self.guard.follows_addresses() && self.state.clients.guard(command.client).is_some();
        let is_set = |name: &str| params.get(name).and_then(Value::as_bool) == Some(true);
        // A hidden target, as chromedriver makes one for BiDi, is in no window.
        let opens_window =
            self.state.clients.opens_windows(command.client) && !is_set("newWindow") && !is_set("hidden");
        let then = url.filter(|_| follows).map(str::to_owned);
        let handling = ResponseHandling::CreateTarget { context, then: then.clone() };
        if then.is_none() && !opens_window {
            return self.forward(command, handling, now);
        }
        let mut changed = params.clone();
        if let Some(members) = changed.as_object_mut() {
            if then.is_some() {
                members.insert("url".to_owned(), Value::from("about:blank"));
            }
            if opens_window {
                members.insert("newWindow".to_owned(), Value::Bool(true));
            }
        }
        self.forward_rewritten(command, &changed, handling, now);
    }

    /// Navigates a new page to the URL that its client passed to `Target.createTarget`.
    pub(crate) fn navigate_new_target(&mut self, target: &str, url: &str, now: Instant) {
        let is_it = |session: &Session| {
            session.owner == SessionOwner::Control
                && session.target().is_some_and(|own| own.as_str() == target)
        };
        let session =
            self.state.sessions.iter().find(|(_, session)| is_it(session)).map(|(id, _)| id.clone());
        if let Some(session) = session {
            self.router.send(
                Some(&session),
                // The mux created the page blank: a page that is created with a URL requests it before the
                // mux has its session (guarded clients only).
                "Page.navigate",
                json!({"url": url}),
                InternalCommand::FireAndForget,
                now,
            );
        }
    }

    /// The addresses that the page's document came from, or may have come from.
    #[must_use]
    pub fn remote_addresses_of(&self, target: &TargetId) -> Vec<std::net::IpAddr> {
        self.state
            .targets
            .find(target.as_str())
            .map(|entry| entry.addresses.addresses().to_vec())
            .unwrap_or_default()
    }
}

impl BrowserState {
    /// A response arrived on a session of the mux; only responses for the page's own document count.
    pub(crate) fn document_received(&mut self, session: &CdpSessionId, frame: &[u8]) {
        if !frame.windows(DOCUMENT_TYPE.len()).any(|part| part == DOCUMENT_TYPE) {
            return;
        }
        let params = read_params(frame);
        let text = |field: &str| params.get(field).and_then(Value::as_str);
        let target: Option<TargetId> =
            self.sessions.find(session.as_str()).and_then(|session| session.target().cloned());
        let is_document = text("type") == Some("Document");
        let (Some(target), Some(loader), true) = (target, text("requestId"), is_document) else { return };
        // A page's main frame has the page's id.
        if text("frameId") != Some(target.as_str()) {
            return;
        }
        if let (Some(entry), Some(response)) =
            (self.targets.find_mut(target.as_str()), params.get("response"))
        {
            entry.addresses.received(loader, response);
        }
    }
}
