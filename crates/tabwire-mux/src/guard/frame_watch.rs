//! Records the frames of pages that guarded clients are attached to, and delays commands until the frames are
//! known.
//!
//! The mux attaches before every client, so it receives a frame's events before a client receives the frame's
//! content.

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use bytes::BytesMut;
use serde_json::{Value, json};
use tabwire_api::{CdpSessionId, ClientId, ErrorCode, TargetId};
use tabwire_cdp::ProtocolError;

use crate::guard::FrameNeed;
use crate::guard::page_frames::FramesState;
use crate::mux::Mux;
use crate::routing::from_browser::read_params;
use crate::routing::from_client::Command;
use crate::routing::pending::InternalCommand;
use crate::session::table::{Session, SessionOwner};
use crate::state::BrowserState;
use crate::target::entry::TargetEntry;

/// Frames navigated by clients, whose redirects are checked like those of pages.
const NAVIGATED_FRAMES: usize = 256;

/// Commands of one CDP session that wait until the frames of its target are known.
const WAITING_FOR_FRAMES: usize = 1_024;

/// Commands of each CDP session that wait until frames are known.
pub(crate) type FrameWaits = BTreeMap<CdpSessionId, VecDeque<BytesMut>>;

/// Commands that never wait: without them a page may not run far enough to report its frames.
const PASSING: &[&str] = &[
    "Debugger.resume",
    "Fetch.continueRequest",
    "Fetch.failRequest",
    "Page.close",
    "Page.handleJavaScriptDialog",
    "Page.stopLoading",
    "Runtime.runIfWaitingForDebugger",
    "Runtime.terminateExecution",
];

impl Mux {
    /// Starts recording the frames of a target's page.
    pub(crate) fn follow_frames(&mut self, target: &TargetId, now: Instant) {
        let Some(entry) = self.state.targets.find(target.as_str()) else { return };
        let page = self.state.targets.page_of(entry);
        let mut parts: Vec<TargetId> =
            self.state.targets.frame_targets_of(page).map(|part| part.id.clone()).collect();
        parts.push(page.id.clone());
        for part in parts {
            self.request_frames(&part, now);
        }
    }

    /// An out-of-process frame has appeared or navigated.
    pub(crate) fn frame_target_seen(&mut self, target: &str, now: Option<Instant>) {
        let Some(entry) = self.state.targets.find(target).filter(|entry| entry.target_type() == "iframe")
        else {
            return;
        };
        let page = self.state.targets.page_of(entry);
        if page.frames.state == FramesState::NotRequested {
            return;
        }
        let (page, id, url) =
            (page.id.clone(), entry.id.clone(), self.state.targets.root_url(entry).to_owned());
        self.guard.moves_mut().note(page.as_str(), id.as_str(), id.as_str(), &url);
        if let Some(now) = now {
            self.request_frames(&id, now);
        }
    }

    fn request_frames(&mut self, target: &TargetId, now: Instant) {
        let Some(control) = self.control.session() else { return };
        let session = self.state.internal_session_on(target);
        let Some(entry) = self.state.targets.find_mut(target.as_str()) else { return };
        let is_requested = !matches!(entry.frames.state, FramesState::NotRequested | FramesState::Failed);
        if is_requested || !matches!(entry.target_type(), "page" | "iframe") {
            return;
        }
        entry.frames.state = FramesState::Requested;
        if let Some(session) = session {
            self.request_frame_tree(&session, target, now);
        } else {
            let params = json!({"targetId": target.as_str(), "flatten": true});
            let internal = InternalCommand::AttachForFrames(target.clone());
            self.router.send(Some(&control), "Target.attachToTarget", params, internal, now);
        }
    }

    /// The mux is attached to a target; requests its frame tree if a guard waits for it.
    pub(crate) fn request_frames_if_pending(
        &mut self,
        session: &CdpSessionId,
        target: &TargetId,
        now: Instant,
    ) {
        let entry = self.state.targets.find(target.as_str());
        if entry.is_some_and(|entry| entry.frames.state == FramesState::Requested) {
            self.request_frame_tree(session, target, now);
        }
    }

    fn request_frame_tree(&mut self, session: &CdpSessionId, target: &TargetId, now: Instant) {
        // Events first: a frame that appears between the two commands is then in an event or in the tree.
        self.router.send(Some(session), "Page.enable", json!({}), InternalCommand::FireAndForget, now);
        self.router.send(
            Some(session),
            "Page.getFrameTree",
            json!({}),
            InternalCommand::GetFrameTree(target.clone()),
            now,
        );
    }

