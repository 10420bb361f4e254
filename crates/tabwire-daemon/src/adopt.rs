//! Taking up the browsers an earlier daemon left with their keepers, and clearing what it left behind.

use std::sync::Arc;
use std::time::Duration;

use tabwire_browser::BrowserDescriptor;
use tabwire_mux::RealmPlace;
use tabwire_wire::Failure;

use crate::chrome_fleet::CHROME;
use crate::daemon::Daemon;
use crate::fleet::in_background;
use crate::mcp_guest::is_throw_away;
use crate::session::gone;
use crate::session_record::{RunningRecord, SessionRecord};
use crate::sweeping::sweep_all;

/// How long a keyring may take to give the vault's key.
const VAULT_PATIENCE: Duration = Duration::from_secs(2);

/// How long an earlier daemon's claim is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

impl Daemon {
    /// Sweeps stale descriptors and claims every live browser for its session.
    pub(crate) async fn adopt(&self) {
        let paths = self.config.paths.clone();
        let swept = match in_background(move || sweep_all(&paths)).await {
            Ok(swept) => swept,
            Err(failure) => {
                tracing::warn!(%failure, "what an earlier daemon left could not be looked at");
                return;
            }
        };
        if !swept.removed.is_empty() {
            tracing::info!(removed = ?swept.removed, "cleared what was stale");
        }
        self.forget_lost_guests();
        let records = self.running_records();
        if !records.is_empty() {
            self.learn_secrets().await;
        }
        for descriptor in swept.live {
            let id = descriptor.id.clone();
            let sessions: Vec<_> =
                records.iter().filter(|(_, running)| running.browser.as_ref() == Some(&id)).collect();
            if sessions.is_empty() && descriptor.labels.contains_key(CHROME) {
                // Its stand-in may come back for it; if not, its keeper ends it soon.
                continue;
            }
            if sessions.is_empty() {
                self.end_nobodys(descriptor);
                continue;
            }
            let adopted = self.adopt_browser(descriptor, &sessions).await;
            match adopted {
                Ok(()) => {
                    tracing::info!(browser = %id, sessions = sessions.len(), "a browser was taken up again");
                }
                Err(failure) => tracing::warn!(browser = %id, %failure, "a browser was not taken up"),
            }
        }
    }

    /// An earlier daemon may have filled secrets into pages that are still open. What is sealed with a passphrase is
    /// learned only when it is used again.
    async fn learn_secrets(&self) {
        let vault = self.vault();
        let listing = tokio::task::spawn_blocking(move || vault.list(None));
        match tokio::time::timeout(VAULT_PATIENCE, listing).await {
            Ok(Ok(Ok(logins))) => logins.iter().for_each(|login| self.concealment.learn(login)),
            Ok(Ok(Err(failure))) => tracing::info!(%failure, "the saved logins were not looked at"),
            Ok(Err(_)) | Err(_) => tracing::warn!("the saved logins could not be looked at in time"),
        }
    }

    /// Forgets sessions that were made for MCP clients: those went with the daemon that served them. Their browsers are
    /// then nobody's.
    fn forget_lost_guests(&self) {
        let store = self.sessions.store();
        for key in store.list(None).iter().filter(|key| is_throw_away(&key.name)) {
            store.forget_record(key);
        }
    }

    /// Sessions that had a browser when they were last written down.
    fn running_records(&self) -> Vec<(SessionRecord, RunningRecord)> {
        let store = self.sessions.store();
        let records = store.list(None).into_iter().filter_map(|key| store.find(&key));
        records.filter_map(|record| Some((record.clone(), record.running?))).collect()
    }

    /// Ends a browser whose daemon was lost before a session was written down for it: nobody can ever ask for it.
    fn end_nobodys(&self, descriptor: BrowserDescriptor) {
        tracing::info!(browser = %descriptor.id, "no session has this browser; it is ended");
        let fleet = Arc::clone(&self.fleet);
        self.tasks.start("nobodys-browser", async move {
            if let Err(failure) = fleet.end_described(&descriptor).await {
                tracing::warn!(browser = %descriptor.id, %failure, "it did not end; its keeper will do that");
            }
        });
    }

    /// Claims a browser for all sessions that live in it.
    async fn adopt_browser(
        &self,
        descriptor: BrowserDescriptor,
        sessions: &[&(SessionRecord, RunningRecord)],
    ) -> Result<(), Failure> {
        let browser = self.fleet.claim(descriptor, PATIENCE).await?;
        // Every session's part is set aside before the first of them looks.
        for (_, running) in sessions {
            let Some(realm) = running.realm.clone() else { continue };
            let place = match &running.context {
                Some(context) => RealmPlace::Context(context.clone()),
                None => RealmPlace::Tabs(running.book.targets()),
            };
            browser.hub.reserve(realm, place).await.map_err(gone)?;
        }
        for (record, running) in sessions {
            browser.keep_epoch(running.book.epoch());
            browser.add_user();
            let session = self.sessions.obtain(&record.key())?;
            session.adopt(Arc::clone(&browser), record.clone(), running.clone()).await?;
        }
        Ok(())
    }
}
