//! The state that all handles of one CDP session share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use tabwire_api::CdpSessionId;

use crate::connection::Core;
use crate::error::CdpError;
use crate::session::domain_set::DomainSet;

/// Shared by the handles of one CDP session; dropping the last one notifies the router.
#[derive(Debug)]
pub(crate) struct SessionState {
    /// `None` is the browser itself.
    id: Option<CdpSessionId>,
    life: Arc<SessionLife>,
    core: Weak<Core>,
}

/// Whether the session is attached, and its enabled domains.
#[derive(Debug, Default)]
pub(crate) struct SessionLife {
    gone: AtomicBool,
    domains: DomainSet,
}

impl SessionState {
    pub(crate) fn new(id: Option<CdpSessionId>, core: Weak<Core>) -> Self {
        Self { id, life: Arc::default(), core }
    }

    pub(crate) fn id(&self) -> Option<&CdpSessionId> {
        self.id.as_ref()
    }

    pub(crate) fn life(&self) -> &Arc<SessionLife> {
        &self.life
    }

    pub(crate) fn check_alive(&self) -> Result<(), CdpError> {
        match &self.id {
            Some(session) if self.life.is_over() => Err(CdpError::SessionGone { session: session.clone() }),
            _ => Ok(()),
        }
    }
}

impl Drop for SessionState {
    fn drop(&mut self) {
        if let (Some(id), Some(core)) = (&self.id, self.core.upgrade()) {
            core.router().release(id);
        }
    }
}

impl SessionLife {
    /// Records the detach and clears the enabled domains.
    pub(crate) fn end(&self) {
        self.gone.store(true, Ordering::Release);
        self.domains.clear();
    }

    pub(crate) fn is_over(&self) -> bool {
        self.gone.load(Ordering::Acquire)
    }

    pub(crate) fn domains(&self) -> &DomainSet {
        &self.domains
    }
}
