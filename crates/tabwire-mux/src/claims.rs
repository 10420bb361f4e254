//! Targets that were created and answered for before the browser announced them.

use std::collections::BTreeMap;
use std::time::Instant;

use tabwire_wire::{ClientId, TargetId};

use crate::limits::{CLAIM_DEADLINE, CLAIMED_TARGETS};
use crate::target_entry::Owner;

/// Whose each of them will be.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    claims: BTreeMap<TargetId, (Owner, Instant)>,
}

impl Claims {
    /// Remembers a claim; past the bound it is not, and the target will be nobody's.
    pub(crate) fn insert(&mut self, target: TargetId, owner: Owner, now: Instant) {
        if self.claims.len() < CLAIMED_TARGETS {
            self.claims.insert(target, (owner, now));
        }
    }

    pub(crate) fn find(&self, target: &TargetId) -> Option<&Owner> {
        self.claims.get(target).map(|(owner, _)| owner)
    }

    pub(crate) fn take(&mut self, target: &TargetId) {
        self.claims.remove(target);
    }

    /// A client left: what it claimed goes the way of what it owned.
    pub(crate) fn release(&mut self, client: ClientId, released: &Owner) {
        for (owner, _) in self.claims.values_mut() {
            if *owner == Owner::Client(client) {
                owner.clone_from(released);
            }
        }
    }

    pub(crate) fn forget_overdue(&mut self, now: Instant) {
        self.claims.retain(|_, (_, since)| now.duration_since(*since) <= CLAIM_DEADLINE);
    }

    pub(crate) fn clear(&mut self) {
        self.claims.clear();
    }
}
