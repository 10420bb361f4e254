//! Routes frames from the browser: responses to their requester, events to the owner of their CDP session.

use std::collections::BTreeSet;
use std::ops::Range;
use std::time::Instant;

use bytes::BytesMut;
use serde_json::{Value, json};
use tabwire_api::{BrowserContextId, CdpSessionId, ClientId, ErrorCode, PartitionId, TargetId};
use tabwire_cdp::envelope::{BrowserFrameKind, peek_browser_frame};
use tabwire_cdp::lenient_json;
use tabwire_cdp::reply::{self, ProtocolError};

use crate::client::state::Client;
use crate::control::loss::WeakSignal;
use crate::guard::events::EventVerdict;
use crate::mux::Mux;
use crate::output::{CloseReason, FrameClass};
use crate::partition::context_table::Creator;
use crate::routing::pending::{InternalCommand, Requester, ResponseHandling};
use crate::routing::rewrite;
use crate::session::table::{Session, SessionOwner};
use crate::target::first_tab::no_tab;

/// A received event: its client, its session, and the bytes that name the session.
struct Event {
    client: ClientId,
    session: CdpSessionId,
    cut: Option<Range<usize>>,
}

/// A received response, with the data needed to forward it.
pub(super) struct ReceivedResponse {
    pub(super) frame: BytesMut,
    pub(super) id_span: Range<usize>,
    pub(super) cut: Option<Range<usize>>,
}

/// A parsed response, for commands whose result the mux reads.
pub(super) struct Body(pub(super) Value);

impl Body {
    pub(super) fn read(frame: &[u8]) -> Self {
        Self(lenient_json::read(frame))
    }

    pub(super) fn result(&self) -> Option<&Value> {
        self.0.get("result")
    }

    pub(super) fn error(&self) -> Option<&Value> {
        self.0.get("error")
    }

    pub(super) fn text(&self, field: &str) -> Option<&str> {
        self.result()?.get(field)?.as_str()
    }
}

impl Mux {
    /// Handles a frame from the browser.
    pub fn from_browser(&mut self, frame: BytesMut, now: Instant) {
        self.router.set_clock(now);
        self.counters.from_browser += 1;
        let Ok(envelope) = peek_browser_frame(&frame) else {
            self.counters.malformed += 1;
            return;
        };
        match envelope.kind {
            BrowserFrameKind::Response { id, id_span } => {
                let on = envelope.session.map(CdpSessionId::new);
                let cut = envelope.session_member;
                self.route_response(id, on.as_ref(), ReceivedResponse { frame, id_span, cut }, now);
            }
            BrowserFrameKind::Event { method } => {
                if method == "Inspector.detached" {
                    self.control.note_signal(WeakSignal::InspectorDetached, now);
                }
                // A crashed page keeps its CDP sessions in Chromium 156; `Page.navigate` on one of them brings
                // the page back.
                if method == "Inspector.targetReloadedAfterCrash"
                    && let Some(session) = envelope.session
                {
                    self.target_revived(session, now);
                }
                let owned = envelope.session.map(|session| self.state.sessions.find_entry(session));
                match owned {
                    None if method == "Target.detachedFromTarget" => self.root_session_detached(&frame, now),
                    // On the connection's root session only the attachment of the control session is
                    // expected.
                    None => {}
                    Some(None) => self.counters.events_unowned += 1,
                    Some(Some((id, Session { owner: SessionOwner::Control, .. }))) => {
                        let (session, method) = (id.clone(), method.to_owned());
                        self.on_internal_event(&session, &method, &frame, now);
                    }
                    Some(Some((id, Session { owner: SessionOwner::Client(client), .. }))) => {
                        let event =
                            Event { client: *client, session: id.clone(), cut: envelope.session_member };
                        if method.starts_with("Target.") {
                            let method = method.to_owned();
                            self.on_client_target_event(&event, &method, frame, now);
                        } else if !(method.starts_with("Browser.download") && self.serves_downloads()) {
                            let method = method.to_owned();
                            self.on_client_event(&event, &method, frame);
                            // Chromium never responds to commands that were pending when the page crashed
                            // (docs/cdp/waiting-for-the-debugger.md).
                            if method == "Inspector.targetCrashed" {
                                self.fail_on_session(&event.session, now);
                            }
                        }
                    }
                }
            }
            BrowserFrameKind::Neither => self.counters.malformed += 1,
        }
    }

