//! Our own directories for what actions make: private, never written over, nothing named by a page alone.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use rustix::fs::{AtFlags, CWD};
use tabwire_browser::PrivateDir;
use tabwire_engine::{FileKind, Offered};
use tabwire_wire::{ErrorCode, Failure};

use crate::file_fault::{fault, random_word};
use crate::limits::{SAME_NAMES, UPLOAD_BYTES, UPLOAD_KEPT};
use crate::root_directory::{Place, RootDirectory};
use crate::safe_name::numbered;

/// Where browsers put downloads until they are kept.
const INCOMING: &str = "incoming";

/// Where files are that were handed to pages.
const UPLOADS: &str = "uploads";

/// Where encoders write.
const ENCODING: &str = "encoding";

/// Our directories below the state directory.
#[derive(Debug)]
pub(crate) struct FileShelf {
    state: PathBuf,
    /// The number of the next file of a name, so that looking for a free one stays short.
    next: Mutex<HashMap<PathBuf, u64>>,
}

impl FileShelf {
    pub(crate) fn new(state: PathBuf) -> Self {
        Self { state, next: Mutex::default() }
    }

    fn own(&self, name: &str) -> Result<RootDirectory, Failure> {
        let directory = PrivateDir::create(&self.state)?.subdirectory(name)?;
        RootDirectory::open(directory.path()).map_err(|error| fault(directory.path(), &error))
    }

    /// Our directory for files of a kind.
    pub(crate) fn directory_of(&self, kind: FileKind) -> Result<RootDirectory, Failure> {
        self.own(match kind {
            FileKind::Screenshot => "screenshots",
            FileKind::Pdf => "pdfs",
            FileKind::Download => "downloads",
            FileKind::Har => "har",
            FileKind::Trace => "traces",
            FileKind::Recording => "recordings",
            FileKind::Capture => "captures",
            FileKind::State => "states",
            FileKind::Body => "bodies",
        })
    }

    /// Where browsers put downloads until they are kept.
    pub(crate) fn incoming(&self) -> PathBuf {
        match self.own(INCOMING) {
            Ok(directory) => directory.path().to_owned(),
            // Told when a download cannot be kept; until then the path is as good as any.
            Err(_) => self.state.join(INCOMING),
        }
    }

    /// Where an encoder writes until its movie is kept.
    pub(crate) fn encoding_directory(&self) -> Result<PathBuf, Failure> {
        Ok(self.own(ENCODING)?.path().to_owned())
    }

    /// A download that is in one of our directories.
    pub(crate) fn find_download(&self, path: &Path) -> Result<Place, Failure> {
        for directory in [self.own(INCOMING)?, self.directory_of(FileKind::Download)?] {
            if let Some(below) = directory.find_below(path) {
                return directory.place(&below, false).map_err(|error| fault(path, &error));
            }
        }
        let message = format!("The download {} is in none of our directories.", path.display());
        Err(Failure::new(ErrorCode::Internal, message))
    }

    /// Finds a name beside a place that nobody has, and does something that fails when somebody has it.
    pub(crate) fn with_free_name<T>(
        &self,
        place: &Place,
        name: &str,
        mut take: impl FnMut(&Place) -> io::Result<T>,
    ) -> Result<(Place, T), Failure> {
        let path = place.beside(name).map_err(|error| fault(&place.path(), &error))?.path();
        let first = self.next_number(&path);
        for number in first..SAME_NAMES {
            let wanted = place.beside(&numbered(name, number)).map_err(|error| fault(&path, &error))?;
            match take(&wanted) {
                Ok(taken) => {
                    self.note_number(path, number + 1);
                    return Ok((wanted, taken));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(fault(&path, &error)),
            }
        }
        let message = format!("There are too many files called {}.", path.display());
        Err(Failure::new(ErrorCode::Busy, message)
            .with_hint("Remove some of them, or give a path of your own."))
    }

    fn next_number(&self, path: &Path) -> u64 {
        let next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        next.get(path).copied().unwrap_or(1)
    }

    fn note_number(&self, path: PathBuf, number: u64) {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        if next.len() >= crate::limits::NAMES_REMEMBERED {
            // Looking for a free number takes longer then, nothing else.
            next.clear();
        }
        next.insert(path, number);
    }

    /// Gives an open file to browsers under its own name, in a directory of its own.
    pub(crate) fn offer(
        &self,
        file: &mut File,
        path: &Path,
        name: &std::ffi::OsStr,
    ) -> Result<Offered, Failure> {
        let facts = file.metadata().map_err(|error| fault(path, &error))?;
        if facts.len() > UPLOAD_BYTES {
            return Err(too_large(path, facts.len(), UPLOAD_BYTES));
        }
        let uploads = self.own(UPLOADS)?;
        forget_old(uploads.path());
        let below = Path::new(&random_word()).join(name);
        let place = uploads.place(&below, true).map_err(|error| fault(path, &error))?;
        hand_over(file, &place, facts.modified().ok()).map_err(|error| fault(path, &error))?;
        let name = name.to_string_lossy().into_owned();
        Ok(Offered { path: place.path(), name, bytes: facts.len() })
    }
}

pub(crate) fn too_large(path: &Path, bytes: u64, most: u64) -> Failure {
    let message = format!("{} has {bytes} bytes; {most} are the most.", path.display());
    Failure::new(ErrorCode::BadArgs, message).with_hint("Give a smaller file.")
}

/// Links the open file itself, so that nothing can be put in its place; copies it where that is not possible.
fn hand_over(file: &mut File, place: &Place, modified: Option<SystemTime>) -> io::Result<()> {
    if cfg!(target_os = "linux") {
        let open = format!("/proc/self/fd/{}", file.as_raw_fd());
        if place.link_from(CWD, &open, AtFlags::SYMLINK_FOLLOW).is_ok() {
            return Ok(());
        }
    }
    let mut copy = place.create()?;
    io::copy(file, &mut copy)?;
    match modified {
        Some(modified) => copy.set_modified(modified),
        None => Ok(()),
    }
}

/// Removes what was handed to pages long ago.
fn forget_old(uploads: &Path) {
    for entry in std::fs::read_dir(uploads).into_iter().flatten().flatten() {
        let age =
            entry.metadata().and_then(|found| found.modified()).ok().and_then(|made| made.elapsed().ok());
        if age.is_some_and(|age| age > UPLOAD_KEPT) {
            // Tried again with the next one.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}
