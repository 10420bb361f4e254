//! Browser-level auto-attach for clients, served from the control session.
//!
//! The browser's own auto-attach would attach a client to every target, including other clients' pages. The
//! mux therefore records a client's options and attaches the client to the targets it may see.

use std::time::Instant;

use bytes::BytesMut;
use serde_json::{Value, json};
use tabwire_api::{CdpSessionId, ClientId, TargetId};

use crate::mux::Mux;
use crate::output::FrameClass;
use crate::routing::pending::{InternalCommand, Requester, ResponseHandling};
use crate::routing::reply_ordering::DelayId;
use crate::session::table::{AutoAttach, Session, SessionKind};
use crate::state::BrowserState;
use crate::target::entry::{Owner, TargetEntry};

impl Mux {
    /// `Target.setAutoAttach` on a client's browser-level CDP session. As in the browser itself, the response
    /// follows the last `Target.attachedToTarget` of an existing target.
    pub(crate) fn set_auto_attach(
        &mut self,
        client: ClientId,
        session: &CdpSessionId,
        wanted: Option<AutoAttach>,
        reply: BytesMut,
        now: Instant,
    ) {
        if wanted.is_none() {
            self.state.note_auto_attach(session, None);
            // As in Chromium: turning auto-attach off detaches all that it attached (docs/cdp/auto-attach-
            // against-discover.md).
            self.detach_auto_attached(session, now);
            self.router.deliver(client, reply, FrameClass::Response);
            return;
        }
        self.start_auto_attach(client, session, wanted, now);
        // Chromium sends the events of existing targets before the response, and clients rely on that order.
        self.router.reply_after_attachments(client, session, reply);
    }

    /// Records a client's options and offers it the existing targets.
    pub(crate) fn start_auto_attach(
        &mut self,
        client: ClientId,
        session: &CdpSessionId,
        wanted: Option<AutoAttach>,
        now: Instant,
    ) {
        self.state.note_auto_attach(session, wanted);
        for target in self.state.ids_for(client) {
            self.offer_to(&target, session, client, now);
        }
    }

    fn detach_auto_attached(&mut self, session: &CdpSessionId, now: Instant) {
        let attached: Vec<CdpSessionId> = self
            .state
            .sessions
            .iter()
            .filter(|(_, child)| child.parent.as_ref() == Some(session) && child.is_auto())
            .map(|(id, _)| id.clone())
            .collect();
        for child in attached {
            self.detach_child(session, &child, now);
        }
        for target in self.state.targets.iter_mut() {
            target.offered.remove(session);
        }
    }

    /// Offers a target to every auto-attaching client. A target that no client waits for is resumed.
    pub(crate) fn offer(&mut self, id: &TargetId, now: Instant) {
        let Some(target) = self.state.targets.find(id.as_str()) else { return };
        if !target.is_resolved() {
            return;
        }
        let owner = target.owner.clone();
        let mut receivers = self.state.sessions.auto_attaching();
        // Chromium sends some events to the first session on a target only; that one is the owner's
        // (docs/cdp/waiting-for-the-debugger.md).
        receivers.sort_by_key(|(_, client)| owner != Owner::Client(*client));
        for (session, client) in receivers {
            if !self.hand_over(id, &session, client, now) {
                self.offer_to(id, &session, client, now);
            }
            self.state.wait_for_tab_client(id, &session, client);
        }
        self.resume_if_free(id, now);
    }

    /// Offers a target that the mux is not attached to (a tab) once its owner is known.
    pub(crate) fn offer_unattached(&mut self, id: &TargetId, now: Instant) {
        if self.state.targets.find(id.as_str()).is_some_and(TargetEntry::is_tab) {
            self.offer(id, now);
        }
    }

    fn offer_to(&mut self, id: &TargetId, session: &CdpSessionId, client: ClientId, now: Instant) {
        if !self.state.wants_target(id, session, client) {
            return;
        }
        self.state.record_offer(id, session, client);
        let params = json!({"targetId": id.as_str(), "flatten": true});
        let internal = InternalCommand::AutoAttach {
            browser_session: session.clone(),
            target: id.clone(),
            delays: Vec::new(),
        };
        self.router.send(Some(session), "Target.attachToTarget", params, internal, now);
    }

    /// Whether an announced attachment is one that the mux requested. The browser runs the commands of one
    /// CDP session in order, so it is the oldest that names the target.
    pub(crate) fn is_auto_attachment(&self, session: &CdpSessionId, target: &str) -> bool {
        let oldest = self.router.pending().iter().find_map(|(_, pending)| match &pending.requester {
            _ if pending.session.as_ref() != Some(session) => None,
            Requester::Internal(InternalCommand::AutoAttach { target: wanted, .. }) => {
                (wanted.as_str() == target).then_some(true)
            }
            Requester::Client { handling: ResponseHandling::Attach(wanted), .. } => {
                (wanted.as_str() == target).then_some(false)
            }
            _ => None,
        });
        oldest == Some(true)
    }

