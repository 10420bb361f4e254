//! A liveness probe for a silent browser.

use std::time::Instant;

use serde_json::json;

use crate::mux::Mux;

impl Mux {
    /// Sends a command without side effects; any frame from the browser shows that it is alive.
    pub fn probe(&mut self, now: Instant) {
        self.control_command("Browser.getVersion", json!({}), now);
    }
}
