//! Replaces small private files atomically: readers see the old or the new content, never a part.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags};

use crate::error::BrowserError;
use crate::files::random_name::random_name;

/// Replaces a file: write-new, sync, rename. Mode 0600, no link is followed.
///
/// The directory must exist. On any failure, a full disk included (F32), the
/// old file is intact and the new one is removed.
///
/// # Errors
/// When the system refuses a step.
pub fn write(path: &Path, content: &[u8]) -> Result<(), BrowserError> {
    let wrong = |action| move |errno: rustix::io::Errno| BrowserError::system(action, path, errno);
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(BrowserError::system("write", path, rustix::io::Errno::INVAL));
    };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let directory_flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = rustix::fs::open(parent, directory_flags, Mode::empty()).map_err(wrong("write"))?;

    let mut new_name = OsString::from(".");
    new_name.push(name);
    new_name.push(format!(".{}.new", random_name()?));
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let new_file =
        rustix::fs::openat(&directory, &new_name, flags, Mode::RUSR | Mode::WUSR).map_err(wrong("write"))?;

    let mut new_file = File::from(new_file);
    let filled = new_file.write_all(content).and_then(|()| new_file.sync_all());
    let renamed = filled.map_err(|error| BrowserError::system("write", path, error)).and_then(|()| {
        rustix::fs::renameat(&directory, &new_name, &directory, name).map_err(wrong("replace"))
    });
    if renamed.is_err() {
        let _ = rustix::fs::unlinkat(&directory, &new_name, AtFlags::empty());
        return renamed;
    }
    // The rename is done. A failed sync of the directory is ignored, because the content is already in place.
    let _ = rustix::fs::fsync(&directory);
    Ok(())
}

/// Reads a regular file of at most `limit` bytes without following a link.
///
/// # Errors
/// When it is missing, a link, no regular file, or larger than the limit.
pub fn read(path: &Path, limit: usize) -> Result<Vec<u8>, BrowserError> {
    let wrong = |errno: rustix::io::Errno| BrowserError::system("read", path, errno);
    // Without NONBLOCK, `open` would block on a FIFO that another user placed here.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let descriptor = rustix::fs::open(path, flags, Mode::empty()).map_err(wrong)?;
    let status = rustix::fs::fstat(&descriptor).map_err(wrong)?;
    if rustix::fs::FileType::from_raw_mode(status.st_mode) != rustix::fs::FileType::RegularFile {
        return Err(wrong(rustix::io::Errno::INVAL));
    }
    let mut content = Vec::new();
    let bound = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    File::from(descriptor)
        .take(bound)
        .read_to_end(&mut content)
        .map_err(|error| BrowserError::system("read", path, error))?;
    if content.len() > limit {
        return Err(wrong(rustix::io::Errno::FBIG));
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::process::Command;

    use super::{read, write};

    /// A small file system, unmounted on drop.
    struct SmallDisk(tempfile::TempDir);

    impl SmallDisk {
        fn mount() -> Self {
            let place = tempfile::tempdir().unwrap();
            let status = Command::new("mount")
                .args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"])
                .arg(place.path())
                .status();
            assert!(status.unwrap().success(), "the tests run as root and may mount");
            Self(place)
        }
    }

    impl Drop for SmallDisk {
        fn drop(&mut self) {
            let _ = Command::new("umount").arg(self.0.path()).status();
        }
    }

    #[test]
    fn f32_a_full_disk_leaves_the_old_file_intact() {
        let disk = SmallDisk::mount();
        let path = disk.0.path().join("state.json");
        write(&path, b"old").unwrap();
        let error = write(&path, &vec![b'x'; 256 * 1024]).unwrap_err();
        assert!(error.to_string().contains("No space left"), "{error}");
        assert_eq!(read(&path, 100).unwrap(), b"old");
        let left: Vec<_> =
            fs::read_dir(disk.0.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["state.json"], "no half-written file stays");
        write(&path, b"new").unwrap();
        assert_eq!(read(&path, 100).unwrap(), b"new");
    }

    #[test]
    fn files_are_private_and_links_are_replaced_not_followed() {
        let home = tempfile::tempdir().unwrap();
        let victim = home.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        let path = home.path().join("file");
        symlink(&victim, &path).unwrap();
        assert!(read(&path, 100).is_err());
        write(&path, b"ours").unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
        assert_eq!(read(&path, 4).unwrap(), b"ours");
        assert!(read(&path, 3).is_err(), "over the limit");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(read(home.path(), 10).is_err(), "a directory is no file");
    }

    #[test]
    fn f33_a_missing_directory_is_a_typed_error_with_a_remedy() {
        let error = write(std::path::Path::new("/nonexistent-home/x/file"), b"x").unwrap_err();
        let failure = tabwire_api::Failure::from(error);
        assert!(failure.hint().contains("TABWIRE_HOME"));
    }
}
