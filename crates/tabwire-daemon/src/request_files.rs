//! Files as one request may use them: our own directories, and what is below the roots it declared.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::Mode;
use rustix::io::Errno;
use tabwire_engine::{FileKind, Files, Folder, NewFile, Offered};
use tabwire_wire::{ErrorCode, Failure};

use crate::dangerous_extension::{HARMLESS, defused};
use crate::file_fault::fault;
use crate::file_shelf::{FileShelf, too_large};
use crate::limits::{READ_BYTES, ROOTS};
use crate::protected_path::{Wanted, is_protected_name, refuse_protected};
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
            let message =
                format!("The directory {} is relative, and the daemon is elsewhere.", relative.display());
            return Err(Failure::new(ErrorCode::BadArgs, message).with_hint("Give its whole path."));
        }
        Ok(Self { shelf: Arc::clone(shelf), roots, working_directory })
    }

    /// The root that a path is below, and the way from there.
    fn find_root(&self, path: &Path) -> Result<(RootDirectory, PathBuf), Failure> {
        if path.as_os_str().as_encoded_bytes().iter().any(u8::is_ascii_control) {
            return Err(Failure::new(
                ErrorCode::BadArgs,
                format!("The path {path:?} has control characters."),
            ));
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
        let inside = |below: &Path| {
            self.refuse_protected(&root, below, Wanted::Directory)?;
            root.place(&below.join("file"), true).map(Output::Inside).map_err(told)
        };
        if below.as_os_str().is_empty() || wish.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return inside(&below);
        }
        let above = below.parent().unwrap_or(Path::new(""));
        self.refuse_protected(&root, above, Wanted::Directory)?;
        if root.place(&below, false).is_ok_and(|place| place.is_directory()) {
            return inside(&below);
        }
        self.refuse_protected(&root, &below, Wanted::File)?;
        root.place(&below, true).map(Output::Exact).map_err(told)
    }

    /// Refuses a path that tools act on, seen from its root and from the working directory: a root may itself be such
    /// a directory.
    fn refuse_protected(&self, root: &RootDirectory, below: &Path, wanted: Wanted) -> Result<(), Failure> {
        refuse_protected(below, wanted)?;
        let working = self.working_directory.as_ref().and_then(|working| working.canonicalize().ok());
        let from_there = working.and_then(|working| root.path().strip_prefix(working).ok());
        match from_there {
            Some(way) => refuse_protected(&way.join(below), wanted),
            None => Ok(()),
        }
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
            // A page may have suggested the name.
            Some(Output::Inside(place)) if is_protected_name(name) => {
                self.shelf.with_free_name(&place, &format!("{name}{HARMLESS}"), take)
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
            Some(wish) => {
                let (root, below) = self.find_root(wish)?;
                self.refuse_protected(&root, &below, Wanted::Directory)?;
                (root, below)
            }
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

    fn keep_download(
        &self,
        staged: &Path,
        suggested_name: &str,
        wish: Option<&Path>,
    ) -> Result<PathBuf, Failure> {
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
#[path = "request_files_tests.rs"]
mod tests;
