//! Frames held back until the attachments they must follow are announced.

use std::collections::HashMap;

use bytes::BytesMut;
use tabwire_wire::ClientId;

/// Names one held frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct GateId(u64);

#[derive(Debug)]
struct Gate {
    client: ClientId,
    waits_for: usize,
    frame: BytesMut,
}

/// The held frames; each leaves when the last attachment it waits for is through.
#[derive(Debug, Default)]
pub(crate) struct GateTable {
    next: u64,
    gates: HashMap<GateId, Gate>,
}

impl GateTable {
    pub(crate) fn hold(&mut self, client: ClientId, waits_for: usize, frame: BytesMut) -> GateId {
        self.next += 1;
        let id = GateId(self.next);
        self.gates.insert(id, Gate { client, waits_for, frame });
        id
    }

    /// One attachment is through; yields the frame when it was the last.
    pub(crate) fn pass(&mut self, id: GateId) -> Option<(ClientId, BytesMut)> {
        let gate = self.gates.get_mut(&id)?;
        gate.waits_for = gate.waits_for.saturating_sub(1);
        if gate.waits_for > 0 {
            return None;
        }
        self.gates.remove(&id).map(|gate| (gate.client, gate.frame))
    }

    pub(crate) fn forget_client(&mut self, client: ClientId) {
        self.gates.retain(|_, gate| gate.client != client);
    }

    /// Yields every held frame, in the order they were held.
    pub(crate) fn open_all(&mut self) -> Vec<(ClientId, BytesMut)> {
        let mut gates: Vec<_> = self.gates.drain().collect();
        gates.sort_unstable_by_key(|(id, _)| id.0);
        gates.into_iter().map(|(_, gate)| (gate.client, gate.frame)).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.gates.len()
    }
}
