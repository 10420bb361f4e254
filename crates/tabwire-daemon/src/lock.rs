//! The lock that decides which daemon runs. The kernel releases it when the process ends.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use tokio::net::UnixStream;
use tokio::time::{Instant, sleep};

/// Pause between two attempts to lock.
const POLL: Duration = Duration::from_millis(5);

/// Proof that this process is the daemon.
#[derive(Debug)]
pub(crate) struct DaemonLock {
    _file: File,
}

impl DaemonLock {
    /// Takes the lock, and waits while its holder does not respond at the socket: it is ending or starting. `None` when the
    /// holder responds, or after the timeout.
    pub(crate) async fn take_within(
        path: &Path,
        socket: &Path,
        timeout: Duration,
    ) -> io::Result<Option<Self>> {
        let until = Instant::now() + timeout;
        loop {
            if let Some(lock) = Self::take(path)? {
                return Ok(Some(lock));
            }
            if Instant::now() >= until || UnixStream::connect(socket).await.is_ok() {
                return Ok(None);
            }
            sleep(POLL).await;
        }
    }

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
        // The kernel releases the lock when the process ends, also after SIGKILL. The file stays.
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
    fn f38_one_process_gets_the_lock_and_dropping_it_frees_it() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("daemon.lock");
        let first = DaemonLock::take(&path).expect("a lock file").expect("free");
        assert!(DaemonLock::take(&path).expect("a lock file").is_none());
        drop(first);
        assert!(DaemonLock::take(&path).expect("a lock file").is_some());
    }
}
