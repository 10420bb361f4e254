//! A directory for file access. No path below it leads outside.
//!
//! Paths below it are opened component by component, relative to an open directory and without following links, so that
//! no link leads outside, even if it is swapped during the access.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::action::files::written_files::FileIdentity;

/// Opens a directory without following a link to it.
const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// An open directory and its path.
#[derive(Debug)]
pub(crate) struct RootDirectory {
    /// As it was declared.
    declared: PathBuf,
    /// Without links.
    real: PathBuf,
    descriptor: OwnedFd,
}

/// A path below a root: an open directory and a name in it. A file of that name may exist or not.
#[derive(Debug)]
pub(crate) struct FileSlot {
    directory: OwnedFd,
    path: PathBuf,
    name: std::ffi::OsString,
}

impl RootDirectory {
    /// Opens a declared directory. Links above it are followed.
    pub(crate) fn open(declared: &Path) -> io::Result<Self> {
        let real = declared.canonicalize()?;
        let descriptor = rustix::fs::open(&real, DIRECTORY, Mode::empty())?;
        Ok(Self { declared: declared.to_owned(), real, descriptor })
    }

    /// Its path without links.
    pub(crate) fn path(&self) -> &Path {
        &self.real
    }

    /// The part of an absolute path below this directory; `None` when it is elsewhere.
    pub(crate) fn find_below(&self, path: &Path) -> Option<PathBuf> {
        let path = without_dots(path)?;
        let roots = [&self.declared, &self.real];
        roots.into_iter().find_map(|root| path.strip_prefix(root).ok()).map(Path::to_owned)
    }

    /// Opens the directory of a path. With `make`, creates missing directories.
    pub(crate) fn place(&self, below: &Path, make: bool) -> io::Result<FileSlot> {
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
        Ok(FileSlot { directory, path, name })
    }
}

/// Opens a directory inside another. A link to a directory is refused.
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

/// An absolute path without `.` and `..`; `None` when it is relative or leads above the root.
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

impl FileSlot {
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

    /// Whether the name is taken.
    pub(crate) fn is_taken(&self) -> bool {
        rustix::fs::statat(&self.directory, &self.name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Whether it is a directory, and not a link to one.
    pub(crate) fn is_directory(&self) -> bool {
        rustix::fs::statat(&self.directory, &self.name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Directory)
    }

    /// Creates a private file; fails when the name is taken, by a link too.
    pub(crate) fn create(&self) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made = rustix::fs::openat(&self.directory, &self.name, flags, Mode::RUSR | Mode::WUSR)?;
        Ok(File::from(made))
    }

    /// The file, without following a link. Its content counts unless it is still written.
    pub(crate) fn identity(&self, is_complete: bool) -> io::Result<FileIdentity> {
        let found = rustix::fs::statat(&self.directory, &self.name, AtFlags::SYMLINK_NOFOLLOW)?;
        // As text: the types of the numbers differ between systems.
        let content = format!("{} {} {}", found.st_size, found.st_mtime, found.st_mtime_nsec);
        let file = format!("{} {}", found.st_dev, found.st_ino);
        Ok(FileIdentity { file, content: is_complete.then_some(content) })
    }

    /// Replaces a regular file by this one, which is in the same directory and gets its permissions to read and write. A
    /// link is not followed and not replaced.
    pub(crate) fn replace(&self, other: &Self) -> io::Result<()> {
        let found = rustix::fs::statat(&other.directory, &other.name, AtFlags::SYMLINK_NOFOLLOW)?;
        check_plain(found.st_mode)?;
        let mode = Mode::from_raw_mode(found.st_mode)
            & (Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::WGRP | Mode::ROTH | Mode::WOTH);
        rustix::fs::chmodat(&self.directory, &self.name, mode, AtFlags::empty())?;
        // `rename` replaces the name itself: a link that was put there since is replaced and not followed.
        Ok(rustix::fs::renameat(&self.directory, &self.name, &other.directory, &other.name)?)
    }

    /// Opens a regular file for reading. Links, directories, devices and pipes are refused.
    pub(crate) fn open(&self) -> io::Result<File> {
        // Checked before the open: opening some devices has side effects.
        let found = rustix::fs::statat(&self.directory, &self.name, AtFlags::SYMLINK_NOFOLLOW)?;
        check_plain(found.st_mode)?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&self.directory, &self.name, flags, Mode::empty())?;
        check_plain(rustix::fs::fstat(&opened)?.st_mode)?;
        Ok(File::from(opened))
    }

    /// Removes the file.
    pub(crate) fn remove(&self) {
        // It may be gone already.
        let _ = rustix::fs::unlinkat(&self.directory, &self.name, AtFlags::empty());
    }

    /// Moves this file on the same file system; fails when the name is taken.
    pub(crate) fn move_to(&self, to: &Self) -> io::Result<()> {
        // A hard link and an unlink move a file without replacing another one, on every system.
        to.link_from(self.directory.as_fd(), &self.name, AtFlags::empty())?;
        self.remove();
        Ok(())
    }

    /// Hard-links a file here; fails when the name is taken.
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
