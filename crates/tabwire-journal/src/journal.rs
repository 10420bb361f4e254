//! The journal as the rest of the program holds it: one thread writes, everybody else hands entries to it.
//!
//! Entries that wait are committed together. An entry is acknowledged after its commit, never before.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::time::Duration;

use crate::bounds::Bounds;
use crate::entry::Entry;
use crate::error::JournalError;
use crate::limits::{ENTRIES_TOGETHER, ENTRIES_WAITING};
use crate::row::RowNumber;
use crate::set_aside::SetAside;
use crate::store::Store;

/// Called once, by the writer, when an entry is committed or lost.
pub type Acknowledge = Box<dyn FnOnce(Result<RowNumber, JournalError>) + Send>;

/// Called by the writer when a file had to be set aside.
type TellAside = Box<dyn Fn(&SetAside) + Send>;

/// A journal that is written to.
#[derive(Debug)]
pub struct Journal {
    letters: SyncSender<Letter>,
}

enum Letter {
    Entry(Box<Entry>, Acknowledge),
    Close(SyncSender<()>),
}

impl Journal {
    /// Starts the writer. The file is opened by the writer, so that nobody waits for it here; when that fails, every
    /// entry is refused with the reason, and the next one tries again.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(
        path: &Path,
        bounds: Bounds,
        tell_aside: impl Fn(&SetAside) + Send + 'static,
    ) -> Result<Self, JournalError> {
        let (letters, receiver) = mpsc::sync_channel(ENTRIES_WAITING);
        let writer = Writer { path: path.to_owned(), bounds, store: None, tell_aside: Box::new(tell_aside) };
        // Ends when it is told to close, or with the last sender.
        std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || writer.run(&receiver))
            .map_err(|error| JournalError::system(path, error))?;
        Ok(Self { letters })
    }

    /// Hands an entry over without waiting; `acknowledge` is called when it is committed or lost.
    pub fn hand_over(&self, entry: Entry, acknowledge: Acknowledge) {
        if let Err(refused) = self.letters.try_send(Letter::Entry(Box::new(entry), acknowledge)) {
            let (letter, error) = match refused {
                TrySendError::Full(letter) => (letter, JournalError::Backlog),
                TrySendError::Disconnected(letter) => (letter, JournalError::Closed),
            };
            if let Letter::Entry(_, acknowledge) = letter {
                acknowledge(Err(error));
            }
        }
    }

    /// Adds an entry and waits until it is committed.
    ///
    /// # Errors
    /// When it was not written, or not in time.
    pub fn append(&self, entry: Entry, patience: Duration) -> Result<RowNumber, JournalError> {
        let (sender, receiver) = mpsc::sync_channel(1);
        let acknowledge = Box::new(move |result| {
            // Whoever waited may have given up.
            let _ = sender.send(result);
        });
        self.hand_over(entry, acknowledge);
        match receiver.recv_timeout(patience) {
            Ok(result) => result,
            Err(mpsc::RecvTimeoutError::Timeout) => Err(JournalError::Late),
            Err(mpsc::RecvTimeoutError::Disconnected) => Err(JournalError::Closed),
        }
    }

    /// Writes what waits, and closes the file. Entries that come later are refused.
    ///
    /// # Errors
    /// When that takes too long.
    pub fn close(&self, patience: Duration) -> Result<(), JournalError> {
        let (sender, receiver) = mpsc::sync_channel(1);
        match self.letters.try_send(Letter::Close(sender)) {
            Ok(()) => match receiver.recv_timeout(patience) {
                Err(mpsc::RecvTimeoutError::Timeout) => Err(JournalError::Late),
                Ok(()) | Err(mpsc::RecvTimeoutError::Disconnected) => Ok(()),
            },
            Err(TrySendError::Full(_)) => Err(JournalError::Backlog),
            Err(TrySendError::Disconnected(_)) => Ok(()),
        }
    }
}

struct Writer {
    path: PathBuf,
    bounds: Bounds,
    store: Option<Store>,
    tell_aside: TellAside,
}

impl Writer {
    fn run(mut self, letters: &Receiver<Letter>) {
        // Opened before the first entry comes, which then need not wait. A failure is told to that entry.
        let _ = self.open();
        while let Ok(first) = letters.recv() {
            let mut closing = None;
            let mut batch = Vec::new();
            for letter in std::iter::once(first).chain(letters.try_iter()) {
                match letter {
                    Letter::Entry(entry, acknowledge) => batch.push((entry, acknowledge)),
                    Letter::Close(done) => closing = Some(done),
                }
                if closing.is_some() || batch.len() == ENTRIES_TOGETHER {
                    break;
                }
            }
            self.write(batch);
            if let Some(done) = closing {
                self.store = None;
                let _ = done.send(());
                return;
            }
        }
    }

    fn open(&mut self) -> Result<(), JournalError> {
        if self.store.is_none() {
            let (store, aside) = Store::open(&self.path, self.bounds)?;
            if let Some(aside) = aside {
                (self.tell_aside)(&aside);
            }
            self.store = Some(store);
        }
        Ok(())
    }

    fn write(&mut self, batch: Vec<(Box<Entry>, Acknowledge)>) {
        if batch.is_empty() {
            return;
        }
        let entries: Vec<&Entry> = batch.iter().map(|(entry, _)| entry.as_ref()).collect();
        match self.append(&entries) {
            Ok(numbers) => {
                for ((_, acknowledge), number) in batch.into_iter().zip(numbers) {
                    acknowledge(Ok(number));
                }
            }
            Err(error) => {
                for (_, acknowledge) in batch {
                    acknowledge(Err(error.clone()));
                }
            }
        }
        // What cannot be tended to now is tried again after the next rows; rows that cannot be written are told.
        let _ = self.store.as_mut().map_or(Ok(()), Store::tend);
    }

    /// Adds rows; a file that turns out to be damaged is set aside, and they go into a new one.
    fn append(&mut self, entries: &[&Entry]) -> Result<Vec<RowNumber>, JournalError> {
        self.open()?;
        let Some(store) = self.store.as_mut() else { return Err(JournalError::Closed) };
        match store.append(entries) {
            Err(JournalError::Damaged) => {
                let Some(store) = self.store.take() else { return Err(JournalError::Closed) };
                let (mut store, aside) = store.begin_anew(JournalError::Damaged)?;
                (self.tell_aside)(&aside);
                let written = store.append(entries);
                self.store = Some(store);
                written
            }
            written => written,
        }
    }
}
