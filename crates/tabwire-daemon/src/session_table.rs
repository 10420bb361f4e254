//! All sessions of a daemon, by name and by address secret.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tabwire_cdp::TaskGroup;
use tabwire_wire::{ErrorCode, Failure, SessionName};

use crate::file_shelf::FileShelf;
use crate::gate::Secrets;
use crate::session::{LiveSession, Session};
use crate::session_record::SessionRecord;
use crate::token::Token;

#[derive(Debug)]
pub(crate) struct SessionTable {
    directory: PathBuf,
    files: Arc<FileShelf>,
    tasks: TaskGroup,
    sessions: Mutex<BTreeMap<SessionName, Arc<Session>>>,
}

impl SessionTable {
    pub(crate) fn new(directory: PathBuf, files: Arc<FileShelf>, tasks: TaskGroup) -> Self {
        Self { directory, files, tasks, sessions: Mutex::new(BTreeMap::new()) }
    }

    fn sessions(&self) -> MutexGuard<'_, BTreeMap<SessionName, Arc<Session>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session of that name, made if there is none; its address secret outlives daemons.
    pub(crate) fn obtain(&self, name: &SessionName) -> Result<Arc<Session>, Failure> {
        let mut sessions = self.sessions();
        if let Some(session) = sessions.get(name) {
            return Ok(Arc::clone(session));
        }
        let saved = SessionRecord::find(&self.directory, name).and_then(|record| Token::find(&record.secret));
        let secret = match saved {
            Some(secret) => secret,
            None => Token::draw().map_err(|error| {
                Failure::new(ErrorCode::Internal, format!("The system gives no randomness: {error}."))
            })?,
        };
        let (directory, files) = (self.directory.clone(), Arc::clone(&self.files));
        let session = Session::new(name.clone(), secret, directory, files, self.tasks.clone());
        let session = Arc::new(session);
        sessions.insert(name.clone(), Arc::clone(&session));
        Ok(session)
    }

    pub(crate) fn find(&self, name: &SessionName) -> Option<Arc<Session>> {
        self.sessions().get(name).cloned()
    }

    pub(crate) fn all(&self) -> Vec<Arc<Session>> {
        self.sessions().values().cloned().collect()
    }

    pub(crate) fn forget(&self, name: &SessionName) {
        self.sessions().remove(name);
    }

    /// Whether another session uses the same browser.
    pub(crate) async fn is_shared(&self, live: &Arc<LiveSession>) -> bool {
        for session in self.all() {
            if let Some(other) = session.find_live().await
                && !Arc::ptr_eq(&other, live)
                && Arc::ptr_eq(&other.browser, &live.browser)
            {
                return true;
            }
        }
        false
    }
}

impl Secrets for SessionTable {
    fn find_session(&self, secret: &str) -> Option<SessionName> {
        let sessions = self.sessions();
        // Every session is compared, so that the time taken tells nothing.
        let mut found = None;
        for session in sessions.values() {
            if session.secret.matches(secret) {
                found = Some(session.name.clone());
            }
        }
        found
    }
}
