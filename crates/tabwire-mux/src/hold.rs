//! What is held back until the attachments it must follow are announced.

use std::collections::BTreeMap;

use bytes::BytesMut;
use tabwire_wire::ClientId;

/// Names one held thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct HoldId(u64);

/// What is held back.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// An answer.
    Answer(BytesMut),
    /// The frames the client sent while it was not served.
    Backlog,
}

#[derive(Debug)]
struct Hold {
    client: ClientId,
    waits_for: usize,
    held: Held,
}

/// The holds; each opens when the last attachment it waits for is through.
#[derive(Debug, Default)]
pub(crate) struct HoldTable {
    next: u64,
    holds: BTreeMap<HoldId, Hold>,
}

impl HoldTable {
    pub(crate) fn hold(&mut self, client: ClientId, waits_for: usize, held: Held) -> HoldId {
        self.next += 1;
        let id = HoldId(self.next);
        self.holds.insert(id, Hold { client, waits_for, held });
        id
    }

    /// One attachment is through; yields what was held when it was the last.
    pub(crate) fn pass(&mut self, id: HoldId) -> Option<(ClientId, Held)> {
        let hold = self.holds.get_mut(&id)?;
        hold.waits_for = hold.waits_for.saturating_sub(1);
        if hold.waits_for > 0 {
            return None;
        }
        self.holds.remove(&id).map(|hold| (hold.client, hold.held))
    }

    pub(crate) fn forget_client(&mut self, client: ClientId) {
        self.holds.retain(|_, hold| hold.client != client);
    }

    /// Yields everything held, in the order it was held.
    pub(crate) fn open_all(&mut self) -> Vec<(ClientId, Held)> {
        std::mem::take(&mut self.holds).into_values().map(|hold| (hold.client, hold.held)).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.holds.len()
    }
}
