//! Writes the audit log of the daemon. An action never fails because its row could not be written; the user
//! gets one notice.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tabwire_audit::{AuditError, AuditLog, Bounds, Entry, Quarantine};
use tokio::sync::{oneshot, watch};

/// How long a response waits for its row in the audit log. Then it is sent without.
const AUDIT_DEADLINE: Duration = Duration::from_secs(1);

/// How long the audit log may take to write the waiting rows when the daemon ends.
const CLOSE_DEADLINE: Duration = Duration::from_secs(3);

/// Notices that wait for the next response.
const NOTICES: usize = 4;

/// The audit log as the daemon writes it.
#[derive(Debug)]
pub(crate) struct AuditWriter {
    /// Absent when the log is switched off, or the system gives no thread for it.
    log: Option<AuditLog>,
    health: Arc<Mutex<Health>>,
    /// Counts committed rows, for event streams.
    commits: watch::Sender<u64>,
}

/// Whether rows are lost, and the notices for the user.
#[derive(Debug, Default)]
struct Health {
    /// Rows lost since the last row that was written.
    lost: u64,
    notices: Vec<String>,
}

impl Health {
    fn notify(&mut self, notice: String) {
        tracing::warn!("{notice}");
        if self.notices.len() < NOTICES {
            self.notices.push(notice);
        }
    }

    fn record(&mut self, result: &Result<(), AuditError>) {
        match result {
            Ok(()) if self.lost > 0 => {
                tracing::info!(lost = self.lost, "the audit log is written again");
                self.lost = 0;
            }
            Ok(()) => {}
            Err(error) => {
                self.lost += 1;
                if self.lost == 1 {
                    self.notify(format!(
                        "The audit log cannot be written: {error}. Actions go on without rows in `tabwire log`."
                    ));
                }
            }
        }
    }
}

fn lock(health: &Mutex<Health>) -> MutexGuard<'_, Health> {
    health.lock().unwrap_or_else(PoisonError::into_inner)
}

impl AuditWriter {
    /// Starts the audit log at a path. Without a path, rows are discarded.
    pub(crate) fn start(path: Option<&Path>) -> Arc<Self> {
        let health = Arc::new(Mutex::new(Health::default()));
        let commits = watch::Sender::new(0);
        let Some(path) = path else { return Arc::new(Self { log: None, health, commits }) };
        let reported = Arc::clone(&health);
        let log = AuditLog::start(path, Bounds::default(), move |Quarantine { path, reason }| {
            let path = path.display();
            lock(&reported)
                .notify(format!("The audit log was moved to {path}: {reason}. A new one was created."));
        });
        if let Err(error) = &log {
            lock(&health).record(&Err(error.clone()));
        }
        Arc::new(Self { log: log.ok(), health, commits })
    }

    /// Whether rows are written at all.
    pub(crate) fn writes(&self) -> bool {
        self.log.is_some()
    }

    /// Writes a row and waits for its commit, up to a deadline. Returns notices for the user.
    pub(crate) async fn write(&self, entry: Entry) -> Vec<String> {
        let Some(log) = &self.log else { return self.take_notices() };
        let (sender, receiver) = oneshot::channel();
        let (health, commits) = (Arc::clone(&self.health), self.commits.clone());
        log.submit(
            entry,
            Box::new(move |result| {
                lock(&health).record(&result);
                commits.send_modify(|count| *count += 1);
                // The receiver is gone after the deadline.
                let _ = sender.send(());
            }),
        );
        if tokio::time::timeout(AUDIT_DEADLINE, receiver).await.is_err() {
            lock(&self.health).record(&Err(AuditError::Late));
        }
        self.take_notices()
    }

    /// Writes a row without waiting for it.
    pub(crate) fn write_unwatched(&self, entry: Entry) {
        if let Some(log) = &self.log {
            let (health, commits) = (Arc::clone(&self.health), self.commits.clone());
            log.submit(
                entry,
                Box::new(move |result| {
                    lock(&health).record(&result);
                    commits.send_modify(|count| *count += 1);
                }),
            );
        }
    }

    /// Rows that were lost since the last one that was written.
    pub(crate) fn lost(&self) -> u64 {
        lock(&self.health).lost
    }

    /// Changes after every row.
    pub(crate) fn commits(&self) -> watch::Receiver<u64> {
        self.commits.subscribe()
    }

    fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.health).notices)
    }

    /// Writes the waiting rows and closes the file.
    pub(crate) async fn close(self: Arc<Self>) {
        let closing = tokio::task::spawn_blocking(move || match &self.log {
            Some(log) => log.close(CLOSE_DEADLINE),
            None => Ok(()),
        });
        if let Ok(Err(error)) = closing.await {
            tracing::warn!(%error, "the audit log was not closed in time");
        }
    }
}
