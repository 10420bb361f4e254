//! The control session: the browser-level CDP session of the mux itself.
//!
//! It discovers all targets and auto-attaches to all of them, paused. The mux serves clients' discovery and
//! auto-attach from what this session sees, so no client is ever attached to a target that it may not see.
//! Every client's root session is its child: detaching it ends all sessions of an earlier daemon.

use std::time::Instant;

use serde_json::{Value, json};
use tabwire_api::{CdpSessionId, ClientId, TargetId};

use crate::client::state::{Client, ClientState};
use crate::control::loss::WeakSignal;
use crate::mux::Mux;
use crate::output::{CloseReason, Output};
use crate::routing::pending::InternalCommand;
use crate::session::table::{Session, SessionOwner};
use crate::target::entry::Paused;
use crate::target::first_tab::no_tab;

impl Mux {
    /// Opens the link: detaches an earlier daemon's control session, then opens a new one.
    pub fn start(&mut self, earlier: Option<&str>, now: Instant) {
        self.router.set_clock(now);
        self.control.start(now);
        if let Some(earlier) = earlier {
            self.router.send(
                None,
                "Target.detachFromTarget",
                json!({"sessionId": earlier}),
                InternalCommand::FireAndForget,
                now,
            );
        }
        self.router.send(None, "Target.attachToBrowserTarget", json!({}), InternalCommand::OpenControl, now);
    }

    pub(crate) fn control_opened(&mut self, result: &Value, now: Instant) {
        let Some(id) = result.get("sessionId").and_then(Value::as_str) else { return };
        let control = CdpSessionId::new(id);
        self.sessions.insert(control.clone(), Session::on_browser(SessionOwner::Control, None));
        self.router.push(Output::ControlOpened(control.clone()));
        self.control.opened(control.clone(), 2);
        let discover = json!({"discover": true, "filter": [{}]});
        self.router.send(
            Some(&control),
            "Target.setDiscoverTargets",
            discover,
            InternalCommand::InitControl,
            now,
        );
        let attach = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
        self.router.send(Some(&control), "Target.setAutoAttach", attach, InternalCommand::InitControl, now);
    }

    pub(crate) fn control_initialized(&mut self, now: Instant) {
        if !self.control.initialized_one() {
            return;
        }
        self.assign_partitions(now);
        self.list_existing(now);
        self.router.push(Output::Connected);
        let waiting: Vec<ClientId> = self.clients.ids();
        for client in waiting {
            self.open_root(client, now);
        }
    }

    pub(crate) fn open_root(&mut self, client: ClientId, now: Instant) {
        let Some(control) = self.control.session() else { return };
        if let Some(Client { state: ClientState::Joining { since, .. }, .. }) = self.clients.get_mut(client) {
            *since = Some(now);
            self.router.send(
                Some(&control),
                "Target.attachToBrowserTarget",
                json!({}),
                InternalCommand::OpenRoot(client),
                now,
            );
        }
    }

    pub(crate) fn root_opened(&mut self, client: ClientId, result: &Value, now: Instant) {
        let Some(id) = result.get("sessionId").and_then(Value::as_str) else { return };
        let root = CdpSessionId::new(id);
        let joining = |client: &&mut Client| matches!(client.state, ClientState::Joining { .. });
        let Some(entry) = self.clients.get_mut(client).filter(joining) else {
            // The client left while its session was being opened.
            self.control_command("Target.detachFromTarget", json!({"sessionId": id}), now);
            return;
        };
        let mut backlog = entry.backlog_mut().map(std::mem::take).unwrap_or_default();
        entry.state = ClientState::Served { root: root.clone() };
        let session = Session::on_browser(SessionOwner::Client(client), self.control.session());
        self.sessions.insert(root, session);
        while let Some(frame) = backlog.take_next() {
            self.route_command(client, &frame, now);
        }
    }

    /// An internal command that will never get a response.
    pub(crate) fn internal_command_failed(&mut self, id: u64, internal: InternalCommand, now: Instant) {
        match internal {
            InternalCommand::OpenRoot(client) => self.disconnect(client, CloseReason::JoinFailed),
            InternalCommand::AutoAttach { browser_session, target, delays } => {
                self.auto_attach_failed(&browser_session, &target, &delays, now);
            }
            InternalCommand::OpenTab(ticket, partition) => {
                self.tab_created(id, (ticket, partition), Err(no_tab(None)), now);
            }
            InternalCommand::OrphanedTarget(client, partition)
            | InternalCommand::OrphanedContext(client, partition) => {
                let owner = self.owner_of_late_result(client, partition);
                self.resolve_owners(id, &owner, now, |_, _| None);
            }
            InternalCommand::CreateContext(ticket) => self.partition_context_created(id, ticket, None, now),
            InternalCommand::EndPartition(ticket) => self.end_command_done(ticket, now),
            InternalCommand::AutoAttachTab(session) => self.tab_mapped(&session, now),
            InternalCommand::DetachRoot(contexts) => self.contexts_ended(&contexts, now),
            InternalCommand::AttachForFrames(target) | InternalCommand::GetFrameTree(target) => {
                self.frame_tree_received(&target, None, now);
            }
            InternalCommand::FireAndForget
            | InternalCommand::ListContexts
            | InternalCommand::AttachTab
            | InternalCommand::OpenControl
            | InternalCommand::InitControl => {}
        }
    }

    /// An event on the control session.
    pub(crate) fn on_control_event(&mut self, method: &str, params: &Value, now: Instant) {
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
            "Target.attachedToTarget" => self.control_attached(params, now),
            "Target.detachedFromTarget" => {
                self.control.note_signal(WeakSignal::DetachedFromTarget, now);
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

    /// The browser attached the mux to a target, paused when it is new.
    fn control_attached(&mut self, params: &Value, now: Instant) {
        let (Some(info), Some(session)) =
            (params.get("targetInfo"), params.get("sessionId").and_then(Value::as_str))
        else {
            return;
        };
        if info.get("type").and_then(Value::as_str) == Some("browser") {
            self.sessions.set_browser_target(CdpSessionId::new(session), info.clone());
            return;
        }
        let Some(target) = info.get("targetId").and_then(Value::as_str) else { return };
        self.target_seen(info, now);
        let target = TargetId::new(target);
        let session = CdpSessionId::new(session);
        let entry = Session::on_target(SessionOwner::Control, self.control.session(), target.clone(), true);
        self.sessions.insert(session.clone(), entry);
        self.request_frames_if_pending(&session, &target, now);
        if info.get("type").and_then(Value::as_str) == Some("iframe") {
            // The mux requested this attachment; clients reach frames through their pages.
            return;
        }
        self.follow_addresses_of(&session, now);
        self.pause_documents_of(&session, now);
        if params.get("waitingForDebugger").and_then(Value::as_bool) == Some(true) {
            let until = now + crate::limits::RESUME_DEADLINE;
            if let Some(entry) = self.targets.find_mut(target.as_str()) {
                entry.paused = Some(Paused { session, waiters: Default::default(), until });
            }
        }
        self.offer(&target, now);
    }
}
