//! Tabs that the house opens for nobody in particular: every client of the realm is shown them, as a browser's
//! first tab.

use std::time::Instant;

use serde_json::json;
use tabwire_wire::{RealmId, TargetId};

use crate::mux::Mux;
use crate::output::Output;
use crate::pending::Errand;
use crate::realm_table::RealmPlace;
use crate::target_entry::Owner;

impl Mux {
    /// Opens a tab that belongs to nobody in a realm; what became of it is reported under the ticket.
    pub fn open_tab(&mut self, ticket: u64, url: &str, realm: Option<RealmId>, now: Instant) {
        match self.house.clone() {
            Some(house) => {
                let mut params = json!({"url": url, "background": true});
                let place = realm.as_ref().and_then(|realm| self.realms.find(realm));
                if let (Some(RealmPlace::Context(context)), Some(members)) = (place, params.as_object_mut()) {
                    members.insert("browserContextId".to_owned(), json!(context.as_str()));
                }
                self.send(Some(&house), "Target.createTarget", params, Errand::OpenTab(ticket, realm), now);
            }
            None => self.outbox.push(Output::TabOpened { ticket, target: None }),
        }
    }

    pub(crate) fn tab_opened(
        &mut self,
        id: u64,
        (ticket, realm): (u64, Option<RealmId>),
        target: Option<&str>,
        now: Instant,
    ) {
        let nobodys = target.map(|target| (Owner::Nobody { released: 0, realm }, target));
        self.create_answered(id, nobodys, now);
        self.outbox.push(Output::TabOpened { ticket, target: target.map(TargetId::new) });
    }
}
