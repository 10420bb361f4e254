//! Adopts the browsers that an earlier daemon left with their keepers, and removes its stale files.

use std::sync::Arc;
use std::time::Duration;

use tabwire_api::Failure;
use tabwire_browser::BrowserDescriptor;
use tabwire_mux::PartitionScope;

use crate::browser::background::in_background;
use crate::browser::shim_browsers::CHROME;
use crate::browser::sweep::sweep_all;
use crate::daemon::Daemon;
use crate::endpoint::mcp_connection::is_temporary;
use crate::session::gone;
use crate::session::record::{RunningRecord, SessionRecord};

/// How long a keyring may take to give the vault's key.
const VAULT_TIMEOUT: Duration = Duration::from_secs(2);

/// How long to wait for the claim of an earlier daemon to end.
const TIMEOUT: Duration = Duration::from_secs(10);

impl Daemon {
    /// Sweeps stale descriptors and claims every live browser for its session.
    pub(crate) async fn adopt(&self) {
        let paths = self.config.paths.clone();
        let swept = match in_background(move || sweep_all(&paths)).await {
            Ok(swept) => swept,
            Err(failure) => {
                tracing::warn!(%failure, "the browsers of an earlier daemon could not be listed");
                return;
            }
        };
        if !swept.removed.is_empty() {
            tracing::info!(removed = ?swept.removed, "removed stale files");
        }
        self.browsers.rentals.sweep();
        self.forget_mcp_sessions();
        let records = self.running_records();
        if !records.is_empty() {
            self.load_secrets().await;
        }
        for descriptor in swept.live {
            let id = descriptor.id.clone();
            let sessions: Vec<_> =
                records.iter().filter(|(_, running)| running.browser.as_ref() == Some(&id)).collect();
            if sessions.is_empty() && descriptor.labels.contains_key(CHROME) {
                // Its Chrome shim may reconnect. Otherwise its keeper ends it soon.
                continue;
            }
            if sessions.is_empty() {
                self.end_unused(descriptor);
                continue;
            }
            let adopted = self.adopt_browser(descriptor, &sessions).await;
            match adopted {
                Ok(()) => {
                    tracing::info!(browser = %id, sessions = sessions.len(), "adopted a browser");
                }
                Err(failure) => tracing::warn!(browser = %id, %failure, "a browser was not adopted"),
            }
        }
    }

    /// Loads the saved logins for redaction: an earlier daemon may have filled them into pages that are still open. Logins
    /// that are sealed with a passphrase are loaded when they are used again.
    async fn load_secrets(&self) {
        let vault = self.vault();
        let listing = tokio::task::spawn_blocking(move || vault.list(None));
        match tokio::time::timeout(VAULT_TIMEOUT, listing).await {
            Ok(Ok(Ok(logins))) => logins.iter().for_each(|login| self.redactor.learn(login)),
            Ok(Ok(Err(failure))) => tracing::info!(%failure, "the saved logins were not loaded"),
            Ok(Err(_)) | Err(_) => tracing::warn!("the saved logins were not loaded in time"),
        }
    }

    /// Removes the records of sessions that were created for MCP clients: those were disconnected with the earlier daemon.
    /// Their browsers then have no session, and are ended. Their tabs in browsers of the user are closed at the next use.
    fn forget_mcp_sessions(&self) {
        let store = self.sessions.store();
        for key in store.list(None).iter().filter(|key| is_temporary(&key.name)) {
            let running = store.find(key).and_then(|record| record.running);
            if let Some((run, running)) = running.and_then(|running| Some((running.run.clone()?, running))) {
                self.browsers.close_later(run, running.own_targets());
            }
            store.forget_record(key);
        }
    }

    /// The session records with a browser.
    fn running_records(&self) -> Vec<(SessionRecord, RunningRecord)> {
        let store = self.sessions.store();
        let records = store.list(None).into_iter().filter_map(|key| store.find(&key));
        records.filter_map(|record| Some((record.clone(), record.running?))).collect()
    }

    /// Ends a browser that no session record names: its daemon died before it wrote one.
    fn end_unused(&self, descriptor: BrowserDescriptor) {
        tracing::info!(browser = %descriptor.id, "no session has this browser; ending it");
        let browsers = Arc::clone(&self.browsers);
        self.tasks.start("end-unused-browser", async move {
            if let Err(failure) = browsers.stop_by_descriptor(&descriptor, None).await {
                tracing::warn!(browser = %descriptor.id, %failure, "it did not end; its keeper will end it");
            }
        });
    }

    /// Claims a browser for all sessions that live in it.
    async fn adopt_browser(
        &self,
        descriptor: BrowserDescriptor,
        sessions: &[&(SessionRecord, RunningRecord)],
    ) -> Result<(), Failure> {
        let browser = self.browsers.claim(descriptor, TIMEOUT).await?;
        // All partitions are reserved before the first session lists its tabs.
        for (_, running) in sessions {
            let Some(partition) = running.partition.clone() else { continue };
            let place = match &running.context {
                Some(context) => PartitionScope::Context(context.clone()),
                None => PartitionScope::Tabs(running.own_targets()),
            };
            browser.hub.reserve(partition, place).await.map_err(gone)?;
        }
        for (record, running) in sessions {
            browser.keep_epoch(running.tab_ids.epoch());
            browser.add_user();
            let session = self.sessions.obtain(&record.key())?;
            session.adopt(Arc::clone(&browser), record.clone(), running.clone()).await?;
        }
        Ok(())
    }
}
