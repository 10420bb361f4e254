//! Browser-level auto-attach as clients see it, served from what the house session sees.
//!
//! The browser's own auto-attach would attach a client to everything, other clients' pages included. So a
//! client's wish is only noted, and the mux attaches the client to the targets it may see.

use std::time::Instant;

use serde_json::{Value, json};
use tabwire_wire::{CdpSessionId, ClientId, TargetId};

use crate::gate::GateId;
use crate::mux::Mux;
use crate::output::FrameClass;
use crate::pending::{Asker, Errand};
use crate::reply;
use crate::session_table::{AutoAttach, SessionKind};
use crate::target_entry::TargetEntry;

impl Mux {
    /// `Target.setAutoAttach` on a client's browser-level cdp session. The answer follows the last
    /// `Target.attachedToTarget` of what exists already, as in the browser itself.
    pub(crate) fn set_auto_attach(
        &mut self,
        client: ClientId,
        id: i64,
        session: &CdpSessionId,
        wanted: Option<AutoAttach>,
        now: Instant,
    ) {
        let on = wanted.is_some();
        if let Some(entry) = self.sessions.find_mut(session.as_str())
            && let SessionKind::Browser { auto_attach, .. } = &mut entry.kind
        {
            *auto_attach = wanted;
        }
        let echo = self.echo(client, Some(session));
        let answer = reply::result(id, echo.as_ref(), json!({}));
        if !on {
            self.detach_auto_attached(session, now);
            self.deliver(client, answer, FrameClass::Answer);
            return;
        }
        let mut ids: Vec<TargetId> = self.targets.iter().map(|target| target.id.clone()).collect();
        ids.sort_unstable();
        for target in ids {
            self.offer_to(&target, session, client, now);
        }
        self.hold_for_attachments(client, session, answer);
    }

    fn detach_auto_attached(&mut self, session: &CdpSessionId, now: Instant) {
        let attached: Vec<CdpSessionId> = self
            .sessions
            .iter()
            .filter(|(_, child)| {
                child.parent.as_ref() == Some(session)
                    && matches!(child.kind, SessionKind::Target { auto: true, .. })
            })
            .map(|(id, _)| id.clone())
            .collect();
        for child in attached {
            let params = json!({"sessionId": child.as_str()});
            self.send(Some(session), "Target.detachFromTarget", params, Errand::Chore, now);
        }
        for target in self.targets.iter_mut() {
            target.offered.remove(session);
        }
    }

    /// Offers a target to every client that wants it; one that nobody waits for is let run.
    pub(crate) fn offer(&mut self, id: &TargetId, now: Instant) {
        let Some(target) = self.targets.find(id.as_str()) else { return };
        if !target.is_decided() {
            return;
        }
        let sessions: Vec<(CdpSessionId, ClientId)> =
            self.sessions.browser_sessions().map(|(session, client, _)| (session.clone(), client)).collect();
        for (session, client) in &sessions {
            self.offer_to(id, session, *client, now);
            self.wait_for_tab_client(id, session, *client);
        }
        self.resume_if_free(id, now);
    }

    /// Offers a target that the house is not attached to (tabs) as soon as it is decided.
    pub(crate) fn offer_unattached(&mut self, id: &TargetId, now: Instant) {
        if self.targets.find(id.as_str()).is_some_and(TargetEntry::is_tab) {
            self.offer(id, now);
        }
    }

    fn offer_to(&mut self, id: &TargetId, session: &CdpSessionId, client: ClientId, now: Instant) {
        let Some(target) = self.targets.find(id.as_str()) else { return };
        let Some(SessionKind::Browser { auto_attach: Some(wish), .. }) =
            self.sessions.find(session.as_str()).map(|entry| &entry.kind)
        else {
            return;
        };
        let shown = self.clients.get(&client).is_some_and(|entry| self.is_shown(entry, client, target));
        if !shown || !self.admits(&wish.filter, target) || target.offered.contains(session) {
            return;
        }
        let waits = wish.wait;
        if let Some(target) = self.targets.find_mut(id.as_str()) {
            target.offered.insert(session.clone());
            if let Some(paused) = target.paused.as_mut().filter(|_| waits) {
                paused.waiters.insert(client);
            }
        }
        let params = json!({"targetId": id.as_str(), "flatten": true});
        let errand =
            Errand::AutoAttach { browser_session: session.clone(), target: id.clone(), gates: Vec::new() };
        self.send(Some(session), "Target.attachToTarget", params, errand, now);
    }

    /// A client that was offered the tab will reach the page through it, and lets the page run there.
    fn wait_for_tab_client(&mut self, page: &TargetId, session: &CdpSessionId, client: ClientId) {
        let through_tab =
            self.targets.partner_of(page.as_str()).is_some_and(|tab| tab.offered.contains(session));
        let waits = match self.sessions.find(session.as_str()).map(|entry| &entry.kind) {
            Some(SessionKind::Browser { auto_attach: Some(wish), .. }) => wish.wait,
            _ => false,
        };
        if let Some(paused) = self.targets.find_mut(page.as_str()).and_then(|target| target.paused.as_mut())
            && through_tab
            && waits
        {
            paused.waiters.insert(client);
        }
    }

    /// Whether an attachment the mux asked for is under way on this session and target.
    pub(crate) fn auto_attach_under_way(&self, session: &CdpSessionId, target: &str) -> bool {
        self.pending.iter().any(|(_, pending)| match &pending.asker {
            Asker::House(Errand::AutoAttach { browser_session, target: wanted, .. }) => {
                browser_session == session && wanted.as_str() == target
            }
            _ => false,
        })
    }

    /// Sends an answer once the attachments under way for this session are announced.
    pub(crate) fn hold_for_attachments(
        &mut self,
        client: ClientId,
        session: &CdpSessionId,
        frame: bytes::BytesMut,
    ) {
        let concerns = |asker: &Asker| match asker {
            Asker::House(Errand::AutoAttach { browser_session, .. }) => browser_session == session,
            _ => false,
        };
        let count = self.pending.iter().filter(|(_, pending)| concerns(&pending.asker)).count();
        if count == 0 {
            self.deliver(client, frame, FrameClass::Answer);
            return;
        }
        let held = self.gates.hold(client, count, frame);
        for pending in self.pending.iter_mut() {
            if concerns(&pending.asker)
                && let Asker::House(Errand::AutoAttach { gates, .. }) = &mut pending.asker
            {
                gates.push(held);
            }
        }
    }

    /// An attachment is through; frames that waited for it last leave.
    pub(crate) fn pass_gates(&mut self, gates: &[GateId]) {
        for gate in gates {
            if let Some((client, frame)) = self.gates.pass(*gate) {
                self.deliver(client, frame, FrameClass::Answer);
            }
        }
    }

    /// The event of an attachment that the mux asked for, as its client is told it.
    pub(crate) fn tell_attached(&mut self, client: ClientId, parent: &CdpSessionId, params: &Value) {
        let mut params = params.clone();
        let target =
            params.pointer("/targetInfo/targetId").and_then(Value::as_str).unwrap_or_default().to_owned();
        let waiting = self
            .targets
            .find(&target)
            .and_then(|target| target.paused.as_ref())
            .is_some_and(|paused| paused.waiters.contains(&client));
        if let Some(members) = params.as_object_mut() {
            members.insert("waitingForDebugger".to_owned(), Value::Bool(waiting));
        }
        self.tell(client, parent, "Target.attachedToTarget", params);
    }
}