    /// An attachment that the mux requested is complete. A client that has turned auto-attach off meanwhile
    /// is detached.
    pub(crate) fn auto_attached(
        &mut self,
        session: &CdpSessionId,
        child: Option<&str>,
        delays: &[DelayId],
        now: Instant,
    ) {
        // The client may have turned auto-attach off while the attachment was under way.
        let unwanted =
            self.state.sessions.find(session.as_str()).is_some_and(|session| session.auto_attach().is_none());
        if let Some(child) = child.filter(|_| unwanted) {
            let params = json!({"sessionId": child});
            self.router.send(
                Some(session),
                "Target.detachFromTarget",
                params,
                InternalCommand::FireAndForget,
                now,
            );
        }
        self.router.release_replies(delays);
    }

    /// An attachment that the mux requested has failed: the target no longer waits for that client.
    pub(crate) fn auto_attach_failed(
        &mut self,
        session: &CdpSessionId,
        target: &TargetId,
        delays: &[DelayId],
        now: Instant,
    ) {
        // A client that was never attached cannot resume the target, so the target must not wait for it.
        self.resumed_through(session, target, now);
        self.router.release_replies(delays);
    }

    /// Sends the event of an attachment that the mux requested, with the fields that its client may read.
    pub(crate) fn send_attached(&mut self, client: ClientId, parent: &CdpSessionId, params: &Value) {
        let mut params = params.clone();
        let target =
            params.pointer("/targetInfo/targetId").and_then(Value::as_str).unwrap_or_default().to_owned();
        let waiting = self
            .state
            .targets
            .find(&target)
            .and_then(|target| target.paused.as_ref())
            .is_some_and(|paused| paused.waiters.contains_key(parent));
        if let Some(members) = params.as_object_mut() {
            members.insert("waitingForDebugger".to_owned(), Value::Bool(waiting));
        }
        if let Some(info) =
            params.get_mut("targetInfo").filter(|_| self.state.clients.guard(client).is_some())
        {
            self.state.redact_target_info(client, info);
        }
        self.send_event(client, parent, "Target.attachedToTarget", params);
    }
}

impl BrowserState {
    fn note_auto_attach(&mut self, session: &CdpSessionId, wanted: Option<AutoAttach>) {
        if let Some(entry) = self.sessions.find_mut(session.as_str())
            && let SessionKind::Browser { auto_attach } = &mut entry.kind
        {
            *auto_attach = wanted;
        }
    }

    /// Whether a browser-level session of a client auto-attaches to a target that it has not received yet.
    pub(crate) fn wants_target(&self, id: &TargetId, session: &CdpSessionId, client: ClientId) -> bool {
        let Some(target) = self.targets.find(id.as_str()) else { return false };
        let Some(options) = self.sessions.find(session.as_str()).and_then(Session::auto_attach) else {
            return false;
        };
        let shown = self.clients.get(client).is_some_and(|entry| self.is_visible(entry, client, target));
        shown && self.admits(&options.filter, target) && !target.offered.contains(session)
    }

    /// Records that a browser-level session receives a target, which waits for it if it asked for that.
    pub(crate) fn record_offer(&mut self, id: &TargetId, session: &CdpSessionId, client: ClientId) {
        let options = self.sessions.find(session.as_str()).and_then(Session::auto_attach);
        let waits = options.is_some_and(|options| options.wait);
        if let Some(target) = self.targets.find_mut(id.as_str()) {
            target.offered.insert(session.clone());
            if let Some(paused) = target.paused.as_mut().filter(|_| waits) {
                paused.waiters.insert(session.clone(), client);
            }
        }
    }

    /// A client that was offered the tab reaches the page through it, and resumes the page there.
    fn wait_for_tab_client(&mut self, page: &TargetId, session: &CdpSessionId, client: ClientId) {
        let through_tab =
            self.targets.counterpart_of(page.as_str()).is_some_and(|tab| tab.offered.contains(session));
        let options = self.sessions.find(session.as_str()).and_then(Session::auto_attach);
        let waits = options.is_some_and(|options| options.wait);
        if let Some(paused) = self.targets.find_mut(page.as_str()).and_then(|target| target.paused.as_mut())
            && through_tab
            && waits
        {
            paused.waiters.insert(session.clone(), client);
        }
    }
}
