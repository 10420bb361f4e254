//! Our own output directories. They are private, and new files in them get free names.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, CWD};
use rustix::io::Errno;
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_browser::PrivateDir;
use tabwire_engine::{FileKind, UploadFile};

use crate::action::files::root_directory::{FileSlot, RootDirectory};
use crate::action::files::safe_name::numbered;
use crate::action::files::written_files::WrittenFiles;
use crate::limits::UPLOAD_BYTES;

/// How long the copy of an uploaded file is kept. A page may read it at any time.
const UPLOAD_KEPT: Duration = Duration::from_secs(24 * 3600);

/// Files of one name in one of Tabwire's directories.
const SAME_NAMES: u64 = 100_000;

/// File names that are remembered, to number the next one or to recognise a file of ours.
pub(crate) const NAMES_REMEMBERED: usize = 4_096;

/// Where browsers store downloads until an action keeps them.
const INCOMING: &str = "incoming";

/// Copies of uploaded files.
const UPLOADS: &str = "uploads";

/// Where video encoders write.
const ENCODING: &str = "encoding";

/// Output directories below the state directory.
#[derive(Debug)]
pub(crate) struct OutputDirs {
    state: PathBuf,
    /// The next number for each file name, so that finding a free one is fast.
    next: Mutex<HashMap<PathBuf, u64>>,
    /// The files that sessions wrote.
    pub(crate) written: WrittenFiles,
}

impl OutputDirs {
    pub(crate) fn new(state: PathBuf) -> Self {
        Self { state, next: Mutex::default(), written: WrittenFiles::default() }
    }

    fn own(&self, name: &str) -> Result<RootDirectory, Failure> {
        let directory = PrivateDir::create(&self.state)?.subdirectory(name)?;
        RootDirectory::open(directory.path()).map_err(|error| fault(directory.path(), &error))
    }

    /// Our directory for files of a kind.
    pub(crate) fn directory_of(&self, kind: FileKind) -> Result<RootDirectory, Failure> {
        self.own(directory_name(kind))
    }

    /// The path of our directory for files of a kind, which may not exist.
    pub(crate) fn path_of(&self, kind: FileKind) -> PathBuf {
        self.state.join(directory_name(kind))
    }

    /// A file in one of Tabwire's directories, if the path leads to one.
    pub(crate) fn find_output(&self, path: &Path) -> Option<FileSlot> {
        OUTPUT_KINDS.iter().find_map(|kind| {
            // Only directories that exist: nothing is made for a path that leads elsewhere.
            let directory = RootDirectory::open(&self.state.join(directory_name(*kind))).ok()?;
            directory.place(&directory.find_below(path)?, false).ok()
        })
    }

    /// Where browsers store downloads until an action keeps them.
    pub(crate) fn incoming(&self) -> PathBuf {
        match self.own(INCOMING) {
            Ok(directory) => directory.path().to_owned(),
            // Keeping the download reports the error.
            Err(_) => self.state.join(INCOMING),
        }
    }

    /// Where an encoder writes until its video is kept.
    pub(crate) fn encoding_directory(&self) -> Result<PathBuf, Failure> {
        Ok(self.own(ENCODING)?.path().to_owned())
    }

    /// A download in one of Tabwire's directories.
    pub(crate) fn find_download(&self, path: &Path) -> Result<FileSlot, Failure> {
        for directory in [self.own(INCOMING)?, self.directory_of(FileKind::Download)?] {
            if let Some(below) = directory.find_below(path) {
                return directory.place(&below, false).map_err(|error| fault(path, &error));
            }
        }
        let message = format!("The download {} is outside of Tabwire's directories.", path.display());
        Err(Failure::new(ErrorCode::Internal, message))
    }

    /// Calls `take` with numbered names beside a slot until one is free.
    pub(crate) fn with_free_name<T>(
        &self,
        place: &FileSlot,
        name: &str,
        mut take: impl FnMut(&FileSlot) -> io::Result<T>,
    ) -> Result<(FileSlot, T), Failure> {
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
        let message = format!("There are too many files named {}.", path.display());
        Err(Failure::new(ErrorCode::Busy, message).with_remedy("Remove some of them, or give another path."))
    }

    fn next_number(&self, path: &Path) -> u64 {
        let next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        next.get(path).copied().unwrap_or(1)
    }

    fn note_number(&self, path: PathBuf, number: u64) {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        if next.len() >= NAMES_REMEMBERED {
            // The only cost: the next free number takes longer to find.
            next.clear();
        }
        next.insert(path, number);
    }

