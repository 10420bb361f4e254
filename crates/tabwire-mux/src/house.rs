//! The house session: the one browser-level cdp session the mux keeps for itself.
//!
//! It discovers all targets and auto-attaches to all of them, paused. Clients' wishes for discovery and
//! auto-attach are served from what it sees, so that no client is ever attached to what is not its own.
//! Every client's root hangs below it: detaching the house of an earlier daemon cleans up after it whole.

use std::time::Instant;

use serde_json::{Value, json};
use tabwire_wire::{CdpSessionId, ClientId, TargetId};

use crate::client::{Client, Standing};
use crate::link::LinkState;
use crate::mux::Mux;
use crate::output::{CloseReason, Output};
use crate::pending::Errand;
use crate::session_table::{Session, SessionKind, SessionOwner};
use crate::target_entry::Paused;

impl Mux {
    /// Opens the link: lets an earlier daemon's house go, then opens our own.
    pub fn start(&mut self, earlier_house: Option<&str>, now: Instant) {
        self.link = LinkState::Starting;
        if let Some(earlier) = earlier_house {
            self.send(None, "Target.detachFromTarget", json!({"sessionId": earlier}), Errand::Chore, now);
        }
        self.send(None, "Target.attachToBrowserTarget", json!({}), Errand::OpenHouse, now);
    }

    pub(crate) fn house_opened(&mut self, result: &Value, now: Instant) {
        let Some(id) = result.get("sessionId").and_then(Value::as_str) else { return };
        let house = CdpSessionId::new(id);
        let kind = SessionKind::Browser { discover: None, auto_attach: None };
        self.sessions.insert(house.clone(), Session { owner: SessionOwner::House, parent: None, kind });
        self.house = Some(house.clone());
        self.outbox.push(Output::HouseOpened(house.clone()));
        self.furnishing = 2;
        let discover = json!({"discover": true, "filter": [{}]});
        self.send(Some(&house), "Target.setDiscoverTargets", discover, Errand::FurnishHouse, now);
        let attach = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
        self.send(Some(&house), "Target.setAutoAttach", attach, Errand::FurnishHouse, now);
    }

    pub(crate) fn house_furnished(&mut self, now: Instant) {
        self.furnishing = self.furnishing.saturating_sub(1);
        if self.furnishing > 0 || self.link != LinkState::Starting {
            return;
        }
        self.link = LinkState::Connected;
        self.outbox.push(Output::Connected);
        let mut waiting: Vec<ClientId> = self.clients.keys().copied().collect();
        waiting.sort_unstable();
        for client in waiting {
            self.open_root(client, now);
        }
    }

    pub(crate) fn open_root(&mut self, client: ClientId, now: Instant) {
        let Some(house) = self.house.clone() else { return };
        if let Some(Client { standing: Standing::Joining { since, .. }, .. }) = self.clients.get_mut(&client)
        {
            *since = Some(now);
            self.send(Some(&house), "Target.attachToBrowserTarget", json!({}), Errand::OpenRoot(client), now);
        }
    }

    pub(crate) fn root_opened(&mut self, client: ClientId, result: &Value, now: Instant) {
        let Some(id) = result.get("sessionId").and_then(Value::as_str) else { return };
        let root = CdpSessionId::new(id);
        let Some(entry) = self.clients.get_mut(&client) else {
            // The client left while its session was being made.
            self.house_command("Target.detachFromTarget", json!({"sessionId": id}), now);
            return;
        };
        let before = std::mem::replace(&mut entry.standing, Standing::Served { root: root.clone() });
        let owner = SessionOwner::Client(client);
        let kind = SessionKind::Browser { discover: None, auto_attach: None };
        self.sessions.insert(root, Session { owner, parent: self.house.clone(), kind });
        if let Standing::Joining { queue, .. } = before {
            for frame in queue {
                self.from_client(client, frame, now);
            }
        }
    }

    /// An errand that will never be answered.
    pub(crate) fn errand_failed(&mut self, errand: Errand) {
        match errand {
            Errand::OpenRoot(client) => {
                self.outbox.push(Output::CloseClient { client, reason: CloseReason::JoinFailed });
            }
            Errand::AutoAttach { gates, .. } => self.pass_gates(&gates),
            Errand::Chore | Errand::OpenHouse | Errand::FurnishHouse => {}
        }
    }

    /// An event on the house session.
    pub(crate) fn on_house_event(&mut self, method: &str, params: &Value, now: Instant) {
        match method {
            "Target.targetCreated" => {
                if let Some(info) = params.get("targetInfo") {
                    self.target_seen(info, now);
                }
            }
            "Target.targetInfoChanged" => {
                if let Some(info) = params.get("targetInfo") {
                    self.target_changed(info);
                }
            }
            "Target.targetDestroyed" => {
                if let Some(id) = params.get("targetId").and_then(Value::as_str) {
                    self.target_destroyed(id, now);
                }
            }
            "Target.targetCrashed" => self.target_crashed(params),
            "Target.attachedToTarget" => self.house_attached(params, now),
            "Target.detachedFromTarget" => {
                if let Some(id) = params.get("sessionId").and_then(Value::as_str) {
                    self.session_gone(&CdpSessionId::new(id), now);
                }
            }
            _ => {}
        }
    }

    /// The browser attached the house to a target, paused when it is new.
    fn house_attached(&mut self, params: &Value, now: Instant) {
        let (Some(info), Some(session)) =
            (params.get("targetInfo"), params.get("sessionId").and_then(Value::as_str))
        else {
            return;
        };
        let is_browser = info.get("type").and_then(Value::as_str) == Some("browser");
        let Some(target) = info.get("targetId").and_then(Value::as_str).filter(|_| !is_browser) else {
            return;
        };
        self.target_seen(info, now);
        let target = TargetId::new(target);
        let session = CdpSessionId::new(session);
        let kind = SessionKind::Target { target: target.clone(), auto: true };
        let parent = self.house.clone();
        self.sessions.insert(session.clone(), Session { owner: SessionOwner::House, parent, kind });
        if params.get("waitingForDebugger").and_then(Value::as_bool) == Some(true) {
            let until = now + crate::limits::RESUME_DEADLINE;
            if let Some(entry) = self.targets.find_mut(target.as_str()) {
                entry.paused = Some(Paused { session, waiters: Default::default(), until });
            }
        }
        self.offer(&target, now);
    }
}
