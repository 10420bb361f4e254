//! A directory that files may be read from and written to, and nothing outside it.
//!
//! Everything below it is opened one component after the other, relative to an open directory and without following
//! links, so that neither a link nor a swap of one leads out of it. Knows nothing of names or of who asks.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

/// Opens a directory without following a link to it.
const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// An open directory and where it is.
#[derive(Debug)]
pub(crate) struct RootDirectory {
    /// As it was declared.
    declared: PathBuf,
    /// Without links.
    real: PathBuf,
    descriptor: OwnedFd,
}

/// A place below a root: an open directory and a name in it.
#[derive(Debug)]
pub(crate) struct Place {
    directory: OwnedFd,
    path: PathBuf,
    name: std::ffi::OsString,
}

impl RootDirectory {
    /// Opens a declared directory. Links on the way to it are its owner's business.
    pub(crate) fn open(declared: &Path) -> io::Result<Self> {
        let real = declared.canonicalize()?;
        let descriptor = rustix::fs::open(&real, DIRECTORY, Mode::empty())?;
        Ok(Self { declared: declared.to_owned(), real, descriptor })
    }

    /// Where it is, without links.
    pub(crate) fn path(&self) -> &Path {
        &self.real
    }

    /// The part of a whole path that is below this directory, compared by components; none when it is elsewhere.
    pub(crate) fn find_below(&self, path: &Path) -> Option<PathBuf> {
        let path = without_dots(path)?;
        let roots = [&self.declared, &self.real];
        roots.into_iter().find_map(|root| path.strip_prefix(root).ok()).map(Path::to_owned)
    }

    /// Goes to the directory that holds a path, making missing ones when asked to.
    pub(crate) fn place(&self, below: &Path, make: bool) -> io::Result<Place> {
        let mut path = self.real.clone();
        let mut directory = self.descriptor.try_clone()?;
        let mut names = Vec::new();
        for component in below.components() {
            match component {
                Component::Normal(name) => names.push(name),
                Component::CurDir => {}
                Component::Prefix(_) | Component::RootDir | Component::ParentDir => {
                    return Err(Errno::XDEV.into());
                }
            }
        }
        let name = names.pop().ok_or(Errno::ISDIR)?.to_owned();
        for parent in names {
            directory = enter(directory.as_fd(), parent, make)?;
            path.push(parent);
        }
        Ok(Place { directory, path, name })
    }
}

/// Opens a directory inside another; what is there must be one, not a link to one.
fn enter(directory: BorrowedFd<'_>, name: &OsStr, make: bool) -> io::Result<OwnedFd> {
    match rustix::fs::openat(directory, name, DIRECTORY, Mode::empty()) {
        Err(Errno::NOENT) if make => {
            match rustix::fs::mkdirat(directory, name, Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
            Ok(rustix::fs::openat(directory, name, DIRECTORY, Mode::empty())?)
        }
        opened => Ok(opened?),
    }
}

/// A whole path without `.` and `..`; none when it is relative or leads above the top.
fn without_dots(path: &Path) -> Option<PathBuf> {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                if !clean.pop() {
                    return None;
                }
            }
            Component::CurDir => {}
            other => clean.push(other),
        }
    }
    clean.is_absolute().then_some(clean)
}

impl Place {
    /// The whole path.
    pub(crate) fn path(&self) -> PathBuf {
        self.path.join(&self.name)
    }

    /// The same directory with another name in it.
    pub(crate) fn beside(&self, name: &str) -> io::Result<Self> {
        Ok(Self { directory: self.directory.try_clone()?, path: self.path.clone(), name: name.into() })
    }

    /// Its name in its directory.
    pub(crate) fn name(&self) -> &OsStr {
        &self.name
    }

    /// Whether anything of that name is there.
    pub(crate) fn is_taken(&self) -> bool {
        rustix::fs::statat(&self.directory, &self.name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Whether a directory of that name is there, not a link to one.
    pub(crate) fn is_directory(&self) -> bool {
        rustix::fs::statat(&self.directory, &self.name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Directory)
    }

    /// Makes a new file that only we can read; fails when anything of that name is there, a link too.
    pub(crate) fn create(&self) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made = rustix::fs::openat(&self.directory, &self.name, flags, Mode::RUSR | Mode::WUSR)?;
        Ok(File::from(made))
    }

    /// Opens a plain file for reading: no link, no directory, no device, nothing that waits for a writer.
    pub(crate) fn open(&self) -> io::Result<File> {
        // Looked at first: opening some devices does something already.
        let found = rustix::fs::statat(&self.directory, &self.name, AtFlags::SYMLINK_NOFOLLOW)?;
        check_plain(found.st_mode)?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&self.directory, &self.name, flags, Mode::empty())?;
        check_plain(rustix::fs::fstat(&opened)?.st_mode)?;
        Ok(File::from(opened))
    }

    /// Removes the file.
    pub(crate) fn remove(&self) {
        // Gone already is as good.
        let _ = rustix::fs::unlinkat(&self.directory, &self.name, AtFlags::empty());
    }

    /// Moves this file to another place of the same file system; fails when anything is there.
    pub(crate) fn move_to(&self, to: &Self) -> io::Result<()> {
        // A link first: like a move that never replaces, on every system.
        to.link_from(self.directory.as_fd(), &self.name, AtFlags::empty())?;
        self.remove();
        Ok(())
    }

    /// Gives a file a second name here; fails when anything of that name is there.
    pub(crate) fn link_from(
        &self,
        directory: BorrowedFd<'_>,
        name: impl rustix::path::Arg,
        flags: AtFlags,
    ) -> io::Result<()> {
        Ok(rustix::fs::linkat(directory, name, &self.directory, &self.name, flags)?)
    }
}

fn check_plain(mode: rustix::fs::RawMode) -> io::Result<()> {
    match FileType::from_raw_mode(mode) {
        FileType::RegularFile => Ok(()),
        FileType::Symlink => Err(Errno::LOOP.into()),
        FileType::Directory => Err(Errno::ISDIR.into()),
        _ => Err(Errno::NODEV.into()),
    }
}

#[cfg(test)]
#[path = "root_directory_tests.rs"]
mod tests;
