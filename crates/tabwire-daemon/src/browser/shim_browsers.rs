//! The browsers of Chrome shims: the live one on their profile, else a new one.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tabwire_api::Failure;
use tabwire_api::api::{ChromeOpening, ShimBrowser};
use tabwire_browser::{Display, Ownership};

use crate::browser::manager::BrowserManager;
use crate::browser::served::ServedBrowser;
use crate::wsl::host::obtain;
use crate::wsl::local::LocalHost;
use crate::wsl::windows::WindowsHost;

/// The label of a browser that was launched for a Chrome shim.
pub(crate) const CHROME: &str = "chrome";

impl BrowserManager {
    /// Gets the browser of a Chrome shim, and whether it was launched now. The caller becomes a user of it.
    pub(crate) async fn obtain_for_shim(
        &self,
        opening: &ChromeOpening,
    ) -> Result<(Arc<ServedBrowser>, Ownership), Failure> {
        let _sharing = self.sharing.lock().await;
        let (served, ownership) = match &opening.windows {
            None => obtain(&LocalHost::new(self, opening)?).await?,
            Some(windows) => obtain(&WindowsHost::new(self, opening, windows).await?).await?,
        };
        served.add_user();
        Ok((served, ownership))
    }

    /// The browsers that Chrome shims use or launched.
    pub(crate) fn list_for_shims(&self) -> Vec<ShimBrowser> {
        let is_paused = |served: &ServedBrowser| served.shim_connections.load(Ordering::SeqCst) > 0;
        let all = self.all(|served| is_paused(served) || is_for_shim(served));
        all.iter().map(|served| served.describe_for_shim()).collect()
    }

    /// Ends every browser that was launched for a Chrome shim; returns how many.
    pub(crate) async fn stop_shim_browsers(&self) -> usize {
        let mut stopped = 0;
        while let Some(served) = self.find(is_for_shim) {
            match self.stop(&served).await {
                Ok(()) => stopped += 1,
                Err(failure) => {
                    tracing::warn!(%failure, "the browser of a Chrome shim did not end; its keeper will end it");
                }
            }
        }
        stopped
    }
}

impl ServedBrowser {
    /// The status of a browser that Chrome shims use.
    fn describe_for_shim(&self) -> ShimBrowser {
        let (descriptor, windows) = (self.descriptor.as_ref(), self.windows.as_ref());
        let found = self.found.get();
        let address = self.address.as_ref();
        let display = self.display().or_else(|| found.and_then(|found| found.display));
        ShimBrowser {
            ownership: self.ownership.as_str().to_owned(),
            product: descriptor
                .and_then(|descriptor| descriptor.version.clone())
                .or_else(|| address.and_then(|address| address.product().map(str::to_owned)))
                .or_else(|| windows.and_then(|windows| windows.product.clone())),
            pid: descriptor
                .map(|descriptor| descriptor.browser.pid())
                .or_else(|| found.and_then(|found| found.pid))
                .or_else(|| windows.and_then(|windows| i32::try_from(windows.pid).ok())),
            profile: descriptor
                .map(|descriptor| descriptor.profile.clone())
                .or_else(|| found.map(|found| found.profile.clone()))
                .or_else(|| windows.map(|windows| windows.profile.clone().into())),
            headless: display.map(|display| display == Display::Headless),
            lines: self.shim_connections.load(Ordering::SeqCst),
        }
    }
}

/// Whether a browser was launched for a Chrome shim.
pub(crate) fn is_for_shim(served: &ServedBrowser) -> bool {
    let is_labelled =
        |descriptor: &tabwire_browser::BrowserDescriptor| descriptor.labels.contains_key(CHROME);
    let is_of_windows = served.windows.is_some() && served.ownership.may_close();
    is_of_windows || served.descriptor.as_ref().is_some_and(is_labelled)
}
