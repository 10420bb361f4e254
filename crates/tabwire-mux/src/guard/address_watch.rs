//! Records the remote IP addresses of documents, from the `Network` events of the mux's own sessions on
//! pages.

use std::time::Instant;

use serde_json::{Value, json};
use tabwire_api::{BrowserContextId, CdpSessionId, TargetId};
use tabwire_cdp::envelope::peek_client_frame;
use tabwire_cdp::reply::{self, ProtocolError};

use crate::mux::Mux;
use crate::routing::from_browser::read_params;
use crate::routing::from_client::Command;
use crate::routing::pending::{InternalCommand, ResponseHandling};
use crate::session::table::{Session, SessionOwner};

/// The bytes in `Network.responseReceived` that mark a document's response, as Chromium writes them.
const DOCUMENT_TYPE: &[u8] = br#""type":"Document""#;

impl Mux {
    /// Records the addresses of all pages' documents from now on.
    pub(crate) fn follow_addresses(&mut self, now: Instant) {
        if !self.guard.follow_addresses() {
            return;
        }
        for session in self.sessions.internal_target_sessions() {
            self.follow_addresses_of(&session, now);
        }
    }

    /// Records the addresses of one page's documents, if a guard wants them. A page that is still paused
    /// reports all of them.
    pub(crate) fn follow_addresses_of(&mut self, session: &CdpSessionId, now: Instant) {
        let target = self.sessions.find(session.as_str()).and_then(Session::target);
        let entry = target.and_then(|target| self.targets.find(target.as_str()));
        if self.guard.follows_addresses() && entry.is_some_and(|entry| entry.target_type() == "page") {
            // The smallest buffers: the mux never requests response bodies.
            let params = json!({"maxTotalBufferSize": 1, "maxResourceBufferSize": 1});
            self.router.send(Some(session), "Network.enable", params, InternalCommand::FireAndForget, now);
        }
    }

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

    /// Handles `Target.createTarget`. Chromium 156 sends no event for the first response of a target that is
    /// created with a URL. Where addresses are recorded, the target is therefore created with `about:blank`
    /// and the mux navigates it.
    pub(crate) fn command_create(&mut self, command: &Command<'_>, params: &Value, now: Instant) {
        let context = params.get("browserContextId").and_then(Value::as_str).map(BrowserContextId::new);
        let url = params.get("url").and_then(Value::as_str).filter(|url| !matches!(*url, "" | "about:blank"));
        let follows = self.guard.follows_addresses() && self.clients.guard(command.client).is_some();
        let Some(url) = url.filter(|_| follows) else {
            return self.forward(command, ResponseHandling::CreateTarget { context, then: None }, now);
        };
        let mut empty = params.clone();
        if let Some(members) = empty.as_object_mut() {
            members.insert("url".to_owned(), Value::from("about:blank"));
        }
        let session = (!command.on_root).then_some(&command.session);
        let frame = reply::command(command.envelope.id, session, command.envelope.method, &empty);
        match peek_client_frame(&frame) {
            Ok(envelope) => {
                let (client, session) = (command.client, command.session.clone());
                let rewritten =
                    Command { client, envelope, frame: &frame, session, on_root: command.on_root };
                let handling = ResponseHandling::CreateTarget { context, then: Some(url.to_owned()) };
                self.forward(&rewritten, handling, now);
            }
            Err(error) => self.refuse(command, &ProtocolError::invalid_params(error)),
        }
    }

    /// Navigates a new page to the URL that its client passed to `Target.createTarget`.
    pub(crate) fn navigate_new_target(&mut self, target: &str, url: &str, now: Instant) {
        let is_it = |session: &Session| {
            session.owner == SessionOwner::Control
                && session.target().is_some_and(|own| own.as_str() == target)
        };
        let session = self.sessions.iter().find(|(_, session)| is_it(session)).map(|(id, _)| id.clone());
        if let Some(session) = session {
            self.router.send(
                Some(&session),
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
        self.targets
            .find(target.as_str())
            .map(|entry| entry.addresses.addresses().to_vec())
            .unwrap_or_default()
    }
}
