//! The daemon's hand at the journal: writes rows, and says once when it cannot. Nothing fails because of it.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tabwire_journal::{Bounds, Entry, Journal, JournalError, SetAside};
use tokio::sync::oneshot;

use crate::limits::{JOURNAL_CLOSE_DEADLINE, JOURNAL_DEADLINE, JOURNAL_NOTICES};

/// Writes the journal.
#[derive(Debug)]
pub(crate) struct Scribe {
    /// Absent when none is wanted, or the system gives no thread for it.
    journal: Option<Journal>,
    standing: Arc<Mutex<Standing>>,
}

/// How it goes.
#[derive(Debug, Default)]
struct Standing {
    /// Rows lost since the journal was last written.
    lost: u64,
    /// What users are to be told.
    notices: Vec<String>,
}

impl Standing {
    fn tell(&mut self, notice: String) {
        tracing::warn!("{notice}");
        if self.notices.len() < JOURNAL_NOTICES {
            self.notices.push(notice);
        }
    }

    fn take_in(&mut self, result: &Result<(), JournalError>) {
        match result {
            Ok(()) if self.lost > 0 => {
                tracing::info!(lost = self.lost, "the journal is written again");
                self.lost = 0;
            }
            Ok(()) => {}
            Err(error) => {
                self.lost += 1;
                if self.lost == 1 {
                    self.tell(format!(
                        "The journal cannot be written: {error}. Actions go on, and `tabwire log` lacks them."
                    ));
                }
            }
        }
    }
}

fn lock(standing: &Mutex<Standing>) -> std::sync::MutexGuard<'_, Standing> {
    standing.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Scribe {
    /// Begins to write the journal at this path; without one, nothing is written.
    pub(crate) fn start(path: Option<&Path>) -> Arc<Self> {
        let standing = Arc::new(Mutex::new(Standing::default()));
        let Some(path) = path else { return Arc::new(Self { journal: None, standing }) };
        let told = Arc::clone(&standing);
        let journal = Journal::start(path, Bounds::default(), move |SetAside { path, reason }| {
            let path = path.display();
            lock(&told).tell(format!("The journal was set aside as {path}: {reason}. A new one was begun."));
        });
        if let Err(error) = &journal {
            lock(&standing).take_in(&Err(error.clone()));
        }
        Arc::new(Self { journal: journal.ok(), standing })
    }

    /// Whether rows are written at all.
    pub(crate) fn writes(&self) -> bool {
        self.journal.is_some()
    }

    /// Writes a row and waits until it is safe, within bounds; gives what users are to be told.
    pub(crate) async fn write(&self, entry: Entry) -> Vec<String> {
        let Some(journal) = &self.journal else { return self.take_notices() };
        let (sender, receiver) = oneshot::channel();
        let standing = Arc::clone(&self.standing);
        journal.hand_over(
            entry,
            Box::new(move |result| {
                lock(&standing).take_in(&result);
                // Whoever waited may have given up.
                let _ = sender.send(());
            }),
        );
        if tokio::time::timeout(JOURNAL_DEADLINE, receiver).await.is_err() {
            lock(&self.standing).take_in(&Err(JournalError::Late));
        }
        self.take_notices()
    }

    /// Writes a row that nobody waits for.
    pub(crate) fn write_unwatched(&self, entry: Entry) {
        if let Some(journal) = &self.journal {
            let standing = Arc::clone(&self.standing);
            journal.hand_over(entry, Box::new(move |result| lock(&standing).take_in(&result)));
        }
    }

    fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.standing).notices)
    }

    /// Writes what waits and closes the file.
    pub(crate) async fn close(self: Arc<Self>) {
        let closing = tokio::task::spawn_blocking(move || match &self.journal {
            Some(journal) => journal.close(JOURNAL_CLOSE_DEADLINE),
            None => Ok(()),
        });
        if let Ok(Err(error)) = closing.await {
            tracing::warn!(%error, "the journal was not closed in time");
        }
    }
}
