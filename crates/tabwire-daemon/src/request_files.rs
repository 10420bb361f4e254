//! Files as one request may use them: our own directories, and what is below the roots it declared.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::Mode;
use rustix::io::Errno;
use tabwire_engine::{FileKind, Files, Folder, NewFile, Offered};
use tabwire_wire::{ErrorCode, Failure};

use crate::dangerous_extension::defused;
use crate::file_fault::fault;
use crate::file_shelf::{FileShelf, too_large};
use crate::limits::{READ_BYTES, ROOTS};
use crate::request_folder::RequestFolder;
use crate::root_directory::{Place, RootDirectory};
use crate::safe_name::safe_name;

/// One request's way to files.
#[derive(Debug)]
pub(crate) struct RequestFiles {
    shelf: Arc<FileShelf>,
    roots: Vec<PathBuf>,
    working_directory: Option<PathBuf>,
}

/// Where a new file goes.
enum Output {
    /// Under this very name, which must be free.
    Exact(Place),
    /// In this directory, under the first free name.
    Inside(Place),
}

impl RequestFiles {
    /// Only our own directories.
    pub(crate) fn own(shelf: &Arc<FileShelf>) -> Self {
        Self { shelf: Arc::clone(shelf), roots: Vec::new(), working_directory: None }
    }

    /// Our own directories and what is below the roots; without any, the working directory is the root.
    ///
    /// # Errors
    /// When a root is relative or there are too many.
    pub(crate) fn below(
        shelf: &Arc<FileShelf>,
        roots: Vec<PathBuf>,
        working_directory: Option<PathBuf>,
    ) -> Result<Self, Failure> {
        if roots.len() > ROOTS {
            return Err(Failure::new(ErrorCode::BadArgs, format!("More than {ROOTS} roots were declared.")));
        }
        let roots = if roots.is_empty() { working_directory.iter().cloned().collect() } else { roots };
        let mut declared = roots.iter().chain(&working_directory);
        if let Some(relative) = declared.find(|path| !path.is_absolute()) {
            let message = format!("The directory {} is relative, and the daemon is elsewhere.", relative.display());
            return Err(Failure::new(ErrorCode::BadArgs, message).with_hint("Give its whole path."));
        }
        Ok(Self { shelf: Arc::clone(shelf), roots, working_directory })
    }

    /// The root that a path is below, and the way from there.
    fn find_root(&self, path: &Path) -> Result<(RootDirectory, PathBuf), Failure> {
        if path.as_os_str().as_encoded_bytes().iter().any(u8::is_ascii_control) {
            return Err(Failure::new(ErrorCode::BadArgs, format!("The path {path:?} has control characters.")));
        }
        let whole = match &self.working_directory {
            Some(directory) => directory.join(path),
            None => path.to_owned(),
        };
        if !whole.is_absolute() {
            let message = format!("The path {} is relative, and the daemon is elsewhere.", path.display());
            return Err(Failure::new(ErrorCode::BadArgs, message).with_hint("Give the whole path."));
        }
        for declared in &self.roots {
            let root = RootDirectory::open(declared).map_err(|error| fault(declared, &error))?;
            if let Some(below) = root.find_below(&whole) {
                return Ok((root, below));
            }
        }
        Err(self.outside(&whole))
    }

    fn outside(&self, path: &Path) -> Failure {
        let message = format!("{} is not below a directory that was declared.", path.display());
        let roots: Vec<String> = self.roots.iter().map(|root| root.display().to_string()).collect();
        let hint = match &roots[..] {
            [] => "No directory was declared; name one with `--root DIR`.".to_owned(),
            roots => format!("Declared: {}. Name another with `--root DIR`.", roots.join(", ")),
        };
        Failure::new(ErrorCode::PolicyDenied, message).with_hint(hint)
    }

