//! The handle on the audit log, and the thread that writes it.
//!
//! One thread owns the database. It commits every entry that waits in one transaction, and then acknowledges them.
//! A committed row survives a kill of the process: SQLite has handed it to the kernel. It may not survive a power
//! failure, because commits are not synced to the disk.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::time::Duration;

use crate::database::columns::Columns;
use crate::database::quarantine::Quarantine;
use crate::database::store::{Bounds, Store};
use crate::entry::Entry;
use crate::error::AuditError;

/// Entries that may wait for the thread. More are refused, so that a slow disk does not fill the memory.
const QUEUE: usize = 1_024;

/// Entries in one transaction.
const BATCH: usize = 128;

/// Called once, when an entry is committed or lost.
pub type Acknowledge = Box<dyn FnOnce(Result<(), AuditError>) + Send>;

/// An audit log that is open for writing.
#[derive(Debug)]
pub struct AuditLog {
    messages: SyncSender<Message>,
}

enum Message {
    Entry(Box<Entry>, Acknowledge),
    Close(SyncSender<()>),
}

impl AuditLog {
    /// Starts the thread, which opens the file. If that fails, the thread refuses each entry with the reason, and
    /// tries again with the next one.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(
        path: &Path,
        bounds: Bounds,
        on_quarantine: impl Fn(&Quarantine) + Send + 'static,
    ) -> Result<Self, AuditError> {
        let (messages, receiver) = mpsc::sync_channel(QUEUE);
        let on_quarantine = Box::new(on_quarantine);
        let writer = Writer { path: path.to_owned(), bounds, on_quarantine, store: None };
        // Ends with a close message, or with the last sender.
        std::thread::Builder::new()
            .name("audit-log".to_owned())
            .spawn(move || writer.run(&receiver))
            .map_err(|error| AuditError::system(path, error))?;
        Ok(Self { messages })
    }

    /// Queues an entry without waiting. The thread calls `acknowledge` when it is committed or lost.
    pub fn submit(&self, entry: Entry, acknowledge: Acknowledge) {
        let (refused, error) = match self.messages.try_send(Message::Entry(Box::new(entry), acknowledge)) {
            Ok(()) => return,
            Err(TrySendError::Full(message)) => (message, AuditError::Backlog),
            Err(TrySendError::Disconnected(message)) => (message, AuditError::Closed),
        };
        if let Message::Entry(_, acknowledge) = refused {
            acknowledge(Err(error));
        }
    }

    /// Adds an entry and waits until it is committed.
    ///
    /// # Errors
    /// When it was not written, or not in time.
    pub fn append(&self, entry: Entry, timeout: Duration) -> Result<(), AuditError> {
        let (sender, receiver) = mpsc::sync_channel(1);
        let acknowledge = Box::new(move |result| {
            // The receiver is gone after a timeout.
            let _ = sender.send(result);
        });
        self.submit(entry, acknowledge);
        match receiver.recv_timeout(timeout) {
            Ok(result) => result,
            Err(RecvTimeoutError::Timeout) => Err(AuditError::Late),
            Err(RecvTimeoutError::Disconnected) => Err(AuditError::Closed),
        }
    }

    /// Writes the entries that wait, and closes the file. Later entries are refused.
    ///
    /// # Errors
    /// When that takes too long.
    pub fn close(&self, timeout: Duration) -> Result<(), AuditError> {
        let (sender, receiver) = mpsc::sync_channel(1);
        match self.messages.try_send(Message::Close(sender)) {
            Ok(()) => match receiver.recv_timeout(timeout) {
                Err(RecvTimeoutError::Timeout) => Err(AuditError::Late),
                Ok(()) | Err(RecvTimeoutError::Disconnected) => Ok(()),
            },
            Err(TrySendError::Full(_)) => Err(AuditError::Backlog),
            Err(TrySendError::Disconnected(_)) => Ok(()),
        }
    }
}

/// Messages that the thread handles together.
#[derive(Default)]
struct Batch {
    entries: Vec<(Box<Entry>, Acknowledge)>,
    closing: Option<SyncSender<()>>,
}

impl Batch {
    /// Waits for a message and takes those behind it; `None` after the last sender.
    fn receive(messages: &Receiver<Message>) -> Option<Self> {
        let mut batch = Self::default();
        let mut next = Some(messages.recv().ok()?);
        while let Some(message) = next {
            match message {
                Message::Entry(entry, acknowledge) => batch.entries.push((entry, acknowledge)),
                Message::Close(closed) => batch.closing = Some(closed),
            }
            let is_full = batch.closing.is_some() || batch.entries.len() == BATCH;
            next = if is_full { None } else { messages.try_recv().ok() };
        }
        Some(batch)
    }
}

/// The state of the thread.
struct Writer {
    path: PathBuf,
    bounds: Bounds,
    on_quarantine: Box<dyn Fn(&Quarantine) + Send>,
    /// Absent until the file could be opened.
    store: Option<Store>,
}

impl Writer {
    fn run(mut self, messages: &Receiver<Message>) {
        // Opened before the first entry, which then does not wait for it. That entry reports a failure.
        let _ = self.store();
        while let Some(Batch { entries, closing }) = Batch::receive(messages) {
            let rows: Vec<Columns<'_>> = entries.iter().map(|(entry, _)| Columns::of(entry)).collect();
            let written = if rows.is_empty() { Ok(()) } else { self.append(&rows) };
            drop(rows);
            for (_, acknowledge) in entries {
                acknowledge(written.clone());
            }
            // After the acknowledgements: a checkpoint waits for the disk. What fails is tried after the next batch.
            let _ = self.store.as_mut().map_or(Ok(()), Store::maintain);
            if let Some(closed) = closing {
                drop(self.store.take());
                let _ = closed.send(());
                return;
            }
        }
    }

    fn store(&mut self) -> Result<&mut Store, AuditError> {
        let store = match self.store.take() {
            Some(store) => store,
            None => {
                let (store, quarantined) = Store::open(&self.path, self.bounds)?;
                if let Some(quarantined) = quarantined {
                    (self.on_quarantine)(&quarantined);
                }
                store
            }
        };
        Ok(self.store.insert(store))
    }

    /// Appends rows. A database that turns out to be damaged is quarantined, and the rows go into a new one.
    fn append(&mut self, rows: &[Columns<'_>]) -> Result<(), AuditError> {
        match self.store()?.append(rows) {
            Err(AuditError::Damaged) => {
                let Some(store) = self.store.take() else { return Err(AuditError::Closed) };
                let (store, quarantined) = store.replace(AuditError::Damaged)?;
                (self.on_quarantine)(&quarantined);
                self.store.insert(store).append(rows)
            }
            written => written,
        }
    }
}
