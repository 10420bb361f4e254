//! Browsers for programs that stand in for one: the live one on their profile, else a new one.

use std::sync::Arc;

use tabwire_browser::Ownership;
use tabwire_wire::Failure;
use tabwire_wire::api::ChromeOpening;

use crate::fleet::Fleet;
use crate::host::obtain;
use crate::local_host::LocalHost;
use crate::served_browser::ServedBrowser;
use crate::windows_host::WindowsHost;

/// The label of a browser that was launched for a stand-in.
pub(crate) const CHROME: &str = "chrome";

impl Fleet {
    /// Gets a stand-in its browser, and says whether it was launched now. The caller becomes a user of it.
    pub(crate) async fn obtain_for_chrome(
        &self,
        wish: &ChromeOpening,
    ) -> Result<(Arc<ServedBrowser>, Ownership), Failure> {
        let _sharing = self.sharing.lock().await;
        let (served, ownership) = match &wish.windows {
            None => obtain(&LocalHost::new(self, wish)?).await?,
            Some(windows) => obtain(&WindowsHost::new(self, wish, windows).await?).await?,
        };
        served.add_user();
        Ok((served, ownership))
    }

    /// Ends every browser that was launched for a stand-in; says how many.
    pub(crate) async fn stop_chrome(&self) -> usize {
        let mut stopped = 0;
        while let Some(served) = self.find(is_for_chrome) {
            match self.stop(&served).await {
                Ok(()) => stopped += 1,
                Err(failure) => {
                    tracing::warn!(%failure, "a stand-in's browser did not end; its keeper will do that");
                }
            }
        }
        stopped
    }
}

/// Whether a browser was launched for a stand-in.
pub(crate) fn is_for_chrome(served: &ServedBrowser) -> bool {
    let is_labelled =
        |descriptor: &tabwire_browser::BrowserDescriptor| descriptor.labels.contains_key(CHROME);
    let is_of_windows = served.windows.is_some() && served.ownership.may_close();
    is_of_windows || served.descriptor.as_ref().is_some_and(is_labelled)
}
