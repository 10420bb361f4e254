//! Paused targets, and when they are resumed.
//!
//! A new target starts paused. It is resumed once every client that it was announced to has resumed it, has
//! left, or has taken too long; a target that is announced to no client is resumed at once.

use std::time::Instant;

use serde_json::json;
use tabwire_api::{CdpSessionId, ClientId, TargetId};

use crate::mux::Mux;
use crate::routing::pending::InternalCommand;
use crate::state::BrowserState;
use crate::target::entry::PausedTarget;

impl Mux {
    /// A client resumes a target, which it was announced to on this browser-level session. Returns false when
    /// the browser has to handle the command.
    pub(crate) fn resumed_through(
        &mut self,
        browser: &CdpSessionId,
        target: &TargetId,
        now: Instant,
    ) -> bool {
        let Some(paused) =
            self.state.targets.find_mut(target.as_str()).and_then(|target| target.paused.as_mut())
        else {
            return false;
        };
        paused.waiters.remove(browser);
        self.resume_if_free(target, now);
        true
    }

    /// Resumes a target when no client waits for it any more.
    pub(crate) fn resume_if_free(&mut self, target: &TargetId, now: Instant) {
        let Some(entry) = self.state.targets.find_mut(target.as_str()) else { return };
        let free =
            entry.is_resolved() && entry.paused.as_ref().is_some_and(|paused| paused.waiters.is_empty());
        if let Some(paused) = entry.paused.take_if(|_| free) {
            let session = paused.session;
            self.router.send(
                Some(&session),
                "Runtime.runIfWaitingForDebugger",
                json!({}),
                InternalCommand::FireAndForget,
                now,
            );
        }
    }

    /// A client has left: targets no longer wait for it.
    pub(crate) fn forget_waiter(&mut self, client: ClientId, now: Instant) {
        self.forget_waiters(|_, waiter| waiter == client, now);
    }

    /// A browser-level session is gone: targets no longer wait for it.
    pub(crate) fn forget_waiting_session(&mut self, session: &CdpSessionId, now: Instant) {
        self.forget_waiters(|waiting, _| waiting == session, now);
    }

    fn forget_waiters(&mut self, is_gone: impl Fn(&CdpSessionId, ClientId) -> bool, now: Instant) {
        let mut touched = Vec::new();
        for target in self.state.targets.iter_mut() {
            let Some(paused) = target.paused.as_mut() else { continue };
            let before = paused.waiters.len();
            paused.waiters.retain(|session, client| !is_gone(session, *client));
            if paused.waiters.len() < before {
                touched.push(target.id.clone());
            }
        }
        for target in touched {
            self.resume_if_free(&target, now);
        }
    }

    /// Resumes targets whose clients took too long.
    pub(crate) fn resume_overdue(&mut self, now: Instant) {
        let mut overdue = Vec::new();
        for target in self.state.targets.iter_mut() {
            if let Some(paused) = target.paused.take_if(|paused| paused.until <= now) {
                overdue.push(paused.session);
            }
        }
        for session in overdue {
            // A popup that stays paused can block its opener's page as well.
            self.counters.resumed_by_deadline += 1;
            self.router.send(
                Some(&session),
                "Runtime.runIfWaitingForDebugger",
                json!({}),
                InternalCommand::FireAndForget,
                now,
            );
        }
    }
}

impl BrowserState {
    /// A client resumes a target on the session that the target waits on. Returns true when no other session
    /// waits for it, so that the browser has to handle the command.
    pub(crate) fn ends_pause(
        &mut self,
        browser: &CdpSessionId,
        target: &TargetId,
        session: &CdpSessionId,
    ) -> bool {
        let last = |paused: &mut PausedTarget| {
            paused.session == *session && paused.waiters.keys().all(|waiter| waiter == browser)
        };
        self.targets.find_mut(target.as_str()).is_some_and(|entry| entry.paused.take_if(last).is_some())
    }
}
