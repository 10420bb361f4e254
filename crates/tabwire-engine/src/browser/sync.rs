//! Being sure of what the browser has told of by now. Knows nothing of pages.

use tabwire_api::Failure;
use tabwire_cdp::CdpError;

use super::Browser;
use crate::limits::SETUP_DEADLINE;

impl Browser {
    /// Waits until every tab that the browser has told of by now is known.
    ///
    /// # Errors
    /// When the browser does not respond.
    pub async fn sync(&self) -> Result<(), Failure> {
        // Any response will do: what was told before it is taken in before it.
        let response = self.connection.browser().send("Browser.getVersion", &(), SETUP_DEADLINE).await;
        response.map(drop).map_err(CdpError::into_failure)
    }
}
