//! A sign of life asked of a silent browser.

use std::time::Instant;

use serde_json::json;

use crate::mux::Mux;

impl Mux {
    /// Asks the browser something harmless; any frame that comes back shows that it lives.
    pub fn probe(&mut self, now: Instant) {
        self.control_command("Browser.getVersion", json!({}), now);
    }
}
