//! The files that one request may use: our own directories, and files below its declared roots.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::Mode;
use rustix::io::Errno;
use tabwire_api::{ErrorCode, Failure, Remedy, SessionKey, Step};
use tabwire_engine::{FileKind, Files, NewFile, OutputDirectory, UploadFile};

use crate::action::files::dangerous_extension::{HARMLESS, defused};
use crate::action::files::output_dirs::{OutputDirs, fault, random_name, too_large};
use crate::action::files::protected_path::{OutputKind, is_protected_name, refuse_protected};
use crate::action::files::root_directory::{FileSlot, RootDirectory};
use crate::action::files::safe_name::safe_name;
use crate::limits::{READ_BYTES, ROOTS};

/// The file access of one request.
#[derive(Clone, Debug)]
pub(crate) struct RequestFiles {
    dirs: Arc<OutputDirs>,
    roots: Vec<PathBuf>,
    working_directory: Option<PathBuf>,
    /// The session whose files the request may replace.
    session: Option<SessionKey>,
    /// Whether outputs replace files that the session did not write.
    overwrites: bool,
}

/// Where a new file goes.
enum Output {
    /// At this path.
    Exact(FileSlot),
    /// In this directory, under the first free name.
    Inside(FileSlot),
}

impl RequestFiles {
    /// Our own directories only.
    pub(crate) fn own(dirs: &Arc<OutputDirs>) -> Self {
        Self {
            dirs: Arc::clone(dirs),
            roots: Vec::new(),
            working_directory: None,
            session: None,
            overwrites: false,
        }
    }

    /// Our own directories and files below the roots. The default root is the working directory.
    ///
    /// # Errors
    /// When a root is relative or there are too many.
    pub(crate) fn below(
        dirs: &Arc<OutputDirs>,
        roots: Vec<PathBuf>,
        working_directory: Option<PathBuf>,
    ) -> Result<Self, Failure> {
        if roots.len() > ROOTS {
            return Err(Failure::new(ErrorCode::BadArgs, format!("More than {ROOTS} roots were declared.")));
        }
        let roots = if roots.is_empty() { working_directory.iter().cloned().collect() } else { roots };
        let mut declared = roots.iter().chain(&working_directory);
        if let Some(relative) = declared.find(|path| !path.is_absolute()) {
            let message = format!("The directory {} is relative.", relative.display());
            return Err(Failure::new(ErrorCode::BadArgs, message).with_remedy("Give an absolute path."));
        }
        Ok(Self { dirs: Arc::clone(dirs), roots, working_directory, session: None, overwrites: false })
    }

    /// The same for a session, which may replace its own files.
    pub(crate) fn of_session(self, session: SessionKey) -> Self {
        Self { session: Some(session), ..self }
    }