    /// `Page.getFrameTree` of a target has returned, or failed.
    pub(crate) fn frame_tree_received(&mut self, target: &TargetId, tree: Option<&Value>, now: Instant) {
        if let Some(entry) = self.state.targets.find_mut(target.as_str()) {
            match tree {
                Some(tree) => entry.frames.learn_tree(tree),
                // Frames that events reported meanwhile stay known.
                None if entry.frames.state == FramesState::Requested => {
                    entry.frames.state = FramesState::Failed;
                }
                None => {}
            }
        }
        if let Some(entry) = self.state.targets.find(target.as_str()) {
            let page = self.state.targets.page_of(entry).id.clone();
            let urls: Vec<Box<str>> = entry.frames.addresses().map(Box::from).collect();
            for url in urls {
                self.guard.moves_mut().note(page.as_str(), target.as_str(), target.as_str(), &url);
            }
        }
        self.guard.moves_mut().tick();
        self.release_waiting(now);
    }

    /// The mux's CDP session on a target has ended: its record of frames is out of date.
    pub(crate) fn reset_frames(&mut self, target: &TargetId) {
        if let Some(entry) = self.state.targets.find_mut(target.as_str()) {
            entry.frames = Default::default();
            self.guard.moves_mut().tick();
        }
    }

    /// A `Page` event on a session of the mux.
    pub(crate) fn on_internal_page_event(
        &mut self,
        session: &CdpSessionId,
        method: &str,
        frame: &[u8],
        now: Instant,
    ) {
        let params = read_params(frame);
        let target = self.state.sessions.find(session.as_str()).and_then(|session| session.target().cloned());
        let Some(target) = target else { return };
        match method {
            "Page.frameNavigated" => self.frame_navigated(session, &target, &params, now),
            "Page.javascriptDialogOpening" => self.close_unhandled_dialog(session, &target, &params, now),
            _ => self.frame_changed(&target, method, &params),
        }
    }

    fn frame_changed(&mut self, target: &TargetId, method: &str, params: &Value) {
        let text = |field: &str| params.get(field).and_then(Value::as_str);
        let (Some(frame), Some(entry)) = (text("frameId"), self.state.targets.find_mut(target.as_str()))
        else {
            return;
        };
        match method {
            "Page.frameAttached" => entry.frames.attached(frame, text("parentFrameId")),
            // `swap`: the frame moves to another process and keeps its id.
            "Page.frameDetached" => entry.frames.detached(frame, text("reason") == Some("swap")),
            "Page.navigatedWithinDocument" => {
                let url = text("url").unwrap_or_default();
                entry.frames.moved(frame, url);
                if frame == target.as_str() {
                    entry.page_url = Some(url.to_owned());
                }
                return self.note_move(target, frame, url);
            }
            _ => return,
        }
        self.guard.moves_mut().tick();
    }

    fn frame_navigated(&mut self, session: &CdpSessionId, target: &TargetId, params: &Value, now: Instant) {
        self.state.record_page_url(session, params);
        let frame = params.get("frame").unwrap_or(&Value::Null);
        let id = frame.get("id").and_then(Value::as_str).unwrap_or_default();
        let Some(entry) = self.state.targets.find_mut(target.as_str()) else { return };
        entry.navigated_frames.remove(id);
        let url = entry.frames.navigated(frame).unwrap_or_default();
        self.note_move(target, id, &url);
        if id != target.as_str() {
            return;
        }
        self.state.sessions.forget_contexts(target);
        // A document from the back/forward cache has its frames already and sends no events for them.
        let is_restored = params.get("type").and_then(Value::as_str) == Some("BackForwardCacheRestore");
        if let Some(entry) = self.state.targets.find_mut(target.as_str()).filter(|_| is_restored) {
            entry.frames.state = FramesState::Requested;
        }
        self.router.send(
            Some(session),
            "Page.getFrameTree",
            json!({}),
            InternalCommand::GetFrameTree(target.clone()),
            now,
        );
    }

    fn note_move(&mut self, target: &TargetId, frame: &str, url: &str) {
        let Some(entry) = self.state.targets.find(target.as_str()) else { return };
        let page = self.state.targets.page_of(entry).id.clone();
        self.guard.moves_mut().note(page.as_str(), target.as_str(), frame, url);
    }

