//! Taking up the browsers an earlier daemon left with their keepers, and clearing what it left behind.

use std::time::Duration;

use tabwire_wire::SessionName;

use crate::daemon::Daemon;
use crate::fleet::in_background;
use crate::sweeping::sweep_all;

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
        for descriptor in swept.live {
            let id = descriptor.id.clone();
            let Some(name) = descriptor.labels.get("session").and_then(|name| SessionName::new(name).ok())
            else {
                continue;
            };
            let adopted = async {
                let browser = self.fleet.claim(descriptor, PATIENCE).await?;
                self.sessions.obtain(&name)?.adopt(browser).await
            };
            match adopted.await {
                Ok(()) => tracing::info!(browser = %id, session = %name, "a browser was taken up again"),
                Err(failure) => {
                    tracing::warn!(browser = %id, session = %name, %failure, "a browser was not taken up");
                }
            }
        }
    }
}
