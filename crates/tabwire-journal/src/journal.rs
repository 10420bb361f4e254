//! The journal as the rest of the program holds it. Whoever hands an entry over jots it on the pad, which takes no
//! waiting; one thread carries what is there into the database and does all else.
//!
//! Waking another thread takes many times longer than a jotting, and so does a commit. What could take long is the
//! thread's: opening the file, waiting for other processes, carrying the log over, every failure. An entry is
//! acknowledged when it outlives the process, never before.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::bounds::Bounds;
use crate::entry::Entry;
use crate::error::JournalError;
use crate::limits::{ENTRIES_TOGETHER, ENTRIES_WAITING, PAD_PATIENCE, PAD_PAUSE};
use crate::pad::Pad;
use crate::set_aside::SetAside;
use crate::writer::{SharedPad, Writer, lock};

/// Called once, when an entry is safe or lost.
pub type Acknowledge = Box<dyn FnOnce(Result<(), JournalError>) + Send>;

/// A journal that is written to.
#[derive(Debug)]
pub struct Journal {
    letters: SyncSender<Letter>,
    desk: Arc<Desk>,
}

/// What those who hand entries over share with the thread.
#[derive(Debug)]
struct Desk {
    pad: SharedPad,
    /// Entries that wait for the thread: whoever comes later waits behind them.
    waiting: AtomicUsize,
    /// The thread knows that something is on the pad.
    is_called: AtomicBool,
}

enum Letter {
    Entry(Box<Entry>, Acknowledge),
    /// Something is on the pad.
    Jotted,
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
        let desk = Arc::new(Desk {
            pad: Mutex::new(None),
            waiting: AtomicUsize::new(0),
            is_called: AtomicBool::new(false),
        });
        let (shared, at) = (Arc::clone(&desk), path.to_owned());
        // Ends when it is told to close, or with the last sender.
        std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || {
                let tell_aside = Box::new(tell_aside);
                run(
                    Writer { path: at, bounds, tell_aside, pad: &shared.pad, store: None },
                    &shared,
                    &receiver,
                );
            })
            .map_err(|error| JournalError::system(path, error))?;
        Ok(Self { letters, desk })
    }

    /// Hands an entry over without waiting; `acknowledge` is called when it is safe or lost.
    pub fn hand_over(&self, entry: Entry, acknowledge: Acknowledge) {
        if self.jot(&entry) {
            return acknowledge(Ok(()));
        }
        self.desk.waiting.fetch_add(1, Ordering::AcqRel);
        if let Err(refused) = self.letters.try_send(Letter::Entry(Box::new(entry), acknowledge)) {
            self.desk.waiting.fetch_sub(1, Ordering::AcqRel);
            let (letter, error) = match refused {
                TrySendError::Full(letter) => (letter, JournalError::Backlog),
                TrySendError::Disconnected(letter) => (letter, JournalError::Closed),
            };
            if let Letter::Entry(_, acknowledge) = letter {
                acknowledge(Err(error));
            }
        }
    }

    /// Jots an entry down here and now, unless others wait or there is no pad with room on it.
    fn jot(&self, entry: &Entry) -> bool {
        if self.desk.waiting.load(Ordering::Acquire) > 0 {
            return false;
        }
        let is_safe = lock(&self.desk.pad).as_mut().is_some_and(|pad| pad.jot(entry));
        if is_safe && !self.desk.is_called.swap(true, Ordering::AcqRel) {
            // A thread that has other letters looks at the pad with those.
            let _ = self.letters.try_send(Letter::Jotted);
        }
        is_safe
    }

    /// Adds an entry and waits until it is safe.
    ///
    /// # Errors
    /// When it was not written, or not in time.
    pub fn append(&self, entry: Entry, patience: Duration) -> Result<(), JournalError> {
        let (sender, receiver) = mpsc::sync_channel(1);
        let acknowledge = Box::new(move |result| {
            // Whoever waited may have given up.
            let _ = sender.send(result);
        });
        self.hand_over(entry, acknowledge);
        match receiver.recv_timeout(patience) {
            Ok(result) => result,
            Err(RecvTimeoutError::Timeout) => Err(JournalError::Late),
            Err(RecvTimeoutError::Disconnected) => Err(JournalError::Closed),
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
                Err(RecvTimeoutError::Timeout) => Err(JournalError::Late),
                Ok(()) | Err(RecvTimeoutError::Disconnected) => Ok(()),
            },
            Err(TrySendError::Full(_)) => Err(JournalError::Backlog),
            Err(TrySendError::Disconnected(_)) => Ok(()),
        }
    }
}

/// What has come for the thread.
#[derive(Default)]
struct Post {
    entries: Vec<(Box<Entry>, Acknowledge)>,
    closing: Option<SyncSender<()>>,
}

impl Post {
    fn add(&mut self, letter: Letter) {
        match letter {
            Letter::Entry(entry, acknowledge) => self.entries.push((entry, acknowledge)),
            Letter::Jotted => {}
            Letter::Close(done) => self.closing = Some(done),
        }
    }

    /// Nobody waits for what is on the pad; somebody does for everything else.
    const fn is_urgent(&self) -> bool {
        !self.entries.is_empty() || self.closing.is_some()
    }

    fn is_full(&self) -> bool {
        self.closing.is_some() || self.entries.len() == ENTRIES_TOGETHER
    }
}

/// Takes in what comes until somebody waits for it, or until nothing was jotted down for a moment; none when nobody can
/// send any more.
fn collect(desk: &Desk, letters: &Receiver<Letter>) -> Option<Post> {
    let mut post = Post::default();
    post.add(letters.recv().ok()?);
    let due = Instant::now() + PAD_PATIENCE;
    let last = || lock(&desk.pad).as_ref().map(Pad::last);
    let mut seen = last();
    while !post.is_urgent() && Instant::now() < due {
        match letters.recv_timeout(PAD_PAUSE) {
            Ok(letter) => post.add(letter),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                let now = last();
                if std::mem::replace(&mut seen, now) == now {
                    break;
                }
            }
        }
    }
    while !post.is_full()
        && let Ok(letter) = letters.try_recv()
    {
        post.add(letter);
    }
    Some(post)
}

/// What the thread does until it is told to close.
fn run(mut writer: Writer<'_>, desk: &Desk, letters: &Receiver<Letter>) {
    // Opened before the first entry comes, which then need not wait. A failure is told to that entry.
    let _ = writer.write(std::iter::empty());
    while let Some(post) = collect(desk, letters) {
        // Before the pad is looked at: what is jotted down later calls anew.
        desk.is_called.store(false, Ordering::Release);
        let written = writer.write(post.entries.iter().map(|(entry, _)| entry.as_ref()));
        desk.waiting.fetch_sub(post.entries.len(), Ordering::AcqRel);
        for (_, acknowledge) in post.entries {
            acknowledge(written.clone());
        }
        writer.tend();
        if let Some(done) = post.closing {
            writer.close();
            let _ = done.send(());
            return;
        }
    }
    writer.close();
}
