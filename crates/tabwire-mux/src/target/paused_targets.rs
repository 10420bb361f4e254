//! Paused targets, and who lets them run.
//!
//! A new target starts paused. It runs once every client that was told of it has said so, has gone, or has
//! taken too long; a target that no client is told of runs at once.

use std::time::Instant;

use serde_json::json;
use tabwire_api::{ClientId, TargetId};

use crate::mux::Mux;
use crate::routing::pending::InternalCommand;

impl Mux {
    /// A client lets a target run. Says whether the mux has taken care of it.
    pub(crate) fn client_resumes(&mut self, client: ClientId, target: &TargetId, now: Instant) -> bool {
        let Some(paused) = self.targets.find_mut(target.as_str()).and_then(|target| target.paused.as_mut())
        else {
            return false;
        };
        paused.waiters.remove(&client);
        self.resume_if_free(target, now);
        true
    }

    /// Lets a target run when nobody waits for it any more.
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

    /// A client that has left is waited for no longer.
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

    /// Targets whose clients took too long are let run without them.
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
