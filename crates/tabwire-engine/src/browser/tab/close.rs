//! Closes a tab: repeats `Target.closeTarget` until the tab is gone, or until the page opens a `beforeunload` dialog.

use std::time::Duration;

use serde_json::json;
use tabwire_api::{ErrorCode, Failure, TabId, TargetId};
use tabwire_cdp::{CdpError, Deadline, TargetInfo};

use crate::browser::Browser;

/// How long a tab may take to close before the command is repeated.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

impl Browser {
    /// Closes a tab and waits until it is gone.
    ///
    /// # Errors
    /// When there is no such tab, the browser refuses, or the page opens a `beforeunload` dialog.
    pub async fn close_tab(&self, tab: TabId, deadline: impl Into<Deadline>) -> Result<(), Failure> {
        let (target, deadline) = (self.find_target(tab)?, deadline.into());
        let mut destroyed = self.registry.on_destroyed();
        let page = self.find_page(&target);
        let is_it = |gone: &TargetInfo| gone.target_id == target;
        while self.registry.find(&target).is_some() {
            self.request_close(&target, deadline).await?;
            let timeout = tokio::time::Instant::now() + CLOSE_TIMEOUT;
            let gone = async {
                let until = Deadline::at(timeout.min(deadline.instant()));
                destroyed.find(is_it, until).await.map_err(CdpError::into_failure)
            };
            let closed = match &page {
                Some(page) => page.unless_blocked(gone).await,
                None => gone.await,
            };
            match closed {
                Err(failure) if failure.code == ErrorCode::DialogOpen => return Err(failure),
                // Chrome may drop the command while the page navigates. Sending it again is harmless.
                Err(failure) if failure.code == ErrorCode::Timeout && timeout >= deadline.instant() => {
                    return Err(failure);
                }
                Err(_) | Ok(_) => {}
            }
        }
        let mut state = self.state();
        state.pages.remove(&target);
        state.tab_ids.retain(|open| *open != target);
        Ok(())
    }

    /// Sends `Target.closeTarget`. A target that is already gone counts as closed.
    async fn request_close(&self, target: &TargetId, deadline: Deadline) -> Result<(), Failure> {
        let params = json!({"targetId": target});
        // Succeeds also while a `beforeunload` dialog is open (Chromium 156).
        match self.connection.browser().send("Target.closeTarget", &params, deadline).await {
            Ok(_) => Ok(()),
            Err(CdpError::Protocol { .. }) if self.registry.find(target).is_none() => Ok(()),
            Err(error) => Err(error.into_failure()),
        }
    }
}
