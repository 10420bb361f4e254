//! A directory that only this user can read and change. Ownership and mode are verified before use.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::error::BrowserError;

/// Why a directory may not hold secrets and sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DirectoryFault {
    /// The path is a symbolic link.
    #[error("it is a symbolic link")]
    Link,
    /// The path is not a directory.
    #[error("it is not a directory")]
    NotDirectory,
    /// Another user owns it.
    #[error("another user owns it")]
    OtherOwner,
    /// Others can write in it.
    #[error("other users can write in it")]
    OthersWrite,
    /// Others can replace it, because its parent is writable and not sticky.
    #[error("other users can replace it through its parent directory")]
    ParentWritable,
}

/// A verified directory: owned by this user, mode 0700, not a link.
#[derive(Debug)]
pub struct PrivateDir {
    path: PathBuf,
    descriptor: OwnedFd,
}

impl PrivateDir {
    /// Creates the directory if it is missing, then verifies it.
    ///
    /// Missing parents are created with mode 0700 too. A directory of this user that others can
    /// read gets mode 0700.
    ///
    /// # Errors
    /// When the directory cannot be created, or another user could have prepared it (T33).
    pub fn create(path: &Path) -> Result<Self, BrowserError> {
        make(path)?;
        Self::open(path)
    }

    /// Creates the directory if it is missing, then verifies it. An existing directory keeps its mode.
    ///
    /// # Errors
    /// As [`PrivateDir::create`].
    pub fn create_or_keep(path: &Path) -> Result<Self, BrowserError> {
        make(path)?;
        let (descriptor, _) = verify(path)?;
        Ok(Self { path: path.to_owned(), descriptor })
    }

    /// Verifies a directory that must exist.
    ///
    /// # Errors
    /// When it is missing or cannot be trusted (T33).
    pub fn open(path: &Path) -> Result<Self, BrowserError> {
        let (descriptor, mode) = verify(path)?;
        if mode.intersects(Mode::RWXG | Mode::RWXO) {
            rustix::fs::fchmod(&descriptor, Mode::RWXU)
                .map_err(|errno| BrowserError::system("close to others", path, errno))?;
        }
        Ok(Self { path: path.to_owned(), descriptor })
    }

    /// The path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates or verifies a directory inside this one.
    ///
    /// # Errors
    /// As [`PrivateDir::create`].
    pub fn subdirectory(&self, name: &str) -> Result<Self, BrowserError> {
        Self::create(&self.path.join(name))
    }

    /// The open directory, for operations that must not follow a changed path.
    #[must_use]
    pub fn descriptor(&self) -> &OwnedFd {
        &self.descriptor
    }
}

/// Creates a directory and its parents. An existing directory is not changed.
fn make(path: &Path) -> Result<(), BrowserError> {
    let made = match rustix::fs::mkdir(path, Mode::RWXU) {
        Err(Errno::NOENT) => {
            if let Some(parent) = path.parent() {
                make_parents(parent)?;
            }
            rustix::fs::mkdir(path, Mode::RWXU)
        }
        made => made,
    };
    match made {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(errno) => Err(BrowserError::system("create", path, errno)),
    }
}

/// Opens a directory and verifies that other users do not own it, cannot write in it and cannot replace it. Also
/// returns its mode.
fn verify(path: &Path) -> Result<(OwnedFd, Mode), BrowserError> {
    let untrusted = |fault| BrowserError::UntrustedDirectory { path: path.to_owned(), fault };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let descriptor = rustix::fs::open(path, flags, Mode::empty()).map_err(|errno| {
        // With `O_DIRECTORY`, Linux reports a link as ENOTDIR and not as ELOOP.
        let is_link = path.symlink_metadata().is_ok_and(|data| data.file_type().is_symlink());
        match errno {
            _ if is_link => untrusted(DirectoryFault::Link),
            Errno::NOTDIR => untrusted(DirectoryFault::NotDirectory),
            _ => BrowserError::system("open", path, errno),
        }
    })?;
    let status =
        rustix::fs::fstat(&descriptor).map_err(|errno| BrowserError::system("inspect", path, errno))?;
    let mode = Mode::from_raw_mode(status.st_mode);
    if status.st_uid != rustix::process::geteuid().as_raw() {
        return Err(untrusted(DirectoryFault::OtherOwner));
    }
    if mode.intersects(Mode::WGRP | Mode::WOTH) {
        return Err(untrusted(DirectoryFault::OthersWrite));
    }
    check_parent(path)?;
    Ok((descriptor, mode))
}

fn make_parents(path: &Path) -> Result<(), BrowserError> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(|error| BrowserError::system("create", path, error))
}

fn check_parent(path: &Path) -> Result<(), BrowserError> {
    use std::os::unix::fs::MetadataExt as _;
    const OTHERS_WRITE: u32 = 0o022;
    const STICKY: u32 = 0o1000;
    let Some(parent) = path.parent() else { return Ok(()) };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let data = parent.metadata().map_err(|error| BrowserError::system("inspect", parent, error))?;
    let ours = data.uid() == rustix::process::geteuid().as_raw() || data.uid() == 0;
    // In a directory with the sticky bit, such as /tmp, only the owner of an entry can rename or remove it.
    let replaceable = data.mode() & OTHERS_WRITE != 0 && data.mode() & STICKY == 0;
    if replaceable || !ours {
        let fault = DirectoryFault::ParentWritable;
        return Err(BrowserError::UntrustedDirectory { path: path.to_owned(), fault });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

    use super::{DirectoryFault, PrivateDir};
    use crate::BrowserError;

    fn fault(result: Result<PrivateDir, BrowserError>) -> DirectoryFault {
        match result {
            Err(BrowserError::UntrustedDirectory { fault, .. }) => fault,
            other => panic!("expected a refusal, got {other:?}"),
        }
    }

    #[test]
    fn t33_directory_prepared_by_another_user_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let real = home.path().join("real");
        fs::create_dir(&real).unwrap();
        let link = home.path().join("link");
        symlink(&real, &link).unwrap();
        assert_eq!(fault(PrivateDir::create(&link)), DirectoryFault::Link);

        let open = home.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(fault(PrivateDir::create(&open)), DirectoryFault::OthersWrite);
        assert_eq!(fault(PrivateDir::create(&open.join("inside"))), DirectoryFault::ParentWritable);

        let file = home.path().join("file");
        fs::write(&file, "").unwrap();
        assert_eq!(fault(PrivateDir::create(&file)), DirectoryFault::NotDirectory);

        let foreign = home.path().join("foreign");
        fs::create_dir(&foreign).unwrap();
        chown(&foreign, Some(65534), None).expect("the tests run as root");
        assert_eq!(fault(PrivateDir::create(&foreign)), DirectoryFault::OtherOwner);
    }

    #[test]
    fn new_and_readable_directories_get_mode_0700() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a/b/c");
        PrivateDir::create(&path).unwrap();
        let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(&home.path().join("a"))), (0o700, 0o700));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        PrivateDir::open(&path).unwrap();
        assert_eq!(mode(&path), 0o700);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        PrivateDir::create_or_keep(&path).unwrap();
        assert_eq!(mode(&path), 0o755, "m3: an existing directory keeps its mode");
        PrivateDir::create_or_keep(&home.path().join("new")).unwrap();
        assert_eq!(mode(&home.path().join("new")), 0o700);
        assert!(matches!(PrivateDir::open(&home.path().join("none")), Err(BrowserError::System { .. })));
    }
}
