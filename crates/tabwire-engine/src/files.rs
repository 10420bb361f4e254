//! Access to files. The engine opens no files itself: its caller implements `Files` and decides what may be read and
//! written.

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use tabwire_api::{ErrorCode, Failure};

/// The purpose of a file that the engine writes. It decides the directory and the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// A screenshot.
    Screenshot,
    /// A PDF of a page.
    Pdf,
    /// A download.
    Download,
    /// Recorded requests (HAR).
    Har,
    /// A performance trace.
    Trace,
    /// A video of a page.
    Recording,
    /// A capture of an action.
    Capture,
    /// Saved cookies and storage.
    State,
    /// A part of a request or response.
    Body,
}

/// A file for a file input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadFile {
    /// The path for the browser.
    pub path: PathBuf,
    /// Its name.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
}

/// A new file that is written in parts.
pub struct NewFile {
    /// Where it is.
    pub path: PathBuf,
    /// The open file.
    pub content: Box<dyn Write + Send>,
}

impl NewFile {
    /// Appends content.
    ///
    /// # Errors
    /// When writing fails.
    pub fn add(&mut self, content: &[u8]) -> Result<(), Failure> {
        self.content.write_all(content).map_err(|error| unwritten(&self.path, &error))
    }
}

impl fmt::Debug for NewFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("NewFile").field("path", &self.path).finish_non_exhaustive()
    }
}

fn unwritten(path: &Path, error: &io::Error) -> Failure {
    Failure::new(ErrorCode::BadArgs, format!("{} cannot be written: {error}.", path.display()))
        .with_remedy("Check that there is space left, or give another path.")
}

/// A new directory for output files, usable while the value exists.
pub trait OutputDirectory: Send + Sync + fmt::Debug {
    /// Where it is.
    fn path(&self) -> PathBuf;

    /// Creates a file in it; never replaces one.
    ///
    /// # Errors
    /// When a file of that name exists, or it cannot be created.
    fn create(&self, name: &str) -> Result<NewFile, Failure>;
}

/// The result of moving a file.
pub type RemoteFileFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + Send + 'a>>;

/// Files on the machine of a browser that runs elsewhere.
pub trait RemoteFiles: Send + Sync + fmt::Debug {
    /// Puts a file there; returns its path there.
    fn place<'a>(&'a self, file: &'a UploadFile) -> RemoteFileFuture<'a, PathBuf>;

    /// Gets a download of this name, and writes it to a new file of this machine.
    fn fetch<'a>(&'a self, name: &'a str, to: &'a Path) -> RemoteFileFuture<'a, ()>;
}

/// File access for the engine. Calls may block for a short time.
pub trait Files: Send + Sync + fmt::Debug {
    /// The same files, where an output replaces any file of its path. Protected names and links stay refused.
    fn overwriting(&self) -> Arc<dyn Files>;

    /// Writes a file at `path`, or a new one at a chosen path for `None`. At `path` it replaces only a file that this
    /// session wrote and that did not change since.
    ///
    /// # Errors
    /// When the path is not below a declared root or cannot be written.
    fn write(
        &self,
        kind: FileKind,
        path: Option<&Path>,
        suggested_name: &str,
        content: &[u8],
    ) -> Result<PathBuf, Failure>;

    /// Creates a file that is written in parts; otherwise as `write`.
    ///
    /// # Errors
    /// When the path is not below a declared root or cannot be written.
    fn create(&self, kind: FileKind, path: Option<&Path>, suggested_name: &str) -> Result<NewFile, Failure>;

    /// Creates a directory for files that belong together. A given `path` may exist already.
    ///
    /// # Errors
    /// When the path is not below a declared root or cannot be written.
    fn create_directory(
        &self,
        kind: FileKind,
        path: Option<&Path>,
        suggested_name: &str,
    ) -> Result<Arc<dyn OutputDirectory>, Failure>;

    /// Checks that a file may be read, and returns its canonical path.
    ///
    /// # Errors
    /// When it is not below a declared root, is not a regular file, or does not exist.
    fn check_input(&self, path: &Path) -> Result<PathBuf, Failure>;

    /// Reads a file that may be read.
    ///
    /// # Errors
    /// When it may not be read, or is too large.
    fn read(&self, path: &Path) -> Result<Vec<u8>, Failure>;

    /// Prepares a readable file for upload. The browser reads exactly the file that was checked, even if the path is
    /// replaced meanwhile.
    ///
    /// # Errors
    /// When it may not be read, or is too large.
    fn offer_upload(&self, path: &Path) -> Result<UploadFile, Failure>;

    /// Checks that a file may be written at a path.
    ///
    /// # Errors
    /// When it is not below a declared root, or a file of another origin exists there.
    fn check_output(&self, path: &Path) -> Result<(), Failure>;

    /// The directory for downloads in progress.
    fn download_directory(&self) -> PathBuf;

    /// Moves a finished download to `path`, or into the downloads directory for `None`, under a safe name.
    ///
    /// # Errors
    /// When it cannot be moved.
    fn store_download(
        &self,
        staged: &Path,
        suggested_name: &str,
        path: Option<&Path>,
    ) -> Result<PathBuf, Failure>;

    /// Deletes a download from Tabwire's own directory.
    fn discard_download(&self, kept: &Path);
}
