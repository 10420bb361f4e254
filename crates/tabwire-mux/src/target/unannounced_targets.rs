//! Targets that `Target.createTarget` returned before the browser announced them.

use std::collections::BTreeMap;
use std::time::Instant;

use tabwire_api::{ClientId, TargetId};

use crate::limits::PENDING_DEADLINE;
use crate::target::entry::Owner;

/// How long a created target that was never announced is kept.
const UNANNOUNCED_DEADLINE: std::time::Duration = PENDING_DEADLINE;

/// Created targets kept until the browser announces them. Chromium announces them before it responds to
/// `Target.createTarget`, so only other upstreams need this.
const UNANNOUNCED_TARGETS: usize = 1_024;

/// The owner that each of them will have.
#[derive(Debug, Default)]
pub(crate) struct UnannouncedTargets {
    targets: BTreeMap<TargetId, (Owner, Instant)>,
}

impl UnannouncedTargets {
    /// Records an owner; above the limit the target will have no owner.
    pub(crate) fn insert(&mut self, target: TargetId, owner: Owner, now: Instant) {
        if self.targets.len() < UNANNOUNCED_TARGETS {
            self.targets.insert(target, (owner, now));
        }
    }

    pub(crate) fn find(&self, target: &TargetId) -> Option<&Owner> {
        self.targets.get(target).map(|(owner, _)| owner)
    }

    pub(crate) fn take(&mut self, target: &TargetId) {
        self.targets.remove(target);
    }

    /// A client left: its unannounced targets are released like its others.
    pub(crate) fn release(&mut self, client: ClientId, released: &Owner) {
        for (owner, _) in self.targets.values_mut() {
            if *owner == Owner::Client(client) {
                owner.clone_from(released);
            }
        }
    }

    pub(crate) fn forget_overdue(&mut self, now: Instant) {
        self.targets.retain(|_, (_, since)| now.duration_since(*since) <= UNANNOUNCED_DEADLINE);
    }
}
