//! The pad beside the database: rows are jotted on it while somebody waits, and carried into the database afterwards.
//!
//! A jotting is one write of one line, which outlives the process as a commit does and takes a fraction of its time.
//! One process holds a pad at a time. The database tells up to which jotting it has them, so that none is carried twice
//! and none is forgotten, whenever the process is killed.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock};

use crate::columns::Columns;
use crate::entry::Entry;
use crate::error::JournalError;
use crate::jotting::{Jotting, Sequence, last_jotting, whole_lines};
use crate::limits::PAD_KEPT_PART;
use crate::safe_file;
use crate::set_aside::with_suffix;

/// Times a pad is looked for that somebody else takes away meanwhile.
const ATTEMPTS: usize = 3;

/// A pad that is held by this process.
#[derive(Debug)]
pub(crate) struct Pad {
    file: File,
    path: PathBuf,
    /// Bytes there may be on it.
    room: u64,
    /// Bytes on it.
    length: u64,
    /// Bytes on it that are in the database.
    carried: u64,
    /// The last jotting.
    last: Sequence,
    /// Part of a line is at its end that could not be taken back.
    is_torn: bool,
}

/// What is to be carried into the database.
#[derive(Debug)]
pub(crate) struct Load {
    lines: Vec<u8>,
    end: u64,
}

impl Pad {
    /// Takes the pad of a journal whose database has the jottings up to this one; none when another process holds it.
    pub(crate) fn take(journal: &Path, room: u64, carried: Sequence) -> Result<Option<Self>, JournalError> {
        let path = place(journal);
        let system = |error| JournalError::system(&path, error);
        for _ in 0..ATTEMPTS {
            safe_file::prepare(&path)?;
            let file = open(&path).map_err(system)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(rustix::io::Errno::WOULDBLOCK) => return Ok(None),
                Err(error) => return Err(system(error.into())),
            }
            // Whoever held it before may have taken it away.
            if is_at(&file, &path) {
                return Self::held(file, path, room, carried).map(Some);
            }
        }
        Ok(None)
    }

    fn held(file: File, path: PathBuf, room: u64, carried: Sequence) -> Result<Self, JournalError> {
        let length = file.metadata().map_err(|error| JournalError::system(&path, error))?.len();
        let mut pad = Self { file, path, room, length, carried: 0, last: carried, is_torn: false };
        let lines = pad.load()?.lines;
        pad.last = last_jotting(&lines).map_or(carried, |last| last.max(carried));
        // Whoever was killed while it wrote left part of a line.
        let whole = lines.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        pad.length = u64::try_from(whole).unwrap_or_default();
        if whole < lines.len() {
            pad.is_torn = pad.file.set_len(pad.length).is_err();
        }
        Ok(pad)
    }

    /// Jots an entry down; when this is true it outlives the process.
    pub(crate) fn jot(&mut self, entry: &Entry) -> bool {
        if self.is_torn || self.length >= self.room {
            return false;
        }
        let sequence = self.last.next();
        let Some(line) = Jotting { sequence, columns: Columns::of(entry) }.to_line() else { return false };
        if self.file.write_all(&line).is_err() {
            // What came of it in part is no line; nothing may be written behind it.
            self.is_torn = self.file.set_len(self.length).is_err();
            return false;
        }
        self.length += u64::try_from(line.len()).unwrap_or(self.room);
        self.last = sequence;
        true
    }

    /// The last jotting.
    pub(crate) const fn last(&self) -> Sequence {
        self.last
    }

    /// What is not in the database yet.
    pub(crate) fn load(&self) -> Result<Load, JournalError> {
        let size = usize::try_from(self.length.saturating_sub(self.carried)).unwrap_or_default();
        let mut lines = vec![0; size];
        let read = self.file.read_exact_at(&mut lines, self.carried);
        read.map_err(|error| JournalError::system(&self.path, error))?;
        Ok(Load { lines, end: self.length })
    }

    /// Notes that a load is in the database. The pad is wiped when it is long and nothing else is on it.
    pub(crate) fn carried(&mut self, load: &Load) {
        self.carried = load.end;
        let is_due = self.is_torn || self.length > self.room / PAD_KEPT_PART;
        if is_due && self.carried == self.length && self.file.set_len(0).is_ok() {
            (self.length, self.carried, self.is_torn) = (0, 0, false);
        }
    }

    /// Takes a pad away that has nothing on it which is not in the database.
    pub(crate) fn put_away(self) {
        if self.carried == self.length {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Load {
    /// The jottings behind one that the database has.
    pub(crate) fn after(&self, carried: Sequence) -> Vec<Jotting<'_>> {
        whole_lines(&self.lines).filter_map(Jotting::read).filter(|found| found.sequence > carried).collect()
    }
}

/// The last jotting on a journal's pad, if there is any.
pub(crate) fn last_on_pad(journal: &Path) -> Option<Sequence> {
    let path = place(journal);
    safe_file::check(&path).ok()?;
    last_jotting(&std::fs::read(&path).ok()?)
}

fn place(journal: &Path) -> PathBuf {
    with_suffix(journal, "-pad")
}

fn open(path: &Path) -> std::io::Result<File> {
    let nofollow = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or_default();
    OpenOptions::new().read(true).append(true).custom_flags(nofollow).open(path)
}

fn is_at(file: &File, path: &Path) -> bool {
    let identity = |data: std::fs::Metadata| (data.dev(), data.ino());
    match (file.metadata(), path.symlink_metadata()) {
        (Ok(file), Ok(path)) => identity(file) == identity(path),
        _ => false,
    }
}
