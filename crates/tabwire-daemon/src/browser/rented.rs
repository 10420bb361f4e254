//! Serves rented browsers.

use std::sync::Arc;

use tabwire_api::api::{Isolation, SessionOptions};
use tabwire_api::{ErrorCode, Failure, Remedy, SessionKey, Step};
use tabwire_browser::Ownership;

use crate::browser::manager::BrowserManager;
use crate::browser::served::ServedBrowser;

impl BrowserManager {
    /// Rents a browser. It belongs to the one session, so no lock is held while a Grid lets the request wait.
    pub(crate) async fn rent(
        &self,
        options: &SessionOptions,
        key: &SessionKey,
    ) -> Result<Arc<ServedBrowser>, Failure> {
        if options.isolation() != Isolation::Own {
            let message = "A rented browser belongs to one session, so it is not shared with others.";
            return Err(Failure::new(ErrorCode::BadArgs, message)
                .with_remedy(Remedy::new("Use {}.", [Step::argument_value("isolation", "own")])));
        }
        let (link, rental) = self.rentals.rent(options, key).await?;
        tracing::info!(place = %rental.place(), session = %key, "a browser was rented");
        let held = Arc::clone(&rental);
        let make = |hub, upstream| {
            ServedBrowser::new(hub, upstream, Ownership::Rented, None, None).with_rental(held)
        };
        match self.serve_as(link, make).await {
            Ok(served) => {
                rental.watch(served.hub.clone());
                served.add_user();
                Ok(served)
            }
            Err(failure) => {
                // Tried again in the background when it fails.
                let _ = rental.release().await;
                Err(failure)
            }
        }
    }
}
