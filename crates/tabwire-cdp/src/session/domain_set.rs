//! The domains enabled on one CDP session, each exactly once. Knows nothing of sockets.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;

/// Which domains of a CDP session are enabled.
///
/// Callers at the same time share one command; a failed one is tried again by the next caller.
#[derive(Debug, Default)]
pub(crate) struct DomainSet {
    domains: Mutex<HashMap<String, Arc<OnceCell<()>>>>,
}

impl DomainSet {
    /// Runs `enable` unless the domain is enabled already or somebody else is enabling it.
    pub(crate) async fn ensure<E, F>(&self, domain: &str, enable: impl FnOnce() -> F) -> Result<(), E>
    where
        F: Future<Output = Result<(), E>>,
    {
        let cell = Arc::clone(self.lock().entry(domain.to_owned()).or_default());
        cell.get_or_try_init(enable).await?;
        Ok(())
    }

    pub(crate) fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<OnceCell<()>>>> {
        self.domains.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
