//! Pages whose process crashed: their pending commands fail, and their settings are repeated after a reload.
//!
//! A crashed page does not respond until it is loaded again.

use std::time::{Duration, Instant};

use serde_json::Value;
use tabwire_api::{CdpSessionId, ErrorCode, TargetId};
use tabwire_cdp::ProtocolError;

use crate::mux::Mux;
use crate::routing::pending::{Pending, Requester};
use crate::session::table::Session;
use crate::state::BrowserState;
use crate::target::entry::Health;

/// How long a client's session may take to receive `Inspector.targetCrashed` before its commands fail without
/// it.
const CRASH_EVENT_DEADLINE: Duration = Duration::from_secs(2);

impl Mux {
    /// The commands of the mux fail at once, those of clients after their session's own event, so that a client
    /// knows the reason.
    pub(crate) fn target_crashed(&mut self, params: &Value, now: Instant) {
        let Some(id) = params.get("targetId").and_then(Value::as_str) else { return };
        if let Some(target) = self.state.targets.find_mut(id) {
            let fail_at = Some(now + CRASH_EVENT_DEADLINE);
            target.health = Health::Crashed { owes_settings: false, fail_at };
        }
        // Chromium keeps the sessions of a crashed target and never responds to their pending commands. Clients get
        // their own `Inspector.targetCrashed` first, as from Chromium.
        let sessions = self.state.sessions_on(id);
        self.fail_crashed(now, |pending| {
            let is_internal = matches!(pending.requester, Requester::Internal(_));
            is_internal && pending.session.as_ref().is_some_and(|session| sessions.contains(session))
        });
        for (session, client) in self.state.discoverers(id) {
            self.send_event(client, &session, "Target.targetCrashed", params.clone());
        }
    }

    /// Fails the pending commands of a session on a crashed page.
    pub(crate) fn fail_on_session(&mut self, session: &CdpSessionId, now: Instant) {
        self.fail_crashed(now, |pending| pending.session.as_ref() == Some(session));
    }

    /// Fails commands to which the browser never responds, because a page has crashed.
    fn fail_crashed(&mut self, now: Instant, pick: impl Fn(&Pending) -> bool) {
        let lost = self.router.pending_mut().take_where(|pending| !pending.revives && pick(pending));
        let error = ProtocolError::tabwire(ErrorCode::TargetGone, "Target crashed");
        for (command, pending) in lost {
            self.fail(command, pending, &error, now);
        }
    }

    /// Fails the commands of sessions that received no event of the crash.
    pub(crate) fn fail_on_crashed(&mut self, now: Instant) {
        let mut overdue = Vec::new();
        for target in self.state.targets.iter_mut() {
            if let Health::Crashed { fail_at, .. } = &mut target.health
                && fail_at.take_if(|at| *at <= now).is_some()
            {
                overdue.push(target.id.clone());
            }
        }
        for target in overdue {
            for session in self.state.sessions_on(target.as_str()) {
                self.fail_on_session(&session, now);
            }
        }
    }

    /// The page of this CDP session has a process again.
    pub(crate) fn target_revived(&mut self, session: &str, now: Instant) {
        let found = self.state.sessions.find(session).and_then(Session::target).cloned();
        let Some(target) = found else { return };
        let Some(entry) = self.state.targets.find_mut(target.as_str()) else { return };
        if matches!(std::mem::take(&mut entry.health), Health::Crashed { owes_settings: true, .. }) {
            self.repeat_settings(&target, now);
        }
    }
}

impl BrowserState {
    fn sessions_on(&self, id: &str) -> Vec<CdpSessionId> {
        let on_it = |session: &Session| session.target().is_some_and(|target| target.as_str() == id);
        self.sessions.iter().filter(|(_, session)| on_it(session)).map(|(id, _)| id.clone()).collect()
    }

    /// Whether a page has crashed; if so, its settings are repeated when it is loaded again.
    pub(crate) fn put_off_settings(&mut self, target: &TargetId) -> bool {
        let Some(target) = self.targets.find_mut(target.as_str()) else { return false };
        match &mut target.health {
            Health::Alive => false,
            Health::Crashed { owes_settings, .. } => {
                *owes_settings = true;
                true
            }
        }
    }
}
