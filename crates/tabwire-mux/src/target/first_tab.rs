//! Tabs that the mux opens for the session: they have no owner, and clients see them as the session's.

use std::time::Instant;

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, PartitionId, Remedy, Step, TargetId};

use crate::mux::Mux;
use crate::output::Output;
use crate::partition::table::PartitionScope;
use crate::routing::pending::InternalCommand;
use crate::target::entry::Owner;

impl Mux {
    /// Opens a tab of the session, without an owner, in a partition; [`Output::TabOpened`] reports the result with the ticket.
    pub fn open_tab(&mut self, ticket: u64, url: &str, partition: Option<PartitionId>, now: Instant) {
        match self.control.session() {
            Some(control) => {
                // In a browser with a window, a tab without `background` takes the focus from the user.
                let mut params = json!({"url": url, "background": true});
                let place = partition.as_ref().and_then(|partition| self.state.partitions.find(partition));
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
        let unowned =
            target.as_ref().ok().map(|target| (Owner::Unowned { is_users: false, partition }, *target));
        self.target_created(id, unowned, now);
        self.router.push(Output::TabOpened { ticket, target: target.map(TargetId::new) });
    }
}

/// The reason for a missing tab, from the error response. An error with a code of Tabwire was not sent by the
/// browser.
pub(crate) fn no_tab(error: Option<&Value>) -> Failure {
    let code = error.and_then(|error| ErrorCode::deserialize(error.get("data")?).ok());
    let message = error.and_then(|error| error.get("message")?.as_str());
    match (code, message) {
        (Some(code), Some(message)) => Failure::new(code, message).with_remedy(Remedy::new(
            "{} and {} show the state of the browser.",
            [Step::command("tabwire status"), Step::command("tabwire extension status")],
        )),
        _ => Failure::new(ErrorCode::CdpError, "The browser opened no tab.").with_remedy(Remedy::new(
            "Check the URL; {} shows the state of the browser.",
            [Step::command("tabwire status")],
        )),
    }
}
