//! The states of the link to the browser.

/// Where the link to the browser stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkState {
    /// The house session is being made; clients' frames wait.
    Starting,
    /// Frames flow.
    Connected,
    /// The browser is gone; clients that stay are kept until the next request brings it back.
    Degraded,
    /// No more clients; the browser is being let go.
    Closing,
}
