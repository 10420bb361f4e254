//! Paused targets, and when they are resumed.
//!
//! A new target starts paused. It is resumed once every client that it was announced to has resumed it, has
//! left, or has taken too long; a target that is announced to no client is resumed at once.

use std::time::Instant;

use serde_json::json;
use tabwire_api::{ClientId, TargetId};

use crate::mux::Mux;
use crate::routing::pending::InternalCommand;

impl Mux {
    /// A client resumes a target. Returns false when the browser has to handle the command.
    pub(crate) fn client_resumes(&mut self, client: ClientId, target: &TargetId, now: Instant) -> bool {
        let Some(paused) = self.targets.find_mut(target.as_str()).and_then(|target| target.paused.as_mut())
        else {
            return false;
        };
        paused.waiters.remove(&client);
        self.resume_if_free(target, now);
        true
    }

    /// Resumes a target when no client waits for it any more.
    pub(crate) fn resume_if_free(&mut self, target: &TargetId, now: Instant) {
        let Some(entry) = self.targets.find_mut(target.as_str()) else { return };
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
        let mut touched = Vec::new();
        for target in self.targets.iter_mut() {
            if let Some(paused) = target.paused.as_mut()
                && paused.waiters.remove(&client)
            {
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
        for target in self.targets.iter_mut() {
            if let Some(paused) = target.paused.take_if(|paused| paused.until <= now) {
                overdue.push(paused.session);
            }
        }
        for session in overdue {
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
