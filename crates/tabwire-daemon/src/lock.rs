//! The lock that decides which daemon runs. Held as long as the process lives, whatever ends it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

/// Proof that this process is the daemon.
#[derive(Debug)]
pub(crate) struct DaemonLock {
    _file: File,
}

impl DaemonLock {
    /// Takes the lock; `None` when another process has it.
    pub(crate) fn take(path: &Path) -> io::Result<Option<Self>> {
        let flags = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or_default();
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .custom_flags(flags)
            .open(path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::DaemonLock;

    #[test]
    fn f38_one_of_two_gets_the_lock_and_it_goes_with_its_holder() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("daemon.lock");
        let first = DaemonLock::take(&path).expect("a lock file").expect("free");
        assert!(DaemonLock::take(&path).expect("a lock file").is_none());
        drop(first);
        assert!(DaemonLock::take(&path).expect("a lock file").is_some());
    }
}
