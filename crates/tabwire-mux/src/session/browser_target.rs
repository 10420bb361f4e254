//! The browser target: each client sees exactly one, to which its own root session is attached.

use serde_json::{Value, json};
use tabwire_api::{CdpSessionId, ClientId};
use tabwire_cdp::TargetFilter;

use crate::mux::Mux;
use crate::state::BrowserState;

impl Mux {
    /// Sends `Target.targetCreated` for the browser target to a client whose filter includes it.
    pub(crate) fn send_browser_target(
        &mut self,
        client: ClientId,
        session: &CdpSessionId,
        filter: &TargetFilter,
    ) {
        let info = self.state.browser_target_of(client).filter(|_| filter.admits("browser")).cloned();
        if let Some(info) = info {
            self.send_event(client, session, "Target.targetCreated", json!({"targetInfo": info}));
        }
    }
}

impl BrowserState {
    fn browser_target_of(&self, client: ClientId) -> Option<&Value> {
        self.sessions.browser_target(self.clients.root(client)?)
    }

    /// Whether this is the browser target that the client's root session is attached to.
    pub(crate) fn is_own_browser_target(&self, client: ClientId, target: &str) -> bool {
        let own = self.browser_target_of(client).and_then(|info| info.get("targetId"));
        own.and_then(Value::as_str) == Some(target)
    }
}
