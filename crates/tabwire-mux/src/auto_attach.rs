//! Browser-level auto-attach as clients see it, served from what the house session sees.
//!
//! The browser's own auto-attach would attach a client to everything, other clients' pages included. So a
//! client's wish is only noted, and the mux attaches the client to the targets it may see.

use std::time::Instant;

use bytes::BytesMut;
use serde_json::{Value, json};
use tabwire_wire::{CdpSessionId, ClientId, TargetId};

use crate::hold::{Held, HoldId};
use crate::mux::Mux;
use crate::output::FrameClass;
use crate::pending::{Asker, Errand, Meaning};
use crate::session_table::{AutoAttach, Session, SessionKind};
use crate::target_entry::TargetEntry;

impl Mux {
    /// `Target.setAutoAttach` on a client's browser-level cdp session. The answer follows the last
    /// `Target.attachedToTarget` of what exists already, as in the browser itself.
    pub(crate) fn set_auto_attach(
        &mut self,
        client: ClientId,
        session: &CdpSessionId,
        wanted: Option<AutoAttach>,
        answer: BytesMut,
        now: Instant,
    ) {
        if wanted.is_none() {
            self.note_auto_attach(session, None);
            self.detach_auto_attached(session, now);
            self.deliver(client, answer, FrameClass::Answer);
            return;
        }
        self.wish_auto_attach(client, session, wanted, now);
        self.hold_for_attachments(client, session, Held::Answer(answer), now);
    }

    /// Notes a client's wish and offers it what exists already.
    pub(crate) fn wish_auto_attach(
        &mut self,
        client: ClientId,
        session: &CdpSessionId,
        wanted: Option<AutoAttach>,
        now: Instant,
    ) {
        self.note_auto_attach(session, wanted);
        for target in self.targets.ids() {
            self.offer_to(&target, session, client, now);
        }
    }

    fn note_auto_attach(&mut self, session: &CdpSessionId, wanted: Option<AutoAttach>) {
        if let Some(entry) = self.sessions.find_mut(session.as_str())
            && let SessionKind::Browser { auto_attach } = &mut entry.kind
        {
            *auto_attach = wanted;
        }
    }

    fn detach_auto_attached(&mut self, session: &CdpSessionId, now: Instant) {
        let attached: Vec<CdpSessionId> = self
            .sessions
            .iter()
            .filter(|(_, child)| child.parent.as_ref() == Some(session) && child.is_auto())
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
        if !target.is_settled() {
            return;
        }
        for (session, client) in self.sessions.auto_attaching() {
            self.offer_to(id, &session, client, now);
            self.wait_for_tab_client(id, &session, client);
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
        let Some(wish) = self.sessions.find(session.as_str()).and_then(Session::auto_attach) else { return };
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
            Errand::AutoAttach { browser_session: session.clone(), target: id.clone(), holds: Vec::new() };
        self.send(Some(session), "Target.attachToTarget", params, errand, now);
    }

    /// A client that was offered the tab will reach the page through it, and lets the page run there.
    fn wait_for_tab_client(&mut self, page: &TargetId, session: &CdpSessionId, client: ClientId) {
        let through_tab =
            self.targets.partner_of(page.as_str()).is_some_and(|tab| tab.offered.contains(session));
        let wish = self.sessions.find(session.as_str()).and_then(Session::auto_attach);
        let waits = wish.is_some_and(|wish| wish.wait);
        if let Some(paused) = self.targets.find_mut(page.as_str()).and_then(|target| target.paused.as_mut())
            && through_tab
            && waits
        {
            paused.waiters.insert(client);
        }
    }

    /// Whether the attachment that was just announced is one the mux asked for: the browser serves the
    /// commands of one cdp session in order, so it is the oldest that names the target.
    pub(crate) fn is_auto_attachment(&self, session: &CdpSessionId, target: &str) -> bool {
        let oldest = self.pending.iter().find_map(|(_, pending)| match &pending.asker {
            _ if pending.session.as_ref() != Some(session) => None,
            Asker::House(Errand::AutoAttach { target: wanted, .. }) => {
                (wanted.as_str() == target).then_some(true)
            }
            Asker::Client { meaning: Meaning::Attach(wanted), .. } => {
                (wanted.as_str() == target).then_some(false)
            }
            _ => None,
        });
        oldest == Some(true)
    }

    /// Lets something happen once the attachments under way for this session are announced.
    pub(crate) fn hold_for_attachments(
        &mut self,
        client: ClientId,
        session: &CdpSessionId,
        held: Held,
        now: Instant,
    ) {
        let concerns = |asker: &Asker| match asker {
            Asker::House(Errand::AutoAttach { browser_session, .. }) => browser_session == session,
            _ => false,
        };
        let count = self.pending.iter().filter(|(_, pending)| concerns(&pending.asker)).count();
        if count == 0 {
            self.let_through(client, held, now);
            return;
        }
        let held = self.holds.hold(client, count, held);
        for pending in self.pending.iter_mut() {
            if concerns(&pending.asker)
                && let Asker::House(Errand::AutoAttach { holds, .. }) = &mut pending.asker
            {
                holds.push(held);
            }
        }
    }

    fn let_through(&mut self, client: ClientId, held: Held, now: Instant) {
        match held {
            Held::Answer(frame) => self.deliver(client, frame, FrameClass::Answer),
            Held::Backlog => self.serve_backlog(client, now),
        }
    }

    /// An attachment is through; what waited for it last goes on.
    pub(crate) fn pass_holds(&mut self, holds: &[HoldId], now: Instant) {
        for hold in holds {
            if let Some((client, held)) = self.holds.pass(*hold) {
                self.let_through(client, held, now);
            }
        }
    }

    /// An attachment the mux asked for is through. A client that has changed its mind meanwhile is detached.
    pub(crate) fn auto_attached(
        &mut self,
        session: &CdpSessionId,
        child: Option<&str>,
        holds: &[HoldId],
        now: Instant,
    ) {
        let unwanted =
            self.sessions.find(session.as_str()).is_some_and(|session| session.auto_attach().is_none());
        if let Some(child) = child.filter(|_| unwanted) {
            let params = json!({"sessionId": child});
            self.send(Some(session), "Target.detachFromTarget", params, Errand::Chore, now);
        }
        self.pass_holds(holds, now);
    }

    /// An attachment the mux asked for will not come: nobody waits for that client any more.
    pub(crate) fn auto_attach_failed(
        &mut self,
        session: &CdpSessionId,
        target: &TargetId,
        holds: &[HoldId],
        now: Instant,
    ) {
        if let Some(client) = self.sessions.find(session.as_str()).and_then(Session::client) {
            self.client_resumes(client, target, now);
        }
        self.pass_holds(holds, now);
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
        if let Some(info) = params.get_mut("targetInfo").filter(|_| self.is_guarded(client)) {
            self.privatise(client, info);
        }
        self.tell(client, parent, "Target.attachedToTarget", params);
    }
}
