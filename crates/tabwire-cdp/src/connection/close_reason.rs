//! Why a connection ended. Knows nothing of commands.

use crate::transport::TransportError;

/// Why a connection ended, as told to everybody who waited on it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CloseReason {
    /// The browser closed its end, or exited.
    #[error("the browser closed the connection")]
    PeerClosed,
    /// Our side closed it.
    #[error("the connection was closed from this side")]
    ClosedHere,
    /// The transport failed.
    #[error("the link failed: {0}")]
    Transport(#[source] TransportError),
}
