//! The loss of the browser: pending commands fail, clients are disconnected.

use std::time::Instant;

use serde_json::{Value, json};
use tabwire_api::{CdpSessionId, ClientId, ErrorCode};
use tabwire_cdp::envelope::peek_client_frame;
use tabwire_cdp::reply::{self, ProtocolError};

use crate::client::backlog::Backlog;
use crate::client::state::{Client, ClientState, OnLoss};
use crate::mux::Mux;
use crate::output::{CloseReason, FrameClass, Output};
use crate::state::BrowserState;

/// An event for one client: on which session, its method and its parameters.
type ClientEvent = (ClientId, CdpSessionId, &'static str, Value);

impl Mux {
    /// The browser is gone: fails all pending commands and disconnects all clients.
    pub fn browser_lost(&mut self, now: Instant) {
        self.fail_everything(now);
        for client in self.state.clients.ids() {
            self.disconnect(client, CloseReason::BrowserGone);
        }
    }

    fn fail_everything(&mut self, now: Instant) {
        self.router.set_clock(now);
        let detach_events = self.state.detach_events();
        self.control.lost();
        self.state.targets.clear();
        self.downloads.clear();
        self.exposures.clear();
        self.guard.waits_mut().clear();
        self.state.partitions.browser_lost();
        let error = ProtocolError::tabwire(
            ErrorCode::OutcomeUnknown,
            "BROWSER_GONE: the browser went away before it responded; the command may or may not have run.",
        );
        self.router.release_all_replies();
        for (id, pending) in self.router.pending_mut().take_where(|_| true) {
            if !pending.is_opening() {
                self.fail(id, pending, &error, now);
            }
        }
        self.finish_endings(now);
        for (client, session, method, params) in detach_events {
            self.send_event(client, &session, method, params);
        }
        self.state.sessions.clear();
    }

    /// The browser did not open the control session in time: queued commands fail, clients are disconnected.
    pub(crate) fn start_failed(&mut self, now: Instant) {
        self.fail_everything(now);
        let error = ProtocolError::tabwire(ErrorCode::NoBackend, "The browser did not start in time.");
        for client in self.state.clients.ids() {
            let backlog = self.state.clients.get_mut(client).and_then(Client::backlog_mut);
            let backlog = backlog.map(std::mem::take).unwrap_or_default();
            self.refuse_backlog(client, backlog, &error);
            self.disconnect(client, CloseReason::JoinFailed);
        }
    }

    /// Sends an error response for each queued command.
    pub(crate) fn refuse_backlog(&mut self, client: ClientId, mut backlog: Backlog, error: &ProtocolError) {
        while let Some(frame) = backlog.take_next() {
            if let Ok(envelope) = peek_client_frame(&frame) {
                let session = envelope.session.map(CdpSessionId::new);
                let refusal = reply::error(envelope.id, session.as_ref(), error);
                self.router.deliver(client, refusal, FrameClass::Response);
            }
        }
    }

    /// Asks the hub to disconnect a client, once.
    pub(crate) fn disconnect(&mut self, client: ClientId, reason: CloseReason) {
        if let Some(entry) = self.state.clients.get_mut(client)
            && !matches!(entry.state, ClientState::Leaving { .. })
        {
            let root = entry.root().filter(|root| self.state.sessions.find(root.as_str()).is_some()).cloned();
            entry.state = ClientState::Leaving { root };
            self.router.push(Output::CloseClient { client, reason });
        }
    }
}

impl BrowserState {
    /// The events for the lost sessions and targets of clients that want them: children before parents.
    fn detach_events(&self) -> Vec<ClientEvent> {
        let wants = |id: &ClientId| {
            self.clients.get(*id).is_some_and(|client| client.options.on_loss == OnLoss::SendDetachEvents)
        };
        let mut detached: Vec<(usize, ClientEvent)> = self
            .sessions
            .iter()
            .filter_map(|(id, session)| {
                let client = session.client().filter(wants)?;
                let root = self.clients.root(client);
                let parent = session.parent.clone().filter(|_| root != Some(id))?;
                let mut params = json!({"sessionId": id.as_str()});
                if let (Some(target), Some(members)) = (session.target(), params.as_object_mut()) {
                    members.insert("targetId".to_owned(), json!(target.as_str()));
                }
                Some((self.sessions.depth(id), (client, parent, "Target.detachedFromTarget", params)))
            })
            .collect();
        // Children first, so that no event names a parent that the client has already dropped.
        detached.sort_by_key(|(depth, _)| std::cmp::Reverse(*depth));
        let mut events: Vec<ClientEvent> = detached.into_iter().map(|(_, event)| event).collect();
        for target in self.targets.ids() {
            for (session, client) in self.discoverers(target.as_str()) {
                if wants(&client) {
                    let params = json!({"targetId": target.as_str()});
                    events.push((client, session, "Target.targetDestroyed", params));
                }
            }
        }
        events
    }
}