    /// The root of a path, and the path below it.
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
            let message = format!("The path {} is relative.", path.display());
            return Err(Failure::new(ErrorCode::BadArgs, message).with_remedy("Give an absolute path."));
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
        let declare = "The user declares one with {} when Tabwire or its MCP server is started.";
        let text = match &roots[..] {
            [] => format!("No directory was declared. {declare}"),
            // A directory's name could contain the placeholder.
            roots => format!("Declared: {}. {declare}", roots.join(", ").replace("{}", "{ }")),
        };
        let remedy = Remedy::new(text, [Step::command("--root DIR")]);
        Failure::new(ErrorCode::PolicyDenied, message).with_remedy(remedy)
    }

    /// The location of a file at a requested path. Creates missing directories.
    fn output(&self, wanted: &Path) -> Result<Output, Failure> {
        let (root, below) = match self.find_root(wanted) {
            Ok(found) => found,
            // `_` may mean a file that the session wrote to one of Tabwire's directories.
            Err(outside) => {
                return self
                    .dirs
                    .find_output(wanted)
                    .filter(|slot| self.is_own(slot))
                    .map(Output::Exact)
                    .ok_or(outside);
            }
        };
        let failure = |error: io::Error| fault(wanted, &error);
        // Any file name: `place` needs one to open the directory.
        let inside = |below: &Path| {
            self.refuse_protected(&root, below, OutputKind::Directory)?;
            root.place(&below.join("file"), true).map(Output::Inside).map_err(failure)
        };
        if below.as_os_str().is_empty() || wanted.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return inside(&below);
        }
        let above = below.parent().unwrap_or(Path::new(""));
        self.refuse_protected(&root, above, OutputKind::Directory)?;
        if root.place(&below, false).is_ok_and(|place| place.is_directory()) {
            return inside(&below);
        }
        self.refuse_protected(&root, &below, OutputKind::File)?;
        root.place(&below, true).map(Output::Exact).map_err(failure)
    }

    /// Refuses a protected path, seen from its root and from the working directory: a root may itself be such a directory.
    fn refuse_protected(
        &self,
        root: &RootDirectory,
        below: &Path,
        wanted: OutputKind,
    ) -> Result<(), Failure> {
        refuse_protected(below, wanted)?;
        let working = self.working_directory.as_ref().and_then(|working| working.canonicalize().ok());
        let from_there = working.and_then(|working| root.path().strip_prefix(working).ok());
        match from_there {
            Some(way) => refuse_protected(&way.join(below), wanted),
            None => Ok(()),
        }
    }

    fn open(&self, path: &Path) -> Result<(File, FileSlot), Failure> {
        let (root, below) = self.find_root(path)?;
        let place = root.place(&below, false).map_err(|error| fault(path, &error))?;
        let file = place.open().map_err(|error| fault(path, &error))?;
        Ok((file, place))
    }

    /// Whether this session wrote the file, and nothing changed it since.
    fn is_own(&self, slot: &FileSlot) -> bool {
        let (Some(session), Ok(found)) = (&self.session, slot.identity(true)) else { return false };
        self.dirs.written.is_own(session, &slot.path(), &found)
    }

    /// Notes that this session wrote the file.
    fn note_written(&self, slot: &FileSlot, is_complete: bool) {
        if let (Some(session), Ok(identity)) = (&self.session, slot.identity(is_complete)) {
            self.dirs.written.note(session, slot.path(), identity);
        }
    }

    /// Creates a file at a path, or replaces the file there if that is allowed.
    fn take_exact<T>(
        &self,
        place: &FileSlot,
        take: &mut impl FnMut(&FileSlot) -> io::Result<T>,
    ) -> io::Result<T> {
        match take(place) {
            Err(error)
                if error.kind() == io::ErrorKind::AlreadyExists
                    && (self.overwrites || self.is_own(place)) =>
            {
                // The file stays as it is until the new one is complete.
                let new = place.beside(&format!(".{}.tmp", random_name()))?;
                let taken = take(&new)?;
                new.replace(place).inspect_err(|_| new.remove())?;
                Ok(taken)
            }
            taken => taken,
        }
    }

    /// Creates a file at the requested path, or in our own directory.
    fn put<T>(
        &self,
        kind: FileKind,
        wanted: Option<&Path>,
        name: &str,
        mut take: impl FnMut(&FileSlot) -> io::Result<T>,
    ) -> Result<(FileSlot, T), Failure> {
        match wanted.map(|wanted| self.output(wanted)).transpose()? {
            Some(Output::Exact(place)) => {
                let taken =
                    self.take_exact(&place, &mut take).map_err(|error| fault(&place.path(), &error))?;
                Ok((place, taken))
            }
            // A page may have suggested the name.
            Some(Output::Inside(place)) if is_protected_name(name) => {
                self.dirs.with_free_name(&place, &format!("{name}{HARMLESS}"), take)
            }
            Some(Output::Inside(place)) => self.dirs.with_free_name(&place, name, take),
            None => {
                let directory = self.dirs.directory_of(kind)?;
                let place = directory.place(Path::new(name), false);
                let place = place.map_err(|error| fault(directory.path(), &error))?;
                self.dirs.with_free_name(&place, name, take)
            }
        }
    }
}

impl Files for RequestFiles {
    fn overwriting(&self) -> Arc<dyn Files> {
        Arc::new(Self { overwrites: true, ..self.clone() })
    }

    fn write(
        &self,
        kind: FileKind,
        wanted: Option<&Path>,
        suggested_name: &str,
        content: &[u8],
    ) -> Result<PathBuf, Failure> {
        let name = safe_name(suggested_name, "file");
        let (place, ()) = self.put(kind, wanted, &name, |slot| {
            let mut file = slot.create()?;
            file.write_all(content).inspect_err(|_| slot.remove())
        })?;
        self.note_written(&place, true);
        Ok(place.path())
    }

