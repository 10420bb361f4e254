//! Pages whose process crashed: their pending commands fail, and their settings are repeated after a reload.
//!
//! A crashed page does not respond until it is loaded again.

use std::time::Instant;

use serde_json::Value;
use tabwire_api::{CdpSessionId, ErrorCode, TargetId};
use tabwire_cdp::ProtocolError;

use crate::mux::Mux;
use crate::session::table::Session;
use crate::target::entry::Health;

impl Mux {
    pub(crate) fn target_crashed(&mut self, params: &Value, now: Instant) {
        let Some(id) = params.get("targetId").and_then(Value::as_str) else { return };
        if let Some(target) = self.targets.find_mut(id) {
            target.health = Health::Crashed { owes_settings: false };
        }
        self.fail_on_target(id, now);
        for (session, client) in self.discoverers(id) {
            self.send_event(client, &session, "Target.targetCrashed", params.clone());
        }
    }

    /// Fails the pending commands of a crashed page, internal ones included: the browser never responds to
    /// them.
    fn fail_on_target(&mut self, id: &str, now: Instant) {
        let sessions: Vec<CdpSessionId> = self
            .sessions
            .iter()
            .filter(|(_, session)| session.target().is_some_and(|target| target.as_str() == id))
            .map(|(session, _)| session.clone())
            .collect();
        let lost = self.router.pending_mut().take_where(|pending| {
            !pending.revives && pending.session.as_ref().is_some_and(|session| sessions.contains(session))
        });
        let error = ProtocolError::tabwire(ErrorCode::TargetGone, "Target crashed");
        for (command, pending) in lost {
            self.fail(command, pending, &error, now);
        }
    }

    /// Whether a page has crashed; if so, its settings are repeated when it is loaded again.
    pub(crate) fn put_off_settings(&mut self, target: &TargetId) -> bool {
        let Some(target) = self.targets.find_mut(target.as_str()) else { return false };
        let crashed = target.health != Health::Alive;
        if crashed {
            target.health = Health::Crashed { owes_settings: true };
        }
        crashed
    }

    /// The page of this CDP session has a process again.
    pub(crate) fn target_revived(&mut self, session: &str, now: Instant) {
        let found = self.sessions.find(session).and_then(Session::target).cloned();
        let Some(target) = found else { return };
        let Some(entry) = self.targets.find_mut(target.as_str()) else { return };
        if std::mem::take(&mut entry.health) == (Health::Crashed { owes_settings: true }) {
            self.repeat_settings(&target, now);
        }
    }
}
