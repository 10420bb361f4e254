//! Where the browsers of stand-ins run: on this system, or on the Windows around it. Knows neither.

use std::sync::Arc;

use tabwire_browser::{Display, Ownership};
use tabwire_wire::{ErrorCode, Failure};

use crate::served_browser::ServedBrowser;

/// A live browser that was found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) served: Arc<ServedBrowser>,
    /// Whether it has a window, as far as that is known.
    pub(crate) display: Option<Display>,
}

impl Found {
    /// One that is served already.
    pub(crate) fn served(served: Arc<ServedBrowser>) -> Self {
        let display = served.display();
        Self { served, display }
    }
}

/// A system that browsers run on, asked for one certain browser of a stand-in.
pub(crate) trait Host {
    /// The profile directory that says which browser is meant, for people.
    fn profile(&self) -> String;

    /// Whether the browser is to have a window.
    fn display(&self) -> Display;

    /// The live browser that is meant.
    fn find(&self) -> impl Future<Output = Result<Option<Found>, Failure>> + Send;

    /// Starts it, and waits until it answers.
    fn launch(&self) -> impl Future<Output = Result<Arc<ServedBrowser>, Failure>> + Send;
}

/// Gets the browser that is meant: the live one if there is one, else a new one. Says which it was.
pub(crate) async fn obtain(host: &impl Host) -> Result<(Arc<ServedBrowser>, Ownership), Failure> {
    match host.find().await? {
        Some(Found { served, display }) => {
            check_display(display, host)?;
            Ok((served, Ownership::Attached))
        }
        None => Ok((host.launch().await?, Ownership::Launched)),
    }
}

/// A browser with a window is no stand-in for one without, nor the other way round.
pub(crate) fn check_display(found: Option<Display>, host: &impl Host) -> Result<(), Failure> {
    let wanted = host.display();
    let Some(found) = found.filter(|found| *found != wanted) else { return Ok(()) };
    let word = |display| if display == Display::Headless { "without a window" } else { "with a window" };
    let message =
        format!("A browser {} runs on {}, and one {} is wanted.", word(found), host.profile(), word(wanted));
    Err(Failure::new(ErrorCode::ProfileLocked, message)
        .with_hint("Close that browser, or give the launcher another profile directory."))
}
