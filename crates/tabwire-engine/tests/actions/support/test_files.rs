//! A temporary directory as the files of an action.

#![expect(clippy::disallowed_methods, reason = "tests look at the files that actions make")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tabwire_api::{ErrorCode, Failure};
use tabwire_engine::{FileKind, Files, NewFile, OutputDirectory, UploadFile};

/// A test's own directory.
#[derive(Clone, Debug)]
pub(crate) struct TestFiles {
    directory: Arc<tempfile::TempDir>,
}

impl TestFiles {
    pub(crate) fn new() -> Self {
        Self { directory: Arc::new(tempfile::tempdir().expect("a directory")) }
    }

    /// The path of a file that actions may write.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes a file that actions may read.
    pub(crate) fn put(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.directory.path().join(name);
        std::fs::write(&path, content).expect("written");
        path
    }
}

/// The content of a file.
pub(crate) fn content_of(path: &str) -> String {
    std::fs::read_to_string(path).expect("the file is there")
}

fn refused(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(ErrorCode::BadArgs, format!("{}: {error}.", path.display()))
}

fn create(path: PathBuf) -> Result<NewFile, Failure> {
    let made = std::fs::File::create_new(&path).map_err(|error| refused(&path, &error))?;
    Ok(NewFile { path, content: Box::new(made) })
}

/// A directory in the test's own.
#[derive(Debug)]
struct TestFolder(PathBuf);

impl OutputDirectory for TestFolder {
    fn path(&self) -> PathBuf {
        self.0.clone()
    }

    fn create(&self, name: &str) -> Result<NewFile, Failure> {
        create(self.0.join(name))
    }
}

impl Files for TestFiles {
    fn overwriting(&self) -> Arc<dyn Files> {
        Arc::new(self.clone())
    }

    fn write(
        &self,
        kind: FileKind,
        output: Option<&Path>,
        suggested_name: &str,
        content: &[u8],
    ) -> Result<PathBuf, Failure> {
        let name = output
            .and_then(Path::file_name)
            .map_or_else(|| format!("{kind:?}-{suggested_name}").into(), PathBuf::from);
        let path = self.directory.path().join(name);
        std::fs::write(&path, content).map_err(|error| refused(&path, &error))?;
        Ok(path)
    }

    fn create(
        &self,
        kind: FileKind,
        output: Option<&Path>,
        suggested_name: &str,
    ) -> Result<NewFile, Failure> {
        let name = output.and_then(Path::file_name);
        let name = name.map_or_else(|| format!("{kind:?}-{suggested_name}").into(), PathBuf::from);
        create(self.directory.path().join(name))
    }

    fn create_directory(
        &self,
        kind: FileKind,
        output: Option<&Path>,
        suggested_name: &str,
    ) -> Result<Arc<dyn OutputDirectory>, Failure> {
        let name = output.and_then(Path::file_name);
        let name = name.map_or_else(|| format!("{kind:?}-{suggested_name}").into(), PathBuf::from);
        let path = self.directory.path().join(name);
        std::fs::create_dir_all(&path).map_err(|error| refused(&path, &error))?;
        Ok(Arc::new(TestFolder(path)))
    }

    fn check_input(&self, path: &Path) -> Result<PathBuf, Failure> {
        let real = path.canonicalize().map_err(|error| refused(path, &error))?;
        let root = self.directory.path().canonicalize().map_err(|error| refused(path, &error))?;
        if real.starts_with(root) {
            return Ok(real);
        }
        Err(Failure::new(ErrorCode::PolicyDenied, format!("{} is not below a root.", path.display())))
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, Failure> {
        let path = self.check_input(path)?;
        std::fs::read(&path).map_err(|error| refused(&path, &error))
    }

    fn offer_upload(&self, path: &Path) -> Result<UploadFile, Failure> {
        let path = self.check_input(path)?;
        let bytes = path.metadata().map_err(|error| refused(&path, &error))?.len();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(UploadFile { path, name, bytes })
    }

    fn check_output(&self, output: &Path) -> Result<(), Failure> {
        let path = output.parent().unwrap_or(output);
        if path.starts_with(self.directory.path()) {
            return Ok(());
        }
        Err(Failure::new(ErrorCode::PolicyDenied, format!("{} is not below a root.", output.display())))
    }

    fn download_directory(&self) -> PathBuf {
        let path = self.directory.path().join("downloads");
        let _ = std::fs::create_dir_all(&path);
        path
    }

    fn store_download(
        &self,
        staged: &Path,
        suggested_name: &str,
        output: Option<&Path>,
    ) -> Result<PathBuf, Failure> {
        let path = output.map_or_else(|| self.directory.path().join(suggested_name), Path::to_owned);
        std::fs::rename(staged, &path).map_err(|error| refused(&path, &error))?;
        Ok(path)
    }

    fn discard_download(&self, kept: &Path) {
        std::fs::remove_file(kept).expect("a file of ours");
    }
}
