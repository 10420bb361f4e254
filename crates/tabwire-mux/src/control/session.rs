//! The control session: the browser-level CDP session of the mux itself.
//!
//! It discovers all targets and auto-attaches to all of them, paused. The mux serves clients' discovery and
//! auto-attach from what this session sees, so no client is ever attached to a target that it may not see.
//! Every client's root session is its child: detaching it ends all sessions of an earlier daemon.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tabwire_api::{CdpSessionId, ClientId, TargetId};

use crate::client::state::{Client, ClientState};
use crate::control::loss::WeakSignal;
use crate::mux::Mux;
use crate::output::{CloseReason, Output};
use crate::routing::pending::InternalCommand;
use crate::session::table::{Session, SessionOwner};
use crate::target::entry::PausedTarget;
use crate::target::first_tab::no_tab;

/// How long a new page may stay paused for clients that it was announced to and that have not resumed it.
const RESUME_DEADLINE: Duration = Duration::from_secs(5);

impl Mux {
    /// Opens the link: detaches an earlier daemon's control session, then opens a new one.
    pub fn start(&mut self, earlier: Option<&str>, now: Instant) {
        self.router.set_clock(now);
        self.control.start(now);
        // Sessions below the old control session end with it, and Chromium 156 sends no event for them:
        // what clients of the dead daemon left is gone after this command.
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
        self.state.sessions.insert(control.clone(), Session::on_browser(SessionOwner::Control, None));
        self.router.push(Output::ControlOpened(control.clone()));
        self.control.opened(control.clone(), 2);
        // Without a filter Chromium leaves out `tab` and `browser` targets; Puppeteer needs the tabs.
        let discover = json!({"discover": true, "filter": [{}]});
        self.router.send(
            Some(&control),
            "Target.setDiscoverTargets",
            discover,
            InternalCommand::InitControl,
            now,
        );
        // Paused, so that clients see a target before its first script runs; discovery alone reports it too
        // late (docs/cdp/auto-attach-against-discover.md).
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
        let waiting: Vec<ClientId> = self.state.clients.ids();
        for client in waiting {
            self.open_root(client, now);
        }
    }

    pub(crate) fn open_root(&mut self, client: ClientId, now: Instant) {
        let Some(control) = self.control.session() else { return };
        if let Some(Client { state: ClientState::Joining { since, .. }, .. }) =
            self.state.clients.get_mut(client)
        {
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
        let Some(entry) = self.state.clients.get_mut(client).filter(joining) else {
            // The client left while its session was being opened.
            self.control_command("Target.detachFromTarget", json!({"sessionId": id}), now);
            return;
        };
        let mut backlog = entry.backlog_mut().map(std::mem::take).unwrap_or_default();
        entry.state = ClientState::Served { root: root.clone() };
        let session = Session::on_browser(SessionOwner::Client(client), self.control.session());
        self.state.sessions.insert(root, session);
        // Frames that the client sent before its session was open, in their order.
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
            InternalCommand::OpenFirstPage(client) => self.first_page_opened(id, client, None, now),
            InternalCommand::RefreshTargets(client) => self.targets_refreshed(client, None, now),
            InternalCommand::OrphanedTarget(client, partition)
            | InternalCommand::OrphanedContext(client, partition) => {
                let owner = self.state.owner_of_late_result(client, partition);
                self.resolve_owners(id, &owner, now, |_, _| None);
            }
            InternalCommand::CreateContext(ticket) => self.partition_context_created(id, ticket, None, now),
            InternalCommand::EndPartition(ticket) => self.end_command_done(ticket, now),
            InternalCommand::AutoAttachTab(session) => self.tab_mapped(&session, now),
            InternalCommand::DetachRoot(contexts) => self.state.contexts_ended(&contexts, now),
            InternalCommand::AttachForFrames(target) | InternalCommand::GetFrameTree(target) => {
                self.frame_tree_received(&target, None, now);
            }
            InternalCommand::DetachForClient { client, id, session } => {
                self.detached_for_client(client, id, session.as_ref());
            }
            InternalCommand::Expose(exposure, _) => self.exposure_failed(exposure, now),
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
                    self.target_changed(info, now);
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
                // A browser that ends sends this event for each of its targets, but so does a user who
                // closes tabs.
                self.control.note_signal(WeakSignal::DetachedFromTarget, now);
                if let Some(id) = params.get("sessionId").and_then(Value::as_str).map(CdpSessionId::new) {
                    self.report_detached(&id, params);
                    self.session_gone(&id, now);
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
        // Each browser session has a browser target of its own in Chromium 156 (docs/cdp/browser-target-
        // sessions.md).
        if info.get("type").and_then(Value::as_str) == Some("browser") {
            self.state.sessions.set_browser_target(CdpSessionId::new(session), info.clone());
            return;
        }
        let Some(target) = info.get("targetId").and_then(Value::as_str) else { return };
        self.target_seen(info, now);
        let target = TargetId::new(target);
        let session = CdpSessionId::new(session);
        let entry = Session::on_target(SessionOwner::Control, self.control.session(), target.clone(), true);
        self.state.sessions.insert(session.clone(), entry);
        self.request_frames_if_pending(&session, &target, now);
        if info.get("type").and_then(Value::as_str) == Some("iframe") {
            // The mux requested this attachment; clients reach frames through their pages.
            return;
        }
        self.follow_addresses_of(&session, now);
        self.pause_documents_of(&session, now);
        if params.get("waitingForDebugger").and_then(Value::as_bool) == Some(true) {
            let until = now + RESUME_DEADLINE;
            if let Some(entry) = self.state.targets.find_mut(target.as_str()) {
                // Every paused target must be resumed, wanted or not: it would hang, and a paused popup can
                // freeze its opener (docs/cdp/waiting-for-the-debugger.md).
                let (info, waiters) = (info.clone(), Default::default());
                entry.paused = Some(PausedTarget { session, info, waiters, until });
            }
        }
        self.offer(&target, now);
    }
}
