//! The list of clients that are attached to the tabs of one browser. The extension shows it to the user.

use std::collections::{BTreeMap, BTreeSet};

use tabwire_api::TargetId;
use tokio::sync::watch;

use crate::hub::client_label::ShownClient;

/// The clients of one browser.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BrowserClients {
    /// The clients that are attached to each target, in the order of attachment.
    pub(crate) attached: BTreeMap<TargetId, Vec<ShownClient>>,
    /// The clients of open sessions, which use shared tabs without asking.
    pub(crate) open: BTreeSet<String>,
}

/// The attachments of one browser, which its hub updates.
#[derive(Clone, Debug, Default)]
pub(crate) struct AttachmentList(watch::Sender<BrowserClients>);

impl AttachmentList {
    /// Receives the list when it changes.
    pub(crate) fn changes(&self) -> watch::Receiver<BrowserClients> {
        self.0.subscribe()
    }

    /// Replaces the list.
    pub(crate) fn write(
        &self,
        attachments: impl Iterator<Item = (ShownClient, TargetId)>,
        open: BTreeSet<String>,
    ) {
        let mut clients = BrowserClients { open, ..BrowserClients::default() };
        for (client, target) in attachments {
            let known = clients.attached.entry(target).or_default();
            if !known.contains(&client) {
                known.push(client);
            }
        }
        self.0.send_if_modified(|current| {
            let is_new = *current != clients;
            *current = clients;
            is_new
        });
    }
}