    /// Copies or links an open file for upload, under its own name in a new directory.
    pub(crate) fn offer(
        &self,
        file: &mut File,
        path: &Path,
        name: &std::ffi::OsStr,
    ) -> Result<UploadFile, Failure> {
        let facts = file.metadata().map_err(|error| fault(path, &error))?;
        if facts.len() > UPLOAD_BYTES {
            return Err(too_large(path, facts.len(), UPLOAD_BYTES));
        }
        let uploads = self.own(UPLOADS)?;
        forget_old(uploads.path());
        let below = Path::new(&random_name()).join(name);
        let place = uploads.place(&below, true).map_err(|error| fault(path, &error))?;
        move_to(file, &place, facts.modified().ok()).map_err(|error| fault(path, &error))?;
        let name = name.to_string_lossy().into_owned();
        Ok(UploadFile { path: place.path(), name, bytes: facts.len() })
    }

    /// Writes content for upload, under a harmless name in a new directory. Returns its path.
    pub(crate) fn offer_bytes(&self, name: &str, content: &[u8]) -> Result<PathBuf, Failure> {
        let uploads = self.own(UPLOADS)?;
        forget_old(uploads.path());
        let below = Path::new(&random_name()).join(name);
        let place = uploads.place(&below, true).map_err(|error| fault(&below, &error))?;
        let written = place.create().and_then(|mut file| io::Write::write_all(&mut file, content));
        written.map_err(|error| fault(&below, &error))?;
        Ok(place.path())
    }
}

/// Kinds of files that have a directory of ours.
const OUTPUT_KINDS: [FileKind; 9] = [
    FileKind::Screenshot,
    FileKind::Pdf,
    FileKind::Download,
    FileKind::Har,
    FileKind::Trace,
    FileKind::Recording,
    FileKind::Capture,
    FileKind::State,
    FileKind::Body,
];

pub(crate) const fn directory_name(kind: FileKind) -> &'static str {
    match kind {
        FileKind::Screenshot => "screenshots",
        FileKind::Pdf => "pdfs",
        FileKind::Download => "downloads",
        FileKind::Har => "har",
        FileKind::Trace => "traces",
        FileKind::Recording => "recordings",
        FileKind::Capture => "captures",
        FileKind::State => "states",
        FileKind::Body => "bodies",
    }
}

pub(crate) fn too_large(path: &Path, bytes: u64, most: u64) -> Failure {
    let message = format!("{} has {bytes} bytes; the limit is {most}.", path.display());
    Failure::new(ErrorCode::BadArgs, message).with_remedy("Give a smaller file.")
}

/// Hard-links the open file, so that it cannot be replaced; copies it where that is not possible.
fn move_to(file: &mut File, place: &FileSlot, modified: Option<SystemTime>) -> io::Result<()> {
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

/// Removes old copies of uploaded files.
fn forget_old(uploads: &Path) {
    for entry in std::fs::read_dir(uploads).into_iter().flatten().flatten() {
        let age =
            entry.metadata().and_then(|found| found.modified()).ok().and_then(|made| made.elapsed().ok());
        if age.is_some_and(|age| age > UPLOAD_KEPT) {
            // Retried with the next upload.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// The failure for an I/O error on a path.
pub(crate) fn fault(path: &Path, error: &io::Error) -> Failure {
    let failure = |code, why: &str| Failure::new(code, format!("{} {why}.", path.display()));
    match Errno::from_io_error(error) {
        Some(Errno::EXIST) => {
            failure(ErrorCode::BadArgs, "exists already, and this session did not write it").with_remedy(
                Remedy::new(
                    "Give another name, or a directory. On the command line, {} replaces the file.",
                    [Step::command("--force")],
                ),
            )
        }
        Some(Errno::LOOP | Errno::NOTDIR) => {
            failure(ErrorCode::PolicyDenied, "is a link or is below one, and links are not followed")
                .with_remedy("Give the target of the link, below a declared root.")
        }
        Some(Errno::XDEV) => failure(ErrorCode::PolicyDenied, "is outside of its root"),
        Some(Errno::ISDIR) => failure(ErrorCode::BadArgs, "is a directory").with_remedy("Give a file."),
        Some(Errno::NODEV | Errno::NXIO) => failure(ErrorCode::PolicyDenied, "is not a regular file")
            .with_remedy("Devices, sockets and pipes are not opened."),
        Some(Errno::NOENT) => failure(ErrorCode::BadArgs, "does not exist").with_remedy("Check the path."),
        _ => Failure::new(ErrorCode::BadArgs, format!("{} cannot be used: {error}.", path.display()))
            .with_remedy("Check its permissions and the free space."),
    }
}

/// A random name for a new file.
pub(crate) fn random_name() -> String {
    let mut bytes = [0_u8; 8];
    // Without randomness the name may be taken, and creating the file fails.
    let _ = getrandom::fill(&mut bytes);
    format!("{:016x}", u64::from_le_bytes(bytes))
}