    /// Where a wish for a new file leads. Missing directories are made.
    fn output(&self, wish: &Path) -> Result<Output, Failure> {
        let (root, below) = self.find_root(wish)?;
        let told = |error: io::Error| fault(wish, &error);
        // The name does not matter for a directory; one has to be there.
        let inside = |below: &Path| root.place(&below.join("file"), true).map(Output::Inside).map_err(told);
        if below.as_os_str().is_empty() || wish.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return inside(&below);
        }
        let place = root.place(&below, true).map_err(told)?;
        if place.is_directory() { inside(&below) } else { Ok(Output::Exact(place)) }
    }

    fn open(&self, path: &Path) -> Result<(File, Place), Failure> {
        let (root, below) = self.find_root(path)?;
        let place = root.place(&below, false).map_err(|error| fault(path, &error))?;
        let file = place.open().map_err(|error| fault(path, &error))?;
        Ok((file, place))
    }

    /// Puts something new where it is wished for, or in our own directory.
    fn put<T>(
        &self,
        kind: FileKind,
        wish: Option<&Path>,
        name: &str,
        mut take: impl FnMut(&Place) -> io::Result<T>,
    ) -> Result<(Place, T), Failure> {
        match wish.map(|wish| self.output(wish)).transpose()? {
            Some(Output::Exact(place)) => {
                let taken = take(&place).map_err(|error| fault(&place.path(), &error))?;
                Ok((place, taken))
            }
            Some(Output::Inside(place)) => self.shelf.with_free_name(&place, name, take),
            None => {
                let directory = self.shelf.directory_of(kind)?;
                let place = directory.place(Path::new(name), false);
                let place = place.map_err(|error| fault(directory.path(), &error))?;
                self.shelf.with_free_name(&place, name, take)
            }
        }
    }
}

impl Files for RequestFiles {
    fn write(
        &self,
        kind: FileKind,
        wish: Option<&Path>,
        suggested_name: &str,
        content: &[u8],
    ) -> Result<PathBuf, Failure> {
        let name = safe_name(suggested_name, "file");
        let (place, mut file) = self.put(kind, wish, &name, Place::create)?;
        file.write_all(content).map_err(|error| {
            place.remove();
            fault(&place.path(), &error)
        })?;
        Ok(place.path())
    }

    fn create(&self, kind: FileKind, wish: Option<&Path>, suggested_name: &str) -> Result<NewFile, Failure> {
        let name = safe_name(suggested_name, "file");
        let (place, file) = self.put(kind, wish, &name, Place::create)?;
        Ok(NewFile { path: place.path(), content: Box::new(file) })
    }

    fn make_folder(
        &self,
        kind: FileKind,
        wish: Option<&Path>,
        suggested_name: &str,
    ) -> Result<Arc<dyn Folder>, Failure> {
        let (root, below) = match wish {
            Some(wish) => self.find_root(wish)?,
            None => (self.shelf.directory_of(kind)?, PathBuf::from(safe_name(suggested_name, "folder"))),
        };
        // The name does not matter; one has to be there for the directories above it to be made.
        let place = root.place(&below.join("file"), true).map_err(|error| fault(&below, &error))?;
        Ok(Arc::new(RequestFolder::new(place)))
    }

    fn admit(&self, path: &Path) -> Result<PathBuf, Failure> {
        self.open(path).map(|(_, place)| place.path())
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, Failure> {
        let (file, _) = self.open(path)?;
        let mut content = Vec::new();
        // One more than is allowed: the file may grow while it is read.
        file.take(READ_BYTES + 1).read_to_end(&mut content).map_err(|error| fault(path, &error))?;
        let bytes = u64::try_from(content.len()).unwrap_or(u64::MAX);
        if bytes > READ_BYTES { Err(too_large(path, bytes, READ_BYTES)) } else { Ok(content) }
    }

    fn offer(&self, path: &Path) -> Result<Offered, Failure> {
        let (mut file, place) = self.open(path)?;
        self.shelf.offer(&mut file, path, place.name())
    }

    fn check_output(&self, wish: &Path) -> Result<(), Failure> {
        match self.output(wish)? {
            Output::Exact(place) if place.is_taken() => Err(fault(&place.path(), &Errno::EXIST.into())),
            _ => Ok(()),
        }
    }

    fn download_directory(&self) -> PathBuf {
        self.shelf.incoming()
    }

    fn keep_download(&self, staged: &Path, suggested_name: &str, wish: Option<&Path>) -> Result<PathBuf, Failure> {
        let from = self.shelf.find_download(staged)?;
        let mut file = from.open().map_err(|error| fault(staged, &error))?;
        rustix::fs::fchmod(&file, Mode::RUSR | Mode::WUSR).map_err(|errno| fault(staged, &errno.into()))?;
        let name = defused(&safe_name(suggested_name, "download"));
        let (place, ()) = self.put(FileKind::Download, wish, &name, |to| match from.move_to(to) {
            // Another file system, or one without links.
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                let mut copy = to.create()?;
                let copied = io::copy(&mut file, &mut copy);
                if copied.is_err() {
                    to.remove();
                }
                copied?;
                from.remove();
                Ok(())
            }
            moved => moved,
        })?;
        Ok(place.path())
    }