    fn create(
        &self,
        kind: FileKind,
        wanted: Option<&Path>,
        suggested_name: &str,
    ) -> Result<NewFile, Failure> {
        let name = safe_name(suggested_name, "file");
        let (place, file) = self.put(kind, wanted, &name, FileSlot::create)?;
        self.note_written(&place, false);
        Ok(NewFile { path: place.path(), content: Box::new(file) })
    }

    fn create_directory(
        &self,
        kind: FileKind,
        wanted: Option<&Path>,
        suggested_name: &str,
    ) -> Result<Arc<dyn OutputDirectory>, Failure> {
        let (root, below) = match wanted {
            Some(wanted) => {
                let (root, below) = self.find_root(wanted)?;
                self.refuse_protected(&root, &below, OutputKind::Directory)?;
                (root, below)
            }
            None => (self.dirs.directory_of(kind)?, PathBuf::from(safe_name(suggested_name, "folder"))),
        };
        // Any file name: `place` creates the directories above it.
        let place = root.place(&below.join("file"), true).map_err(|error| fault(&below, &error))?;
        Ok(Arc::new(RequestFolder { place }))
    }

    fn check_input(&self, path: &Path) -> Result<PathBuf, Failure> {
        self.open(path).map(|(_, place)| place.path())
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, Failure> {
        let (file, _) = self.open(path)?;
        let mut content = Vec::new();
        // One byte more than allowed: the file may grow during the read.
        file.take(READ_BYTES + 1).read_to_end(&mut content).map_err(|error| fault(path, &error))?;
        let bytes = u64::try_from(content.len()).unwrap_or(u64::MAX);
        if bytes > READ_BYTES { Err(too_large(path, bytes, READ_BYTES)) } else { Ok(content) }
    }

    fn offer_upload(&self, path: &Path) -> Result<UploadFile, Failure> {
        let (mut file, place) = self.open(path)?;
        self.dirs.offer(&mut file, path, place.name())
    }

    fn check_output(&self, wanted: &Path) -> Result<(), Failure> {
        match self.output(wanted)? {
            Output::Exact(place) if place.is_taken() && !self.overwrites && !self.is_own(&place) => {
                Err(fault(&place.path(), &Errno::EXIST.into()))
            }
            _ => Ok(()),
        }
    }

    fn download_directory(&self) -> PathBuf {
        self.dirs.incoming()
    }

    fn store_download(
        &self,
        staged: &Path,
        suggested_name: &str,
        wanted: Option<&Path>,
    ) -> Result<PathBuf, Failure> {
        let from = self.dirs.find_download(staged)?;
        let mut file = from.open().map_err(|error| fault(staged, &error))?;
        rustix::fs::fchmod(&file, Mode::RUSR | Mode::WUSR).map_err(|errno| fault(staged, &errno.into()))?;
        let name = defused(&safe_name(suggested_name, "download"));
        let (place, ()) = self.put(FileKind::Download, wanted, &name, |to| match from.move_to(to) {
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
        self.note_written(&place, true);
        Ok(place.path())
    }

    fn discard_download(&self, kept: &Path) {
        if let Ok(place) = self.dirs.find_download(kept) {
            place.remove();
        }
    }
}

/// An open output directory. It stays the same directory even if its path is replaced.
#[derive(Debug)]
struct RequestFolder {
    /// Any name in it.
    place: FileSlot,
}

impl OutputDirectory for RequestFolder {
    fn path(&self) -> PathBuf {
        self.place.path().parent().map(PathBuf::from).unwrap_or_default()
    }

    fn create(&self, name: &str) -> Result<NewFile, Failure> {
        let place = self.place.beside(&safe_name(name, "file"));
        let place = place.map_err(|error| fault(&self.path(), &error))?;
        let file = place.create().map_err(|error| fault(&place.path(), &error))?;
        Ok(NewFile { path: place.path(), content: Box::new(file) })
    }
}

#[cfg(test)]
#[path = "request_files_tests.rs"]
mod tests;
