//! The list of clients that are attached to the tabs of one browser. The extension shows it to the user.

use std::collections::BTreeMap;

use serde::Serialize;
use tabwire_api::TargetId;
use tokio::sync::watch;

/// The clients that are attached to one target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Driver {
    pub(crate) target: TargetId,
    /// Names of clients, in the order of attachment.
    pub(crate) who: Vec<String>,
}

/// The attachments of one browser, which its hub updates.
#[derive(Clone, Debug, Default)]
pub(crate) struct AttachmentList(watch::Sender<Vec<Driver>>);

impl AttachmentList {
    /// Receives the list when it changes.
    pub(crate) fn changes(&self) -> watch::Receiver<Vec<Driver>> {
        self.0.subscribe()
    }

    /// Replaces the list.
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
