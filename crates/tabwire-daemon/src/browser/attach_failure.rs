//! Failures of attaching to a browser that is there already.

use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_browser::WebsocketUrl;
use tabwire_cdp::TransportError;

/// The failure when another browser responds at the URL of the one that the session was attached to.
pub(crate) fn other_browser(found: &WebsocketUrl, address: &str) -> Failure {
    let product = found.product().map(|product| format!(" ({product})")).unwrap_or_default();
    let message = format!("The browser of this session is gone. Another one{product} responds at {found}.");
    Failure::new(ErrorCode::BrowserGone, message).with_remedy(Remedy::new(
        "Nothing was done in it. Run {} to use it.",
        [Step::command(format!("tabwire connect {address}"))],
    ))
}

/// The failure when a browser cannot be attached to.
pub(crate) fn unreachable(error: TransportError) -> Failure {
    let failure = error.into_failure();
    if failure.code != ErrorCode::BrowserGone {
        return failure;
    }
    Failure::new(ErrorCode::NoBackend, format!("The browser could not be reached: {failure}."))
        .with_remedy("Check that it runs with remote debugging and that the URL is current.")
}
