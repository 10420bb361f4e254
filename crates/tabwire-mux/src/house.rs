//! The house session: the one browser-level cdp session the mux keeps for itself.
//!
//! It discovers all targets and auto-attaches to all of them, paused. Clients' wishes for discovery and
//! auto-attach are served from what it sees, so that no client is ever attached to what is not its own.
//! Every client's root hangs below it: detaching the house of an earlier daemon cleans up after it whole.

use std::time::Instant;

use serde_json::{Value, json};
use tabwire_wire::{CdpSessionId, ClientId, TargetId};

use crate::client::{Client, Standing};
use crate::first_tab::no_tab;
use crate::hold::Held;
use crate::link::LinkState;
use crate::loss::WeakSignal;
use crate::mux::Mux;
use crate::output::{CloseReason, Output};
use crate::pending::Errand;
use crate::session_table::{Session, SessionOwner};
use crate::target_entry::Paused;

impl Mux {
    /// Opens the link: lets an earlier daemon's house go, then opens our own.
    pub fn start(&mut self, earlier_house: Option<&str>, now: Instant) {
        self.clock = Some(now);
        self.link = LinkState::Starting;
        self.starting_since = Some(now);
        if let Some(earlier) = earlier_house {
            self.send(None, "Target.detachFromTarget", json!({"sessionId": earlier}), Errand::Chore, now);
        }
        self.send(None, "Target.attachToBrowserTarget", json!({}), Errand::OpenHouse, now);
    }

    pub(crate) fn house_opened(&mut self, result: &Value, now: Instant) {
        let Some(id) = result.get("sessionId").and_then(Value::as_str) else { return };
        let house = CdpSessionId::new(id);
        self.sessions.insert(house.clone(), Session::on_browser(SessionOwner::House, None));
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
        self.starting_since = None;
        self.settle_realms(now);
        self.learn_earlier(now);
        self.outbox.push(Output::Connected);
        let waiting: Vec<ClientId> = self.clients.keys().copied().collect();
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
        let joining = |client: &&mut Client| matches!(client.standing, Standing::Joining { .. });
        let Some(entry) = self.clients.get_mut(&client).filter(joining) else {
            // The client left while its session was being made.
            self.house_command("Target.detachFromTarget", json!({"sessionId": id}), now);
            return;
        };
        let wishes = entry.wishes.clone();
        let backlog = entry.backlog_mut().map(std::mem::take).unwrap_or_default();
        entry.standing = Standing::Restoring { root: root.clone(), backlog };
        let session = Session::on_browser(SessionOwner::Client(client), self.house.clone());
        self.sessions.insert(root.clone(), session);
        if wishes.discover.is_some() {
            self.set_discover(&root, wishes.discover);
        }
        if wishes.auto_attach.is_some() {
            self.wish_auto_attach(client, &root, wishes.auto_attach, now);
        }
        self.hold_for_attachments(client, &root, Held::Backlog, now);
    }

    /// A client's wishes are in force: what it sent meanwhile is taken up.
    pub(crate) fn serve_backlog(&mut self, client: ClientId, now: Instant) {
        let Some(entry) = self.clients.get_mut(&client) else { return };
        let Standing::Restoring { root, backlog } = &mut entry.standing else { return };
        let (root, mut backlog) = (root.clone(), std::mem::take(backlog));
        entry.standing = Standing::Served { root };
        while let Some(frame) = backlog.take_next() {
            self.route_command(client, &frame, now);
        }
    }

    /// An errand that will never be answered.
    pub(crate) fn errand_failed(&mut self, id: u64, errand: Errand, now: Instant) {
        match errand {
            Errand::OpenRoot(client) => self.dismiss(client, CloseReason::JoinFailed),
            Errand::AutoAttach { browser_session, target, holds } => {
                self.auto_attach_failed(&browser_session, &target, &holds, now);
            }
            Errand::OpenTab(ticket, realm) => self.tab_opened(id, (ticket, realm), Err(no_tab(None)), now),
            Errand::OrphanCreate(client, realm) | Errand::OrphanContext(client, realm) => {
                let owner = self.owner_after(client, realm);
                self.command_settled(id, &owner, now, |_, _| None);
            }
            Errand::MakeContext(ticket) => self.realm_context_made(id, ticket, None, now),
            Errand::EndRealm(ticket) => self.end_answered(ticket, now),
            Errand::LearnPage(session) => self.tab_learnt(&session, now),
            Errand::CloseRoot(contexts) => self.contexts_ended(&contexts, now),
            Errand::FollowFrames(target) | Errand::LearnFrames(target) => {
                self.frames_learnt(&target, None, now);
            }
            Errand::Chore
            | Errand::LearnContexts
            | Errand::LearnTab
            | Errand::OpenHouse
            | Errand::FurnishHouse => {}
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
            "Target.targetCrashed" => self.target_crashed(params, now),
            "Target.attachedToTarget" => self.house_attached(params, now),
            "Target.detachedFromTarget" => {
                self.loss_signals.note(WeakSignal::DetachedFromTarget, now);
                if let Some(id) = params.get("sessionId").and_then(Value::as_str) {
                    self.session_gone(&CdpSessionId::new(id), now);
                }
            }
            "Browser.downloadWillBegin" | "Browser.downloadProgress" => {
                self.on_download_event(method, params, now);
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
        if info.get("type").and_then(Value::as_str) == Some("browser") {
            self.browser_targets.note(CdpSessionId::new(session), info.clone());
            return;
        }
        let Some(target) = info.get("targetId").and_then(Value::as_str) else { return };
        self.target_seen(info, now);
        let target = TargetId::new(target);
        let session = CdpSessionId::new(session);
        let entry = Session::on_target(SessionOwner::House, self.house.clone(), target.clone(), true);
        self.sessions.insert(session.clone(), entry);
        self.ask_frames_if_wanted(&session, &target, now);
        if info.get("type").and_then(Value::as_str) == Some("iframe") {
            // The house asked to be attached; clients reach frames through their pages.
            return;
        }
        self.follow_sources_of(&session, now);
        self.hold_documents_of(&session, now);
        if params.get("waitingForDebugger").and_then(Value::as_bool) == Some(true) {
            let until = now + crate::limits::RESUME_DEADLINE;
            if let Some(entry) = self.targets.find_mut(target.as_str()) {
                entry.paused = Some(Paused { session, waiters: Default::default(), until });
            }
        }
        self.offer(&target, now);
    }
}