    /// An event on one of the mux's own sessions.
    fn on_internal_event(&mut self, session: &CdpSessionId, method: &str, frame: &[u8], now: Instant) {
        let read = method.starts_with("Target.") || method.starts_with("Browser.download");
        if read && self.control.is_session(session.as_str()) {
            return self.on_control_event(method, &read_params(frame), now);
        }
        match method {
            "Target.attachedToTarget" => self.tab_page_found(session, &read_params(frame), now),
            "Network.responseReceived" => self.state.document_received(session, frame),
            "Runtime.bindingCalled"
            | "Runtime.executionContextCreated"
            | "Runtime.executionContextDestroyed"
            | "Runtime.executionContextsCleared" => {
                self.on_exposed_page_event(session, method, frame, now);
            }
            "Fetch.requestPaused" => self.request_paused(session, frame, now),
            "Page.frameAttached"
            | "Page.frameDetached"
            | "Page.frameNavigated"
            | "Page.navigatedWithinDocument"
            | "Page.javascriptDialogOpening" => self.on_internal_page_event(session, method, frame, now),
            _ => {}
        }
    }

    /// An event on a client's session: recorded, filtered or withheld by the client's guard, and forwarded.
    fn on_client_event(&mut self, event: &Event, method: &str, frame: BytesMut) {
        if matches!(method, "Page.frameAttached" | "Page.frameDetached") {
            self.state.targets.record_frame(method, &read_params(&frame));
        }
        if method == "Page.frameNavigated" && self.state.clients.guard(event.client).is_some() {
            self.state.record_page_url(&event.session, &read_params(&frame));
        }
        let Some(frame) = self.check_event(event.client, &event.session, method, frame) else { return };
        match frame {
            EventVerdict::Unchanged(frame) => self.pass_event(event, frame, class_of(method)),
            EventVerdict::Filtered(params) => self.send_event(event.client, &event.session, method, params),
        }
        if method == "Network.requestWillBeSent" || method == "Network.webSocketCreated" {
            self.pass_early_events(event);
        }
    }

    /// Forwards events that arrived before their request.
    fn pass_early_events(&mut self, event: &Event) {
        for early in self.state.take_early_events(&event.session) {
            if !self.blocks_event(event.client, &event.session, &early.method, &early.frame) {
                let cut = peek_browser_frame(&early.frame).ok().and_then(|envelope| envelope.session_member);
                let event = Event { client: event.client, session: event.session.clone(), cut };
                self.pass_event(&event, early.frame, FrameClass::Event);
            }
        }
    }

    /// A session was detached from the connection's root. Without the control session the mux receives no
    /// more events.
    fn root_session_detached(&mut self, frame: &[u8], now: Instant) {
        self.control.note_signal(WeakSignal::DetachedFromTarget, now);
        let params = read_params(frame);
        let gone = params.get("sessionId").and_then(Value::as_str);
        if gone.is_some_and(|gone| self.control.is_session(gone)) {
            self.browser_lost(now);
        }
    }

