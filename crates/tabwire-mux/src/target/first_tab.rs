//! Tabs that the mux opens for nobody in particular: every client of the partition is shown them, as a browser's
//! first tab.

use std::time::Instant;

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, PartitionId, TargetId};

use crate::mux::Mux;
use crate::output::Output;
use crate::partition::table::PartitionScope;
use crate::routing::pending::InternalCommand;
use crate::target::entry::Owner;

impl Mux {
    /// Opens a tab that belongs to nobody in a partition; what became of it is reported under the ticket.
    pub fn open_tab(&mut self, ticket: u64, url: &str, partition: Option<PartitionId>, now: Instant) {
        match self.control.session() {
            Some(control) => {
                let mut params = json!({"url": url, "background": true});
                let place = partition.as_ref().and_then(|partition| self.partitions.find(partition));
                if let (Some(PartitionScope::Context(context)), Some(members)) =
                    (place, params.as_object_mut())
                {
                    members.insert("browserContextId".to_owned(), json!(context.as_str()));
                }
                self.router.send(
                    Some(&control),
                    "Target.createTarget",
                    params,
                    InternalCommand::OpenTab(ticket, partition),
                    now,
                );
            }
            None => self.router.push(Output::TabOpened { ticket, target: Err(no_tab(None)) }),
        }
    }

    pub(crate) fn tab_created(
        &mut self,
        id: u64,
        (ticket, partition): (u64, Option<PartitionId>),
        target: Result<&str, Failure>,
        now: Instant,
    ) {
        let nobodys = target.as_ref().ok().map(|target| (Owner::Unowned { released: 0, partition }, *target));
        self.target_created(id, nobodys, now);
        self.router.push(Output::TabOpened { ticket, target: target.map(TargetId::new) });
    }
}

/// Why there is no tab, from the error that was answered. What has one of our own codes was not the browser's doing.
pub(crate) fn no_tab(error: Option<&Value>) -> Failure {
    let code = error.and_then(|error| ErrorCode::deserialize(error.get("data")?).ok());
    let told = error.and_then(|error| error.get("message")?.as_str());
    match (code, told) {
        (Some(code), Some(told)) => Failure::new(code, told)
            .with_remedy("`tabwire status` and `tabwire extension status` show how the browser is."),
        _ => Failure::new(ErrorCode::CdpError, "The browser opened no tab.")
            .with_remedy("Check the address; `tabwire status` shows how the browser is."),
    }
}
