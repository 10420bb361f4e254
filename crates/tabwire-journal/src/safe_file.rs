//! Checks the journal's file before it is trusted: ours, closed to others, no link. Knows nothing of what is in it.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use crate::error::{FileFault, JournalError};

const OURS_ALONE: u32 = 0o600;
const OTHERS: u32 = 0o077;
const OTHERS_WRITE: u32 = 0o022;

/// Makes the file when it is missing, and sees to it that only we can look into it.
pub(crate) fn prepare(path: &Path) -> Result<(), JournalError> {
    check_directory(path)?;
    let created = OpenOptions::new().write(true).create_new(true).mode(OURS_ALONE).open(path);
    match created {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            check(path)?;
            tighten(path)
        }
        Err(error) => Err(JournalError::system(path, error)),
    }
}

/// Refuses a file that somebody else may have put there.
pub(crate) fn check(path: &Path) -> Result<(), JournalError> {
    let data = match path.symlink_metadata() {
        Ok(data) => data,
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(JournalError::Missing),
        Err(error) => return Err(JournalError::system(path, error)),
    };
    let untrusted = |fault| Err(JournalError::Untrusted { path: path.to_owned(), fault });
    match data.file_type() {
        kind if kind.is_symlink() => untrusted(FileFault::Link),
        kind if !kind.is_file() => untrusted(FileFault::NotFile),
        _ if data.uid() != rustix::process::geteuid().as_raw() => untrusted(FileFault::OtherOwner),
        _ => Ok(()),
    }
}

fn check_directory(path: &Path) -> Result<(), JournalError> {
    let Some(directory) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) else {
        return Ok(());
    };
    let made = DirBuilder::new().recursive(true).mode(0o700).create(directory);
    made.map_err(|error| JournalError::system(directory, error))?;
    let data = directory.metadata().map_err(|error| JournalError::system(directory, error))?;
    if data.mode() & OTHERS_WRITE != 0 || data.uid() != rustix::process::geteuid().as_raw() {
        return Err(JournalError::Untrusted { path: directory.to_owned(), fault: FileFault::OthersWrite });
    }
    Ok(())
}

fn tighten(path: &Path) -> Result<(), JournalError> {
    let nofollow = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or_default();
    let opened: std::io::Result<File> = OpenOptions::new().read(true).custom_flags(nofollow).open(path);
    let file = opened.map_err(|error| JournalError::system(path, error))?;
    let data = file.metadata().map_err(|error| JournalError::system(path, error))?;
    if data.mode() & OTHERS == 0 {
        return Ok(());
    }
    file.set_permissions(Permissions::from_mode(OURS_ALONE))
        .map_err(|error| JournalError::system(path, error))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn t33_a_prepared_file_is_refused_and_an_open_one_closed() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("new/journal.db");
        prepare(&path).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        prepare(&path).unwrap();
        assert_eq!(mode(&path), 0o600);

        let fault = |path: &Path| match prepare(path) {
            Err(JournalError::Untrusted { fault, .. }) => fault,
            other => panic!("expected a refusal: {other:?}"),
        };
        let link = home.path().join("link.db");
        symlink(&path, &link).unwrap();
        assert_eq!(fault(&link), FileFault::Link);
        assert_eq!(fault(path.parent().unwrap()), FileFault::NotFile);
        let open = home.path().join("open");
        std::fs::create_dir(&open).unwrap();
        std::fs::set_permissions(&open, Permissions::from_mode(0o777)).unwrap();
        assert_eq!(fault(&open.join("journal.db")), FileFault::OthersWrite);
    }
}
