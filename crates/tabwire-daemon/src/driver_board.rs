//! Who is attached to which tab of one browser, for its user to see. Knows nothing of how it is shown.

use std::collections::BTreeMap;

use serde::Serialize;
use tabwire_wire::TargetId;
use tokio::sync::watch;

/// Who is attached to one target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Driver {
    /// The target.
    pub(crate) target: TargetId,
    /// Names of clients, in the order in which they came.
    pub(crate) who: Vec<String>,
}

/// Where a hub writes down who drives what.
#[derive(Clone, Debug, Default)]
pub(crate) struct DriverBoard(watch::Sender<Vec<Driver>>);

impl DriverBoard {
    /// Tells when it reads otherwise.
    pub(crate) fn changes(&self) -> watch::Receiver<Vec<Driver>> {
        self.0.subscribe()
    }

    /// Writes down who is attached to what now.
    pub(crate) fn write(&self, attachments: impl Iterator<Item = (String, TargetId)>) {
        let mut drivers: BTreeMap<TargetId, Vec<String>> = BTreeMap::new();
        for (name, target) in attachments {
            let names = drivers.entry(target).or_default();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let drivers: Vec<Driver> = drivers.into_iter().map(|(target, who)| Driver { target, who }).collect();
        self.0.send_if_modified(|current| {
            let is_new = *current != drivers;
            *current = drivers;
            is_new
        });
    }
}
