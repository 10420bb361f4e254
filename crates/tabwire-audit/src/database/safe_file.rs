//! Checks the file of the audit log before it is opened: owned by us, private, not a link.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use crate::error::{AuditError, FileFault};

const PRIVATE: u32 = 0o600;
const OTHERS: u32 = 0o077;
const OTHERS_WRITE: u32 = 0o022;

/// Creates the file if it is missing, and makes it private.
pub(crate) fn prepare(path: &Path) -> Result<(), AuditError> {
    check_directory(path)?;
    let created = OpenOptions::new().write(true).create_new(true).mode(PRIVATE).open(path);
    match created {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            check(path)?;
            tighten(path)
        }
        Err(error) => Err(AuditError::system(path, error)),
    }
}

/// Refuses a file that another user may have put there.
pub(crate) fn check(path: &Path) -> Result<(), AuditError> {
    let data = match path.symlink_metadata() {
        Ok(data) => data,
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(AuditError::Missing),
        Err(error) => return Err(AuditError::system(path, error)),
    };
    let untrusted = |fault| Err(AuditError::Untrusted { path: path.to_owned(), fault });
    // `symlink_metadata` describes the link itself: SQLite would follow it and write elsewhere.
    match data.file_type() {
        kind if kind.is_symlink() => untrusted(FileFault::Link),
        kind if !kind.is_file() => untrusted(FileFault::NotFile),
        _ if data.uid() != rustix::process::geteuid().as_raw() => untrusted(FileFault::OtherOwner),
        _ => Ok(()),
    }
}

fn check_directory(path: &Path) -> Result<(), AuditError> {
    let Some(directory) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) else {
        return Ok(());
    };
    let made = DirBuilder::new().recursive(true).mode(0o700).create(directory);
    made.map_err(|error| AuditError::system(directory, error))?;
    let data = directory.metadata().map_err(|error| AuditError::system(directory, error))?;
    if data.mode() & OTHERS_WRITE != 0 || data.uid() != rustix::process::geteuid().as_raw() {
        return Err(AuditError::Untrusted { path: directory.to_owned(), fault: FileFault::OthersWrite });
    }
    Ok(())
}

fn tighten(path: &Path) -> Result<(), AuditError> {
    // The path was checked before; a link that was put there since is refused by the open itself.
    let nofollow = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or_default();
    let opened: std::io::Result<File> = OpenOptions::new().read(true).custom_flags(nofollow).open(path);
    let file = opened.map_err(|error| AuditError::system(path, error))?;
    let data = file.metadata().map_err(|error| AuditError::system(path, error))?;
    if data.mode() & OTHERS == 0 {
        return Ok(());
    }
    file.set_permissions(Permissions::from_mode(PRIVATE)).map_err(|error| AuditError::system(path, error))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn t33_a_planted_file_is_refused_and_a_readable_one_made_private() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("new/audit.db");
        prepare(&path).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        prepare(&path).unwrap();
        assert_eq!(mode(&path), 0o600);

        let fault = |path: &Path| match prepare(path) {
            Err(AuditError::Untrusted { fault, .. }) => fault,
            other => panic!("expected a refusal: {other:?}"),
        };
        let link = home.path().join("link.db");
        symlink(&path, &link).unwrap();
        assert_eq!(fault(&link), FileFault::Link);
        assert_eq!(fault(path.parent().unwrap()), FileFault::NotFile);
        let open = home.path().join("open");
        std::fs::create_dir(&open).unwrap();
        std::fs::set_permissions(&open, Permissions::from_mode(0o777)).unwrap();
        assert_eq!(fault(&open.join("audit.db")), FileFault::OthersWrite);
    }
}
