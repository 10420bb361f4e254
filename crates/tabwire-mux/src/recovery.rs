//! Losing the browser, and what clients that stay are owed until it is back.

use std::time::Instant;

use serde_json::json;
use tabwire_cdp::envelope::peek_client_frame;
use tabwire_wire::{CdpSessionId, ClientId, ErrorCode};

use crate::client::{Client, OnLoss, Standing};
use crate::hold::Held;
use crate::link::LinkState;
use crate::mux::Mux;
use crate::output::{CloseReason, FrameClass, Output};
use crate::reply::{self, ProtocolError};

impl Mux {
    /// The browser is gone: everything sent gets an answer, clients that stay wait for it to come back.
    pub fn browser_lost(&mut self, now: Instant) {
        self.clock = Some(now);
        self.link = LinkState::Degraded;
        self.starting_since = None;
        self.house = None;
        self.furnishing = 0;
        let farewells = self.farewells();
        self.targets.clear();
        self.browser_targets.clear();
        self.downloads.clear();
        self.frames.clear();
        self.frame_waits.clear();
        self.open_tabs.clear();
        self.contexts.clear();
        self.realms.learnt = false;
        self.claims.clear();
        self.loss_signals.clear();
        let error = ProtocolError::ours(
            ErrorCode::OutcomeUnknown,
            "BROWSER_GONE: the browser went away before it answered; the command may or may not have run.",
        );
        for (client, held) in self.holds.open_all() {
            if let Held::Answer(frame) = held {
                self.deliver(client, frame, FrameClass::Answer);
            }
        }
        for (id, pending) in self.pending.take_where(|_| true) {
            if !pending.is_opening() {
                self.fail(id, pending, &error, now);
            }
        }
        self.finish_endings(now);
        for (client, session, method, params) in farewells {
            self.tell(client, &session, method, params);
        }
        self.sessions.clear();
        self.part_or_keep();
    }

    /// Clients that stay wait for the browser with what they had not sent yet; the others are let go.
    fn part_or_keep(&mut self) {
        let mut parting = Vec::new();
        for (id, client) in &mut self.clients {
            match client.options.on_loss {
                OnLoss::Close => parting.push(*id),
                OnLoss::Keep if matches!(client.standing, Standing::Leaving { .. }) => {}
                OnLoss::Keep => {
                    let backlog = client.backlog_mut().map(std::mem::take).unwrap_or_default();
                    client.standing = Standing::Joining { since: None, backlog };
                }
            }
        }
        for client in parting {
            self.dismiss(client, CloseReason::BrowserGone);
        }
    }

    /// What clients that stay are told of their cdp sessions and targets: children before parents.
    fn farewells(&self) -> Vec<(ClientId, CdpSessionId, &'static str, serde_json::Value)> {
        let stays =
            |id: &ClientId| self.clients.get(id).is_some_and(|client| client.options.on_loss == OnLoss::Keep);
        let mut sessions: Vec<_> = self
            .sessions
            .iter()
            .filter_map(|(id, session)| {
                let client = session.client().filter(stays)?;
                let root = self.clients.get(&client).and_then(Client::root);
                let parent = session.parent.clone().filter(|_| root != Some(id))?;
                let mut params = json!({"sessionId": id.as_str()});
                if let (Some(target), Some(members)) = (session.target(), params.as_object_mut()) {
                    members.insert("targetId".to_owned(), json!(target.as_str()));
                }
                Some((self.depth(id), (client, parent, "Target.detachedFromTarget", params)))
            })
            .collect();
        sessions.sort_by_key(|(depth, _)| std::cmp::Reverse(*depth));
        let mut farewells: Vec<_> = sessions.into_iter().map(|(_, farewell)| farewell).collect();
        for target in self.targets.ids() {
            for (session, client) in self.announced_to(target.as_str()) {
                if stays(&client) {
                    let params = json!({"targetId": target.as_str()});
                    farewells.push((client, session, "Target.targetDestroyed", params));
                }
            }
        }
        farewells
    }

    /// How many cdp sessions a session hangs below.
    fn depth(&self, session: &CdpSessionId) -> usize {
        let parent = |id: &CdpSessionId| self.sessions.find(id.as_str())?.parent.clone();
        std::iter::successors(parent(session), parent).take(64).count()
    }

    /// The browser cannot be brought back: clients that wait for it are told so and let go.
    pub fn recovery_failed(&mut self, now: Instant) {
        self.browser_lost(now);
        let error = ProtocolError::ours(ErrorCode::NoBackend, "The browser could not be brought back.");
        let waiting: Vec<ClientId> = self.clients.keys().copied().collect();
        for client in waiting {
            let Some(mut backlog) =
                self.clients.get_mut(&client).and_then(|client| client.backlog_mut().map(std::mem::take))
            else {
                continue;
            };
            while let Some(frame) = backlog.take_next() {
                if let Ok(envelope) = peek_client_frame(&frame) {
                    let answer = reply::error(envelope.id, None, &error);
                    self.deliver(client, answer, FrameClass::Answer);
                }
            }
            self.dismiss(client, CloseReason::JoinFailed);
        }
    }

    /// Asks for the browser back, once.
    pub(crate) fn want_browser(&mut self, now: Instant) {
        if self.link == LinkState::Degraded {
            self.outbox.push(Output::WantBrowser);
            self.link = LinkState::Starting;
            self.starting_since = Some(now);
        }
    }

    /// Has a client disconnected, once.
    pub(crate) fn dismiss(&mut self, client: ClientId, reason: CloseReason) {
        if let Some(entry) = self.clients.get_mut(&client)
            && !matches!(entry.standing, Standing::Leaving { .. })
        {
            let root = entry.root().filter(|root| self.sessions.find(root.as_str()).is_some()).cloned();
            entry.standing = Standing::Leaving { root };
            self.outbox.push(Output::CloseClient { client, reason });
        }
    }
}
