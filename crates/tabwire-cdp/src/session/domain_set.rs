//! The domains enabled on one CDP session, each exactly once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;

/// The enabled domains of a CDP session.
///
/// Concurrent callers share one command; after a failure the next caller tries again.
#[derive(Debug, Default)]
pub(crate) struct DomainSet {
    domains: Mutex<HashMap<String, Arc<OnceCell<()>>>>,
}

impl DomainSet {
    /// Runs `enable` unless the domain is enabled already or another caller is enabling it.
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
