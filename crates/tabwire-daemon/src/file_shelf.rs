//! Where actions' files come from and go: our own directory, or below roots that were declared.

use std::path::{Path, PathBuf};

use tabwire_engine::{FileKind, Files};
use tabwire_wire::{ErrorCode, Failure};

/// The daemon's way to files.
#[derive(Debug)]
pub(crate) struct FileShelf {
    state: PathBuf,
}

impl FileShelf {
    pub(crate) fn new(state: PathBuf) -> Self {
        Self { state }
    }
}

impl Files for FileShelf {
    fn write(
        &self,
        _kind: FileKind,
        _wish: Option<&Path>,
        _suggested_name: &str,
        _content: &[u8],
    ) -> Result<PathBuf, Failure> {
        Err(Failure::new(ErrorCode::Internal, "Files cannot be written yet."))
    }

    fn admit(&self, _path: &Path) -> Result<PathBuf, Failure> {
        Err(Failure::new(ErrorCode::Internal, "Files cannot be read yet."))
    }

    fn read(&self, _path: &Path) -> Result<Vec<u8>, Failure> {
        Err(Failure::new(ErrorCode::Internal, "Files cannot be read yet."))
    }

    fn download_directory(&self) -> PathBuf {
        self.state.join("downloads")
    }

    fn keep_download(
        &self,
        _staged: &Path,
        _suggested_name: &str,
        _wish: Option<&Path>,
    ) -> Result<PathBuf, Failure> {
        Err(Failure::new(ErrorCode::Internal, "Downloads cannot be kept yet."))
    }
}
