//! What a client of a hub holds while it is connected.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tabwire_api::SessionKey;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::audit::entry::AuditEntry;
use crate::endpoint::connections::Registration;
use crate::hub::client_label::ClientLabel;
use crate::policy::store::OneTimeGrant;

/// What a client holds while it is connected. Dropping it releases the slot and writes the disconnect row.
#[derive(Debug)]
pub(crate) struct ClientGuard {
    /// The client's name, as the browser's user sees it.
    pub(crate) name: ClientLabel,
    /// The session of a CDP client.
    pub(crate) session: Option<SessionKey>,
    /// Whether its session is open: it uses shared tabs without asking.
    pub(crate) is_open: bool,
    /// The slot of a single-client session.
    pub(crate) _permit: Option<OwnedSemaphorePermit>,
    /// What the user has allowed for this connection.
    pub(crate) _approval: Option<OneTimeGrant>,
    /// Writes the disconnect row when it is dropped.
    pub(crate) _disconnect: Option<AuditEntry>,
    /// Lists the client while it is connected.
    pub(crate) _registration: Option<Registration>,
    /// Signals the disconnect.
    pub(crate) watch: Option<LeaveSignal>,
}

/// Signals that a client has disconnected, and whether it closed its browser before.
#[derive(Debug)]
pub(crate) struct LeaveSignal {
    pub(crate) closed_browser: Arc<AtomicBool>,
    /// Dropped with the client, which wakes the receiver.
    pub(crate) _left: oneshot::Sender<()>,
}

impl ClientGuard {
    /// The guard of a session's own engine.
    pub(crate) const fn of_engine(name: ClientLabel, is_open: bool) -> Self {
        Self {
            name,
            session: None,
            is_open,
            _permit: None,
            _approval: None,
            _disconnect: None,
            _registration: None,
            watch: None,
        }
    }

    /// The guard of a connection that lists targets for clients.
    pub(crate) fn of_lister(name: String, is_open: bool) -> Self {
        Self {
            name: ClientLabel::new(name),
            session: None,
            is_open,
            _permit: None,
            _approval: None,
            _disconnect: None,
            _registration: None,
            watch: None,
        }
    }

    /// Records that the client disconnects because it closed its browser.
    pub(crate) fn set_closed_browser(&self) {
        if let Some(watch) = &self.watch {
            watch.closed_browser.store(true, Ordering::SeqCst);
        }
    }
}
