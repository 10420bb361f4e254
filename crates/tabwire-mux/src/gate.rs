//! What is held back until the attachments it must follow are announced.

use std::collections::BTreeMap;

use bytes::BytesMut;
use tabwire_wire::ClientId;

/// Names one held thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GateId(u64);

/// What waits behind a gate.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// An answer.
    Answer(BytesMut),
    /// The frames the client sent while it was not served.
    Backlog,
}

#[derive(Debug)]
struct Gate {
    client: ClientId,
    waits_for: usize,
    held: Held,
}

/// The gates; each opens when the last attachment it waits for is through.
#[derive(Debug, Default)]
pub(crate) struct GateTable {
    next: u64,
    gates: BTreeMap<GateId, Gate>,
}

impl GateTable {
    pub(crate) fn hold(&mut self, client: ClientId, waits_for: usize, held: Held) -> GateId {
        self.next += 1;
        let id = GateId(self.next);
        self.gates.insert(id, Gate { client, waits_for, held });
        id
    }

    /// One attachment is through; yields what was held when it was the last.
    pub(crate) fn pass(&mut self, id: GateId) -> Option<(ClientId, Held)> {
        let gate = self.gates.get_mut(&id)?;
        gate.waits_for = gate.waits_for.saturating_sub(1);
        if gate.waits_for > 0 {
            return None;
        }
        self.gates.remove(&id).map(|gate| (gate.client, gate.held))
    }

    pub(crate) fn forget_client(&mut self, client: ClientId) {
        self.gates.retain(|_, gate| gate.client != client);
    }

    /// Yields everything held, in the order it was held.
    pub(crate) fn open_all(&mut self) -> Vec<(ClientId, Held)> {
        std::mem::take(&mut self.gates).into_values().map(|gate| (gate.client, gate.held)).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.gates.len()
    }
}
