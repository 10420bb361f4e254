//! Browsers for programs that stand in for one: the live one on their profile, else a new one.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tabwire_browser::{Display, Ownership};
use tabwire_wire::Failure;
use tabwire_wire::api::{ChromeOpening, StandInBrowser};

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

    /// The browsers that stand-ins hold, or had started.
    pub(crate) fn list_for_chrome(&self) -> Vec<StandInBrowser> {
        let is_held = |served: &ServedBrowser| served.stand_in_lines.load(Ordering::SeqCst) > 0;
        let all = self.all(|served| is_held(served) || is_for_chrome(served));
        all.iter().map(|served| served.describe_for_chrome()).collect()
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

impl ServedBrowser {
    /// What is told of a browser that stand-ins hold.
    fn describe_for_chrome(&self) -> StandInBrowser {
        let (descriptor, windows) = (self.descriptor.as_ref(), self.windows.as_ref());
        StandInBrowser {
            ownership: if self.ownership.may_close() { "launched" } else { "attached" }.to_owned(),
            product: descriptor
                .and_then(|descriptor| descriptor.version.clone())
                .or_else(|| windows.and_then(|windows| windows.product.clone())),
            pid: descriptor
                .map(|descriptor| descriptor.browser.pid())
                .or_else(|| windows.and_then(|windows| i32::try_from(windows.pid).ok())),
            profile: descriptor
                .map(|descriptor| descriptor.profile.clone())
                .or_else(|| windows.map(|windows| windows.profile.clone().into())),
            headless: self.display().map(|display| display == Display::Headless),
            lines: self.stand_in_lines.load(Ordering::SeqCst),
        }
    }
}

/// Whether a browser was launched for a stand-in.
pub(crate) fn is_for_chrome(served: &ServedBrowser) -> bool {
    let is_labelled =
        |descriptor: &tabwire_browser::BrowserDescriptor| descriptor.labels.contains_key(CHROME);
    let is_of_windows = served.windows.is_some() && served.ownership.may_close();
    is_of_windows || served.descriptor.as_ref().is_some_and(is_labelled)
}
