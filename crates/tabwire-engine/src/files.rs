//! Where files come from and go. The engine never opens one: whoever runs it decides what may be read and written.

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tabwire_api::{ErrorCode, Failure};

/// What a file that the engine makes is for; it decides the directory and the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// An image of a page.
    Screenshot,
    /// A page in print.
    Pdf,
    /// What a page had downloaded.
    Download,
    /// A record of requests.
    Har,
    /// A record of what the browser did.
    Trace,
    /// A moving image of a page.
    Recording,
    /// Evidence of what an action did.
    Capture,
    /// Cookies and storage.
    State,
    /// The body of a request or a response.
    Body,
}

/// A file that a browser may be given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadFile {
    /// Where the browser finds it.
    pub path: PathBuf,
    /// What it is called.
    pub name: String,
    /// How large it is.
    pub bytes: u64,
}

/// A file that was made and is still empty, to be written bit by bit.
pub struct NewFile {
    /// Where it is.
    pub path: PathBuf,
    /// What is written to it.
    pub content: Box<dyn Write + Send>,
}

impl NewFile {
    /// Adds to it.
    ///
    /// # Errors
    /// When the disk is full or gone.
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

/// A directory that was made for files of ours, usable for as long as it is held.
pub trait OutputDirectory: Send + Sync + fmt::Debug {
    /// Where it is.
    fn path(&self) -> PathBuf;

    /// Makes a new file in it; never replaces one.
    ///
    /// # Errors
    /// When there is one of that name, or it cannot be made.
    fn create(&self, name: &str) -> Result<NewFile, Failure>;
}

/// A way to files that is given to the engine. Calls may block; they are short.
pub trait Files: Send + Sync + fmt::Debug {
    /// Writes a new file; without a wish we choose where. Never replaces a file that we did not make.
    ///
    /// # Errors
    /// When the place is not below a declared root or cannot be written.
    fn write(
        &self,
        kind: FileKind,
        wish: Option<&Path>,
        suggested_name: &str,
        content: &[u8],
    ) -> Result<PathBuf, Failure>;

    /// Makes a new file that is written bit by bit; otherwise as `write`.
    ///
    /// # Errors
    /// When the place is not below a declared root or cannot be written.
    fn create(&self, kind: FileKind, wish: Option<&Path>, suggested_name: &str) -> Result<NewFile, Failure>;

    /// Makes a directory for files that belong together; one that is wished for may be there already.
    ///
    /// # Errors
    /// When the place is not below a declared root or cannot be written.
    fn create_directory(
        &self,
        kind: FileKind,
        wish: Option<&Path>,
        suggested_name: &str,
    ) -> Result<Arc<dyn OutputDirectory>, Failure>;

    /// Checks that a file may be read, and says where it really is.
    ///
    /// # Errors
    /// When it is not below a declared root, is no plain file, or is not there.
    fn check_input(&self, path: &Path) -> Result<PathBuf, Failure>;

    /// Reads a file that may be read.
    ///
    /// # Errors
    /// When it may not be read, or is too large.
    fn read(&self, path: &Path) -> Result<Vec<u8>, Failure>;

    /// Makes a file that may be read ready for a browser: what was checked is what the browser reads, whatever
    /// becomes of the path in the meantime.
    ///
    /// # Errors
    /// When it may not be read, or is too large.
    fn offer_upload(&self, path: &Path) -> Result<UploadFile, Failure>;

    /// Checks that a new file may be written at a place that was wished for.
    ///
    /// # Errors
    /// When it is not below a declared root, or something is there already.
    fn check_output(&self, wish: &Path) -> Result<(), Failure>;

    /// The directory browsers put downloads in while they are under way.
    fn download_directory(&self) -> PathBuf;

    /// Puts a finished download where it belongs, under a name that does no harm.
    ///
    /// # Errors
    /// When it cannot be moved.
    fn store_download(
        &self,
        staged: &Path,
        suggested_name: &str,
        wish: Option<&Path>,
    ) -> Result<PathBuf, Failure>;

    /// Throws away a download that was kept in our own directory.
    fn discard_download(&self, kept: &Path);
}