    /// The browser sent a response above the size limit; its requester gets an error.
    pub fn oversize_from_browser(&mut self, head: &[u8], size: usize) {
        let digits: Vec<u8> = head
            // Chromium writes `id` first in a response (docs/cdp/flatten-mode.md), so the head of the frame
            // names the command.
            .strip_prefix(br#"{"id":"#)
            .map(|rest| rest.iter().copied().take_while(u8::is_ascii_digit).collect())
            .unwrap_or_default();
        let id = std::str::from_utf8(&digits).ok().and_then(|text| text.parse().ok());
        let found = id.and_then(|id: u64| self.router.pending_mut().take(id).map(|pending| (id, pending)));
        if let (Some((id, pending)), Some(now)) = (found, self.router.clock()) {
            let sentence =
                format!("The browser's response of {size} bytes is larger than the limit for one message.");
            self.fail(id, pending, &ProtocolError::tabwire(ErrorCode::CdpError, sentence), now);
        }
    }

    /// Forwards an event to the client that owns its session.
    fn pass_event(&mut self, event: &Event, frame: BytesMut, class: FrameClass) {
        let on_root = self.state.clients.get(event.client).and_then(Client::root) == Some(&event.session);
        let frame = match &event.cut {
            Some(member) if on_root => rewrite::event_to_root(frame, member),
            _ => frame,
        };
        self.router.deliver(event.client, frame, class);
    }

    /// `Target.*` events on a client's session: child targets are attached and detached.
    fn on_client_target_event(&mut self, event: &Event, method: &str, frame: BytesMut, now: Instant) {
        match method {
            "Target.attachedToTarget" => self.child_attached(event, frame, now),
            "Target.detachedFromTarget" => {
                self.control.note_signal(WeakSignal::DetachedFromTarget, now);
                let params = read_params(&frame);
                let child = params.get("sessionId").and_then(Value::as_str).map(CdpSessionId::new);
                self.pass_event(event, frame, FrameClass::Event);
                if let Some(child) = child {
                    self.session_gone(&child, now);
                }
            }
            // The mux serves discovery from its control session.
            "Target.targetCreated" | "Target.targetDestroyed" | "Target.targetCrashed" => {
                self.counters.events_unowned += 1;
            }
            "Target.targetInfoChanged" => {
                let params = read_params(&frame);
                let id = params.pointer("/targetInfo/targetId").and_then(Value::as_str).unwrap_or_default();
                if self.state.may_name_target(event.client, id) {
                    self.pass_target_event(event, method, params, frame);
                }
            }
            _ => self.pass_event(event, frame, FrameClass::Event),
        }
    }

    /// Forwards an event that describes a target, without the fields that its client may not read.
    fn pass_target_event(&mut self, event: &Event, method: &str, mut params: Value, frame: BytesMut) {
        if self.state.clients.guard(event.client).is_none() {
            return self.pass_event(event, frame, FrameClass::Event);
        }
        if let Some(info) = params.get_mut("targetInfo") {
            self.state.redact_target_info(event.client, info);
        }
        self.send_event(event.client, &event.session, method, params);
    }

    fn child_attached(&mut self, event: &Event, frame: BytesMut, now: Instant) {
        let params = read_params(&frame);
        let text = |path: &str| params.pointer(path).and_then(Value::as_str).filter(|id| !id.is_empty());
        let (Some(child), Some(target)) = (text("/sessionId"), text("/targetInfo/targetId")) else {
            self.counters.malformed += 1;
            return;
        };
        if self.state.sessions.find(child).is_some() {
            // Announced twice, or owned by another client: the first owner stays.
            self.counters.malformed += 1;
            return;
        }
        let owner = SessionOwner::Client(event.client);
        let parent = Some(event.session.clone());
        let on_browser = self.state.sessions.find(event.session.as_str()).is_some_and(Session::is_browser);
        let auto = on_browser && self.is_auto_attachment(&event.session, target);
        let target = TargetId::new(target);
        let entry = if text("/targetInfo/type") == Some("browser") {
            Session::on_browser(owner, parent)
        } else {
            Session::on_target(owner, parent, target.clone(), auto)
        };
        self.state.note_non_flat(event.client, child, &event.session, &target);
        let was_attached = self.state.sessions.is_attached(event.client, target.as_str());
        self.state.sessions.insert(CdpSessionId::new(child), entry);
        if let Some(info) = params.get("targetInfo").filter(|_| !was_attached) {
            self.state.title_received(info);
            self.attached_changed(event.client, target.as_str());
        }
        self.exposures.session_attached(&event.session, &CdpSessionId::new(child));
        if self.state.clients.guard(event.client).is_some_and(|guard| guard.wants_frames()) {
            self.follow_frames(&target, now);
        }
        if auto {
            self.send_attached(event.client, &event.session, &params);
        } else {
            self.pass_target_event(event, "Target.attachedToTarget", params, frame);
        }
        if !on_browser {
            self.nested_target_reached(event.client, &target, now);
        }
    }

    /// A CDP session ended: the browser will not respond to its pending commands.
    pub(crate) fn session_gone(&mut self, session: &CdpSessionId, now: Instant) {
        let mut touched = BTreeSet::new();
        // Chromium reports the end of the session only, not of the sessions below it (docs/cdp/detach-
        // discipline.md).
        for (id, gone) in self.state.sessions.take_tree(session) {
            // In the browser it is a child of the control session, so it did not end with its client's session.
            if gone.is_handed_over && id != *session {
                self.control_command("Target.detachFromTarget", json!({"sessionId": id.as_str()}), now);
            }
            self.state.targets.forget_session(&id);
            self.remove_download_options(&id, now);
            // Chromium does not fail the commands of a session that ends (docs/cdp/detach-discipline.md).
            let lost = self.router.pending_mut().take_where(|pending| pending.session.as_ref() == Some(&id));
            let error =
                ProtocolError::chrome(-32001, "Session closed: the target it was attached to is gone.");
            for (command, pending) in lost {
                self.give_up(command, pending, &error, now);
            }
            self.fail_waiting(&id, gone.client(), now);
            let Some(client) = gone.client() else {
                if let Some(target) = gone.target() {
                    self.reset_frames(target);
                }
                continue;
            };
            match gone.target() {
                Some(target) => {
                    let is_attached = self.state.sessions.is_attached(client, target.as_str());
                    if !is_attached {
                        self.attached_changed(client, target.as_str());
                    }
                    let browser = gone.parent.as_ref();
                    let browser =
                        browser.and_then(|parent| self.state.sessions.browser_session_of(parent)).cloned();
                    if let Some(browser) = browser.filter(|_| gone.is_auto() || !is_attached) {
                        self.resumed_through(&browser, target, now);
                    }
                    touched.insert(target.clone());
                }
                None if self.state.clients.root(client) == Some(&id) => {
                    self.disconnect(client, CloseReason::BrowserGone);
                }
                None => self.forget_waiting_session(&id, now),
            }
        }
        self.end_exposures_without_session(now);
        for target in touched {
            // Chromium has reset overrides that other sessions of the page still want (docs/cdp/shared-state-
            // between-sessions.md).
            self.repeat_settings(&target, now);
        }
    }

    fn route_response(
        &mut self,
        id: u64,
        on: Option<&CdpSessionId>,
        arrived: ReceivedResponse,
        now: Instant,
    ) {
        let Some(pending) = self.router.pending().find(id) else {
            self.counters.responses_unknown += 1;
            return;
        };
        let expected = pending.session.as_ref() == on;
        // For an unknown session, Chromium sends error -32001 without a `sessionId` (docs/cdp/flatten-mode.md).
        let complains = on.is_none() && is_no_session(&arrived.frame);
        if !expected && !complains {
            self.counters.responses_misrouted += 1;
            return;
        }
        let Some(pending) = self.router.pending_mut().take(id) else { return };
        if !expected {
            // The browser's error names no session; the client gets it on the session it used.
            return self.fail(id, pending, &ProtocolError::no_session(), now);
        }
        match pending.requester {
            Requester::Internal(internal) => {
                self.internal_command_done(id, internal, &Body::read(&arrived.frame), now);
            }
            Requester::Client { client, id: client_id, ref handling }
                if *handling == ResponseHandling::PassThrough
                    && self.response_blocked(client, client_id, &pending) =>
            {
                self.state.clients.command_finished(client);
            }
            Requester::Client { client, id: client_id, handling } => {
                self.state.clients.command_finished(client);
                if handling == ResponseHandling::PassThrough
                    && let (Some(asked), Some(session)) = (&pending.guarded, &pending.session)
                    && let Some(result) = self.state.filtered_response(
                        client,
                        session,
                        asked,
                        &arrived.frame,
                        self.guard.moves(),
                    )
                {
                    let echo = self.state.clients.reply_session(client, Some(session));
                    let frame = reply::result(client_id, echo.as_ref(), result);
                    return self.router.deliver(client, frame, FrameClass::Response);
                }
                self.client_response(
                    client,
                    client_id,
                    (id, handling),
                    pending.session.as_ref(),
                    arrived,
                    now,
                );
            }
        }
    }

    fn internal_command_done(&mut self, id: u64, internal: InternalCommand, body: &Body, now: Instant) {
        let Some(result) = body.result() else {
            // Discovery and auto-attach work without a filter on every browser we know. If the control
            // session itself fails, the start deadline ends the link.
            if internal == InternalCommand::InitControl {
                self.control_initialized(now);
            }
            return match internal {
                InternalCommand::OpenTab(ticket, partition) => {
                    self.tab_created(id, (ticket, partition), Err(no_tab(body.error())), now);
                }
                internal => self.internal_command_failed(id, internal, now),
            };
        };
        match internal {
            InternalCommand::OpenControl => self.control_opened(result, now),
            InternalCommand::InitControl => self.control_initialized(now),
            InternalCommand::OpenRoot(client) => self.root_opened(client, result, now),
            InternalCommand::AutoAttach { browser_session, delays, .. } => {
                self.auto_attached(&browser_session, body.text("sessionId"), &delays, now);
            }
            InternalCommand::OpenTab(ticket, partition) => {
                let target = body.text("targetId").ok_or_else(|| no_tab(None));
                self.tab_created(id, (ticket, partition), target, now);
            }
            InternalCommand::OpenFirstPage(client) => {
                self.first_page_opened(id, client, body.text("targetId"), now);
            }
            InternalCommand::RefreshTargets(client) => self.targets_refreshed(client, Some(result), now),
            InternalCommand::OrphanedTarget(client, partition) => {
                self.orphaned_target_created(id, (client, partition), body.text("targetId"), now);
            }
            InternalCommand::CreateContext(ticket) => {
                self.partition_context_created(id, ticket, body.text("browserContextId"), now);
            }
            InternalCommand::EndPartition(ticket) => self.end_command_done(ticket, now),
            InternalCommand::ListContexts => self.state.contexts_listed(result),
            InternalCommand::AttachTab => self.tab_attached(body.text("sessionId"), now),
            InternalCommand::AutoAttachTab(session) => self.tab_mapped(&session, now),
            InternalCommand::DetachRoot(contexts) => self.state.contexts_ended(&contexts, now),
            InternalCommand::GetFrameTree(target) => {
                self.frame_tree_received(&target, result.get("frameTree"), now);
            }
            InternalCommand::OrphanedContext(client, partition) => {
                self.orphaned_context_created(id, (client, partition), body.text("browserContextId"), now);
            }
            InternalCommand::DetachForClient { client, id, session } => {
                self.detached_for_client(client, id, session.as_ref());
            }
            InternalCommand::Expose(exposure, step) => self.exposure_step_done(exposure, step, result, now),
            InternalCommand::FireAndForget | InternalCommand::AttachForFrames(_) => {}
        }
    }

    /// A browser context was created for a client that no longer waits for it. No client has received its id.
    fn orphaned_context_created(
        &mut self,
        id: u64,
        (client, partition): (ClientId, Option<PartitionId>),
        context: Option<&str>,
        now: Instant,
    ) {
        if let Some(context) = context {
            let params = json!({"browserContextId": context});
            self.control_command("Target.disposeBrowserContext", params, now);
            let context = BrowserContextId::new(context);
            self.state.partitions.contexts_mut().insert(context.clone(), Creator::Left, partition.clone());
            self.state.partitions.contexts_mut().end(&context, now);
        }
        let owner = self.state.owner_of_late_result(client, partition);
        self.resolve_owners(id, &owner, now, |_, _| None);
    }
}

pub(crate) fn read_params(frame: &[u8]) -> Value {
    let mut frame = lenient_json::read(frame);
    frame.get_mut("params").map_or(Value::Null, Value::take)
}

/// Whether this is the browser's error for an unknown CDP session, which it may send without a session id.
fn is_no_session(frame: &[u8]) -> bool {
    let body = Body::read(frame);
    body.0.pointer("/error/code").and_then(Value::as_i64) == Some(-32001)
}

fn class_of(method: &str) -> FrameClass {
    match method {
        "Network.dataReceived" | "Network.resourceChangedPriority" => FrameClass::Droppable,
        _ => FrameClass::Event,
    }
}
