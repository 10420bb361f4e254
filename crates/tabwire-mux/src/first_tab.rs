//! Tabs that the house opens for nobody in particular: every client of the realm is shown them, as a browser's
//! first tab.

use std::time::Instant;

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_wire::{ErrorCode, Failure, RealmId, TargetId};

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
            None => self.outbox.push(Output::TabOpened { ticket, target: Err(no_tab(None)) }),
        }
    }

    pub(crate) fn tab_opened(
        &mut self,
        id: u64,
        (ticket, realm): (u64, Option<RealmId>),
        target: Result<&str, Failure>,
        now: Instant,
    ) {
        let nobodys = target.as_ref().ok().map(|target| (Owner::Nobody { released: 0, realm }, *target));
        self.create_answered(id, nobodys, now);
        self.outbox.push(Output::TabOpened { ticket, target: target.map(TargetId::new) });
    }
}

/// Why there is no tab, from the error that was answered. What has one of our own codes was not the browser's doing.
pub(crate) fn no_tab(error: Option<&Value>) -> Failure {
    let code = error.and_then(|error| ErrorCode::deserialize(error.get("data")?).ok());
    let told = error.and_then(|error| error.get("message")?.as_str());
    match (code, told) {
        (Some(code), Some(told)) => Failure::new(code, told)
            .with_hint("`tabwire status` and `tabwire extension status` show how the browser is."),
        _ => Failure::new(ErrorCode::CdpError, "The browser opened no tab.")
            .with_hint("Check the address; `tabwire status` shows how the browser is."),
    }
}
