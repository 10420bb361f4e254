//! All sessions of a daemon, by key and by the secret of their URLs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tabwire_api::{Failure, SessionKey};

use crate::http::token::Token;
use crate::session::store::SessionStore;
use crate::session::{Session, SessionDeps};

#[derive(Debug)]
pub(crate) struct SessionTable {
    deps: SessionDeps,
    sessions: Mutex<BTreeMap<SessionKey, Arc<Session>>>,
}

impl SessionTable {
    pub(crate) fn new(deps: SessionDeps) -> Self {
        Self { deps, sessions: Mutex::new(BTreeMap::new()) }
    }

    fn sessions(&self) -> MutexGuard<'_, BTreeMap<SessionKey, Arc<Session>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The directory of session records.
    pub(crate) fn store(&self) -> &Arc<SessionStore> {
        &self.deps.store
    }

    /// The session of that name, created if there is none. The secret of its URL is read from its record.
    pub(crate) fn obtain(&self, key: &SessionKey) -> Result<Arc<Session>, Failure> {
        let mut sessions = self.sessions();
        if let Some(session) = sessions.get(key) {
            return Ok(Arc::clone(session));
        }
        let record = self.store().find(key);
        let saved = record.as_ref().and_then(|record| Token::find(&record.secret));
        let secret = match saved {
            Some(secret) => secret,
            None => Token::draw().map_err(Failure::no_random_bytes)?,
        };
        let remembered = record.map(|record| record.remembered).unwrap_or_default();
        let session = Arc::new(Session::new(key.clone(), secret, remembered, self.deps.clone()));
        sessions.insert(key.clone(), Arc::clone(&session));
        Ok(session)
    }

    /// The session of that name, if it exists or has a record.
    pub(crate) fn find(&self, key: &SessionKey) -> Option<Arc<Session>> {
        let found = self.sessions().get(key).cloned();
        found.or_else(|| self.store().find(key).and_then(|_| self.obtain(key).ok()))
    }

    pub(crate) fn all(&self) -> Vec<Arc<Session>> {
        self.sessions().values().cloned().collect()
    }

    pub(crate) fn forget(&self, key: &SessionKey) {
        self.sessions().remove(key);
    }
}

impl SessionTable {
    /// The session with this secret.
    pub(crate) fn find_by_secret(&self, secret: &str) -> Option<SessionKey> {
        let sessions = self.sessions();
        // All sessions are compared, so that the time does not depend on the match.
        let mut found = None;
        for session in sessions.values() {
            if session.secret.matches(secret) {
                found = Some(session.key.clone());
            }
        }
        found
    }
}
