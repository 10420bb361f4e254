//! The browser as a target: every client is shown exactly one, the one its own root is attached to.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tabwire_wire::{CdpSessionId, ClientId};

use crate::filter::TargetFilter;
use crate::mux::Mux;

/// What the browser says of the browser targets that our cdp sessions are attached to.
#[derive(Debug, Default)]
pub(crate) struct BrowserTargets {
    infos: BTreeMap<CdpSessionId, Value>,
}

impl BrowserTargets {
    /// A browser-level cdp session was attached to a browser target.
    pub(crate) fn note(&mut self, session: CdpSessionId, info: Value) {
        self.infos.insert(session, info);
    }

    pub(crate) fn forget(&mut self, session: &CdpSessionId) {
        self.infos.remove(session);
    }

    pub(crate) fn clear(&mut self) {
        self.infos.clear();
    }
}

impl Mux {
    fn browser_target_of(&self, client: ClientId) -> Option<&Value> {
        self.browser_targets.infos.get(self.clients.get(&client)?.root()?)
    }

    /// Whether this is the browser target the client's root is attached to.
    pub(crate) fn is_own_browser_target(&self, client: ClientId, target: &str) -> bool {
        let own = self.browser_target_of(client).and_then(|info| info.get("targetId"));
        own.and_then(Value::as_str) == Some(target)
    }

    /// Tells a client that discovers of its browser target, if it wants to hear of such.
    pub(crate) fn announce_browser_target(
        &mut self,
        client: ClientId,
        session: &CdpSessionId,
        filter: &TargetFilter,
    ) {
        let info = self.browser_target_of(client).filter(|_| filter.admits("browser")).cloned();
        if let Some(info) = info {
            self.tell(client, session, "Target.targetCreated", json!({"targetInfo": info}));
        }
    }
}
