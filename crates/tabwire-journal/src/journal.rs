//! The journal as the rest of the program holds it. Whoever hands an entry over commits it, where that takes no
//! waiting; one thread does all else.
//!
//! Waking another thread takes many times longer than a commit, which only hands pages to the system. What could take
//! long is the thread's: opening the file, waiting for other processes, carrying the log over, every failure. Entries
//! that wait for it are committed together. An entry is acknowledged after its commit, never before.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::bounds::Bounds;
use crate::entry::Entry;
use crate::error::JournalError;
use crate::limits::{
    ENTRIES_TOGETHER, ENTRIES_WAITING, ROWS_BETWEEN_CARES, ROWS_LEFT_TO_THREAD, SLOW_COMMIT,
};
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
    /// Entries that wait for the thread: whoever comes later waits behind them.
    waiting: Arc<AtomicUsize>,
    writer: Arc<Mutex<Writer>>,
}

enum Letter {
    Entry(Box<Entry>, Acknowledge),
    /// Rows were written that nobody has looked after yet.
    Care,
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
        let waiting = Arc::new(AtomicUsize::new(0));
        let writer = Arc::new(Mutex::new(Writer {
            path: path.to_owned(),
            bounds,
            store: None,
            tell_aside: Box::new(tell_aside),
            left_to_thread: 0,
            uncared: 0,
        }));
        let (shared, counted) = (Arc::clone(&writer), Arc::clone(&waiting));
        // Ends when it is told to close, or with the last sender.
        std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || run(&shared, &counted, &receiver))
            .map_err(|error| JournalError::system(path, error))?;
        Ok(Self { letters, waiting, writer })
    }

    /// Hands an entry over without waiting; `acknowledge` is called when it is committed or lost.
    pub fn hand_over(&self, entry: Entry, acknowledge: Acknowledge) {
        if let Some(number) = self.write_at_once(&entry) {
            return acknowledge(Ok(number));
        }
        self.waiting.fetch_add(1, Ordering::AcqRel);
        if let Err(refused) = self.letters.try_send(Letter::Entry(Box::new(entry), acknowledge)) {
            self.waiting.fetch_sub(1, Ordering::AcqRel);
            let (letter, error) = match refused {
                TrySendError::Full(letter) => (letter, JournalError::Backlog),
                TrySendError::Disconnected(letter) => (letter, JournalError::Closed),
            };
            if let Letter::Entry(_, acknowledge) = letter {
                acknowledge(Err(error));
            }
        }
    }

    /// Commits an entry here and now, if nobody has to be waited for and nothing goes wrong.
    fn write_at_once(&self, entry: &Entry) -> Option<RowNumber> {
        if self.waiting.load(Ordering::Acquire) > 0 {
            return None;
        }
        let mut writer = self.writer.try_lock().ok()?;
        let number = writer.write_at_once(entry)?;
        if writer.uncared >= ROWS_BETWEEN_CARES {
            writer.uncared = 0;
            // A thread that has other letters looks after the rows with those.
            let _ = self.letters.try_send(Letter::Care);
        }
        Some(number)
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
    /// Rows that the thread is to write, because the disk was slow.
    left_to_thread: u32,
    /// Rows that were written since the thread looked after them.
    uncared: u32,
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Writer").field("path", &self.path).finish_non_exhaustive()
    }
}

fn lock(writer: &Mutex<Writer>) -> MutexGuard<'_, Writer> {
    writer.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the thread does until it is told to close.
fn run(writer: &Mutex<Writer>, waiting: &AtomicUsize, letters: &Receiver<Letter>) {
    // Opened before the first entry comes, which then need not wait. A failure is told to that entry.
    let _ = lock(writer).open();
    while let Ok(first) = letters.recv() {
        let mut closing = None;
        let mut batch = Vec::new();
        for letter in std::iter::once(first).chain(letters.try_iter()) {
            match letter {
                Letter::Entry(entry, acknowledge) => batch.push((entry, acknowledge)),
                Letter::Care => {}
                Letter::Close(done) => closing = Some(done),
            }
            if closing.is_some() || batch.len() == ENTRIES_TOGETHER {
                break;
            }
        }
        let count = batch.len();
        let mut writer = lock(writer);
        writer.write(batch);
        waiting.fetch_sub(count, Ordering::AcqRel);
        if let Some(done) = closing {
            writer.store = None;
            let _ = done.send(());
            return;
        }
    }
}

impl Writer {
    /// Commits one entry if that takes no waiting; whatever else there is to it is left to the thread.
    fn write_at_once(&mut self, entry: &Entry) -> Option<RowNumber> {
        if self.left_to_thread > 0 {
            self.left_to_thread -= 1;
            return None;
        }
        let before = Instant::now();
        let number = self.store.as_mut()?.append_at_once(entry)?;
        if before.elapsed() > SLOW_COMMIT {
            self.left_to_thread = ROWS_LEFT_TO_THREAD;
        }
        self.uncared += 1;
        Some(number)
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

    /// Writes what has waited, tells those who wait, and looks after the file.
    fn write(&mut self, batch: Vec<(Box<Entry>, Acknowledge)>) {
        if !batch.is_empty() {
            self.write_together(batch);
        }
        self.uncared = 0;
        // What cannot be tended to now is tried again after the next rows; rows that cannot be written are told.
        let _ = self.store.as_mut().map_or(Ok(()), Store::tend);
    }

    fn write_together(&mut self, batch: Vec<(Box<Entry>, Acknowledge)>) {
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