    /// With `Page` enabled on the mux's session, the browser waits for a client to handle each dialog. If no
    /// client does, the mux closes the dialog as the browser would. A browser with a window shows it to its
    /// user.
    fn close_unhandled_dialog(
        &mut self,
        session: &CdpSessionId,
        target: &TargetId,
        params: &Value,
        now: Instant,
    ) {
        let is_handled = params.get("hasBrowserHandler").and_then(Value::as_bool) == Some(true);
        if is_handled || self.state.sessions.has_page_on(target) {
            return;
        }
        let is_leaving = params.get("type").and_then(Value::as_str) == Some("beforeunload");
        let response = json!({"accept": is_leaving});
        self.router.send(
            Some(session),
            "Page.handleJavaScriptDialog",
            response,
            InternalCommand::FireAndForget,
            now,
        );
    }

    /// Queues a command that has to wait until frames are known, or until the protocol is exposed to its page;
    /// returns whether it waits.
    pub(crate) fn waits_for_frames(&mut self, command: &Command<'_>, now: Instant) -> bool {
        if PASSING.contains(&command.envelope.method) {
            return false;
        }
        let is_queued = self.guard.waits_mut().contains_key(&command.session);
        if !is_queued && !self.awaits_exposure(command) && !self.lacks_frames(command, now) {
            return false;
        }
        let waiting = self.guard.waits_mut().entry(command.session.clone()).or_default();
        if waiting.len() < WAITING_FOR_FRAMES {
            waiting.push_back(BytesMut::from(command.frame));
        } else {
            let sentence = "Too many commands wait for the page's frame tree; wait for some of them.";
            self.refuse(command, &ProtocolError::tabwire(ErrorCode::Backpressure, sentence));
        }
        true
    }

    fn lacks_frames(&mut self, command: &Command<'_>, now: Instant) -> bool {
        let need = self
            .state
            .clients
            .guard(command.client)
            .map_or(FrameNeed::None, |guard| guard.frame_need(command.envelope.method));
        let target =
            self.state.sessions.find(command.session.as_str()).and_then(|session| session.target().cloned());
        let Some(target) = target.filter(|_| need != FrameNeed::None && self.control.session().is_some())
        else {
            return false;
        };
        let is_known = |entry: &TargetEntry| entry.frames.state == FramesState::Known;
        if need == FrameNeed::Own && self.state.targets.find(target.as_str()).is_some_and(is_known) {
            return false;
        }
        self.follow_frames(&target, now);
        let Some(entry) = self.state.targets.find(target.as_str()) else { return false };
        let is_requested = |state: FramesState| state == FramesState::Requested;
        if need == FrameNeed::Own {
            return is_requested(entry.frames.state);
        }
        let page = self.state.targets.page_of(entry);
        let mut parts = self.state.targets.frame_targets_of(page).chain([page, entry]);
        parts.any(|part| is_requested(part.frames.state))
    }

    /// Routes the waiting commands again; those that still lack frames wait again.
    pub(crate) fn release_waiting(&mut self, now: Instant) {
        for (session, waiting) in std::mem::take(self.guard.waits_mut()) {
            let Some(client) = self.state.sessions.find(session.as_str()).and_then(Session::client) else {
                continue;
            };
            for frame in waiting {
                self.route_command(client, &frame, now);
            }
        }
    }

    /// A CDP session has ended: its waiting commands are routed again, which fails them.
    pub(crate) fn fail_waiting(&mut self, session: &CdpSessionId, client: Option<ClientId>, now: Instant) {
        let waiting = self.guard.waits_mut().remove(session).unwrap_or_default();
        for frame in waiting {
            if let Some(client) = client {
                self.route_command(client, &frame, now);
            }
        }
    }

    /// A client navigates a frame of a page: every redirect on the way is checked.
    pub(crate) fn record_navigated_frame(
        &mut self,
        command: &Command<'_>,
        frame: Option<&str>,
        now: Instant,
    ) {
        let target =
            self.state.sessions.find(command.session.as_str()).and_then(|session| session.target().cloned());
        let Some(target) = target else { return };
        let Some(entry) = self.state.targets.find_mut(target.as_str()) else { return };
        if entry.navigated_frames.len() < NAVIGATED_FRAMES {
            entry.navigated_frames.insert(frame.unwrap_or(target.as_str()).to_owned());
        }
        if let Some(session) = self.state.internal_session_on(&target) {
            self.pause_documents_of(&session, now);
        }
    }
}

impl BrowserState {
    fn internal_session_on(&self, target: &TargetId) -> Option<CdpSessionId> {
        let is_it =
            |session: &Session| session.owner == SessionOwner::Control && session.target() == Some(target);
        self.sessions.iter().find(|(_, session)| is_it(session)).map(|(id, _)| id.clone())
    }
}
