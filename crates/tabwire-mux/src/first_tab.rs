//! Tabs that the house opens for nobody in particular: every client is shown them, as a browser's first tab.

use std::time::Instant;

use serde_json::json;
use tabwire_wire::TargetId;

use crate::mux::Mux;
use crate::output::Output;
use crate::pending::Errand;
use crate::target_entry::Owner;

impl Mux {
    /// Opens a tab that belongs to nobody; what became of it is reported under the ticket.
    pub fn open_tab(&mut self, ticket: u64, url: &str, now: Instant) {
        match self.house.clone() {
            Some(house) => {
                let params = json!({"url": url, "background": true});
                self.send(Some(&house), "Target.createTarget", params, Errand::OpenTab(ticket), now);
            }
            None => self.outbox.push(Output::TabOpened { ticket, target: None }),
        }
    }

    pub(crate) fn tab_opened(&mut self, id: u64, ticket: u64, target: Option<&str>, now: Instant) {
        let nobodys = target.map(|target| (Owner::Nobody { released: 0 }, target));
        self.create_answered(id, nobodys, now);
        self.outbox.push(Output::TabOpened { ticket, target: target.map(TargetId::new) });
    }
}
