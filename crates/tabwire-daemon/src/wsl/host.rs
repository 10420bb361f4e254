//! The host of a Chrome shim's browser: this system, or the Windows around WSL.

use std::sync::Arc;

use tabwire_api::{ErrorCode, Failure};
use tabwire_browser::{Display, Ownership};

use crate::browser::served::ServedBrowser;

/// A live browser.
#[derive(Debug)]
pub(crate) struct LiveBrowser {
    pub(crate) served: Arc<ServedBrowser>,
    /// Whether it has a window, if known.
    pub(crate) display: Option<Display>,
}

impl LiveBrowser {
    /// A browser that is already served.
    pub(crate) fn served(served: Arc<ServedBrowser>) -> Self {
        let display = served.display();
        Self { served, display }
    }
}

/// A system on which the browser of one Chrome shim runs.
pub(crate) trait Host {
    /// The profile directory, for messages.
    fn profile(&self) -> String;

    /// Whether the browser should have a window.
    fn display(&self) -> Display;

    /// The live browser on the profile, if any.
    fn find(&self) -> impl Future<Output = Result<Option<LiveBrowser>, Failure>> + Send;

    /// Launches it, and waits until it responds.
    fn launch(&self) -> impl Future<Output = Result<Arc<ServedBrowser>, Failure>> + Send;
}

/// The live browser if there is one, else a new one; and which of both.
pub(crate) async fn obtain(host: &impl Host) -> Result<(Arc<ServedBrowser>, Ownership), Failure> {
    match host.find().await? {
        Some(LiveBrowser { served, display }) => {
            check_display(display, host)?;
            Ok((served, Ownership::Attached))
        }
        None => Ok((host.launch().await?, Ownership::Launched)),
    }
}

/// Refuses a headed browser where a headless one is requested, and the other way round.
pub(crate) fn check_display(found: Option<Display>, host: &impl Host) -> Result<(), Failure> {
    let wanted = host.display();
    let Some(found) = found.filter(|found| *found != wanted) else { return Ok(()) };
    let word = |display| if display == Display::Headless { "without a window" } else { "with a window" };
    let message = format!(
        "A browser {} runs on {}, but one {} was requested.",
        word(found),
        host.profile(),
        word(wanted)
    );
    Err(Failure::new(ErrorCode::ProfileLocked, message)
        .with_remedy("Close that browser, or give the launcher another profile directory."))
}
