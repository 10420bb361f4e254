//! Waits until all target events that Chrome has sent are processed.

use tabwire_api::Failure;
use tabwire_cdp::CdpError;

use super::Browser;
use crate::limits::SETUP_DEADLINE;

impl Browser {
    /// Waits until every tab that exists now is in the target registry.
    ///
    /// # Errors
    /// When the browser does not respond.
    pub async fn sync(&self) -> Result<(), Failure> {
        // Any command works: Chrome sends events and responses in order, and they are processed in that order.
        let response = self.connection.browser().send("Browser.getVersion", &(), SETUP_DEADLINE).await;
        response.map(drop).map_err(CdpError::into_failure)
    }
}