    fn discard_download(&self, kept: &Path) {
        if let Ok(place) = self.shelf.find_download(kept) {
            place.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    struct Desk {
        home: tempfile::TempDir,
        files: RequestFiles,
    }

    fn desk() -> Desk {
        let home = tempfile::tempdir().unwrap();
        for directory in ["work", "other", "work/sub"] {
            std::fs::create_dir(home.path().join(directory)).unwrap();
        }
        std::fs::write(home.path().join("other/secret"), "secret").unwrap();
        std::fs::write(home.path().join("work/file.txt"), "mine").unwrap();
        symlink(home.path().join("other"), home.path().join("work/away")).unwrap();
        let shelf = Arc::new(FileShelf::new(home.path().join("state")));
        let files = RequestFiles::below(&shelf, Vec::new(), Some(home.path().join("work"))).unwrap();
        Desk { home, files }
    }

    fn code(result: Result<impl Sized, Failure>) -> ErrorCode {
        result.err().expect("refused").code
    }

    #[test]
    fn t30_only_plain_files_below_a_root_are_handed_out() {
        let Desk { home, files } = desk();
        let offered = files.offer(Path::new("file.txt")).unwrap();
        assert_eq!((offered.name.as_str(), offered.bytes), ("file.txt", 4));
        // Swapped after it was checked: the browser still reads what was checked.
        std::fs::remove_file(home.path().join("work/file.txt")).unwrap();
        symlink(home.path().join("other/secret"), home.path().join("work/file.txt")).unwrap();
        assert_eq!(std::fs::read_to_string(&offered.path).unwrap(), "mine");
        for refused in ["../other/secret", "away/secret", "file.txt", "/etc/passwd", "sub/../../other/secret"] {
            assert_eq!(code(files.offer(Path::new(refused))), ErrorCode::PolicyDenied, "{refused}");
            assert_eq!(code(files.read(Path::new(refused))), ErrorCode::PolicyDenied, "{refused}");
        }
        assert_eq!(code(files.admit(Path::new("/dev/zero"))), ErrorCode::PolicyDenied);
        let devices = RequestFiles::below(&files.shelf, vec!["/dev".into()], None).unwrap();
        assert_eq!(code(devices.admit(Path::new("/dev/zero"))), ErrorCode::PolicyDenied);
        for missing in ["none", "sub", "a\nb"] {
            assert_eq!(code(files.admit(Path::new(missing))), ErrorCode::BadArgs, "{missing}");
        }
        let nobody = RequestFiles::own(&files.shelf);
        assert_eq!(code(nobody.admit(&home.path().join("work/sub"))), ErrorCode::PolicyDenied);
        assert_eq!(code(nobody.admit(Path::new("relative"))), ErrorCode::BadArgs);
        assert_eq!(code(RequestFiles::below(&files.shelf, vec!["a".into()], None)), ErrorCode::BadArgs);
    }

    #[test]
    fn t31_new_files_go_where_they_may_and_replace_nothing() {
        let Desk { home, files } = desk();
        let work = home.path().canonicalize().unwrap().join("work");
        let write = |wish: Option<&str>| files.write(FileKind::Screenshot, wish.map(Path::new), "page.png", b"x");
        let first = write(None).unwrap();
        assert!(first.ends_with("state/screenshots/page.png"), "{first:?}");
        assert!(write(None).unwrap().ends_with("state/screenshots/page-2.png"));
        assert_eq!(write(Some("new/shot.png")).unwrap(), work.join("new/shot.png"));
        assert_eq!(write(Some("sub")).unwrap(), work.join("sub/page.png"));
        assert_eq!(write(Some("sub/")).unwrap(), work.join("sub/page-2.png"));
        assert_eq!(write(Some(".")).unwrap(), work.join("page.png"));
        assert_eq!(code(write(Some("new/shot.png"))), ErrorCode::BadArgs);
        assert_eq!(code(files.check_output(Path::new("file.txt"))), ErrorCode::BadArgs);
        files.check_output(Path::new("fresh.txt")).unwrap();
        for refused in ["../out.png", "away/out.png", "/tmp/out.png", "away"] {
            let code = code(write(Some(refused)));
            assert!(matches!(code, ErrorCode::PolicyDenied | ErrorCode::BadArgs), "{refused}");
            assert_eq!(std::fs::read_dir(home.path().join("other")).unwrap().count(), 1, "{refused}");
        }
        assert_eq!(std::fs::read_to_string(home.path().join("work/file.txt")).unwrap(), "mine");
    }

    #[test]
    fn t31_folders_are_made_below_roots_and_their_files_replace_nothing() {
        let Desk { home, files } = desk();
        let own = files.make_folder(FileKind::Capture, None, "a/b").unwrap();
        assert!(own.path().starts_with(home.path().canonicalize().unwrap().join("state/captures")));
        let wished = files.make_folder(FileKind::Capture, Some(Path::new("sub/new")), "x").unwrap();
        wished.create("index.jsonl").unwrap().add(b"1").unwrap();
        let path = home.path().join("work/sub/new/index.jsonl");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "1");
        assert_eq!(code(wished.create("index.jsonl")), ErrorCode::BadArgs);
        let inside = wished.create("../../up.txt").unwrap();
        assert_eq!(inside.path.parent().unwrap(), wished.path());
        for refused in ["../other/x", "away/x", "/tmp/x"] {
            let code = code(files.make_folder(FileKind::Capture, Some(Path::new(refused)), "x"));
            assert!(matches!(code, ErrorCode::PolicyDenied | ErrorCode::BadArgs), "{refused}");
        }
        let mut whole = files.create(FileKind::Trace, Some(Path::new("trace.json")), "x").unwrap();
        whole.add(b"{").unwrap();
        whole.add(b"}").unwrap();
        assert_eq!(std::fs::read_to_string(home.path().join("work/trace.json")).unwrap(), "{}");
    }

    #[test]
    fn t31_downloads_are_kept_under_harmless_names() {
        let Desk { home, files } = desk();
        let staged = |content: &str| {
            let path = files.download_directory().join("guid");
            std::fs::write(&path, content).unwrap();
            path
        };
        let kept = files.keep_download(&staged("1"), "../../setup.exe", None).unwrap();
        assert!(kept.ends_with("state/downloads/setup.exe.download"), "{kept:?}");
        let mode = std::os::unix::fs::MetadataExt::mode(&kept.metadata().unwrap()) & 0o777;
        assert_eq!(mode, 0o600);
        let again = files.keep_download(&staged("2"), "setup.exe", None).unwrap();
        assert!(again.ends_with("setup.exe-2.download"), "{again:?}");
        let wished = files.keep_download(&again, "setup.exe", Some(Path::new("mine.exe"))).unwrap();
        assert_eq!(std::fs::read_to_string(&wished).unwrap(), "2");
        assert!(!again.exists() && wished.ends_with("work/mine.exe"));
        assert_eq!(code(files.keep_download(&kept, "a", Some(Path::new("../a")))), ErrorCode::PolicyDenied);
        let stranger = home.path().join("other/secret");
        assert_eq!(code(files.keep_download(&stranger, "a", None)), ErrorCode::Internal);
    }
}
