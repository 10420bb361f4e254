//! Cached protocol descriptions: one file per program and version.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;
use tabwire_api::{ErrorCode, Failure};

use crate::files::atomic_file;
use crate::files::private_dir::PrivateDir;
use crate::files::stable_digest::stable_digest;

/// Longest description; Chromium's has 1.6 MB.
pub(crate) const PROTOCOL_BYTES: usize = 16 * 1024 * 1024;

/// Interval at which the lock and the browser's port are polled.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Descriptions that are cached.
const CACHED: usize = 4;

const FILE_EXTENSION: &str = "json";

#[derive(Debug)]
pub(crate) struct ProtocolCache {
    directory: PathBuf,
}

/// The lock file; while it is held, no other process fetches a description.
#[derive(Debug)]
pub(crate) struct CacheLock {
    _lock: OwnedFd,
}

impl ProtocolCache {
    /// Creates or checks the directory below the state directory.
    ///
    /// # Errors
    /// When it cannot be created, or other users can write to it.
    pub(crate) fn open(state: &Path) -> Result<Self, Failure> {
        let directory = PrivateDir::create(state)?.subdirectory("protocols")?;
        Ok(Self { directory: directory.path().to_owned() })
    }

    /// Waits for the lock.
    ///
    /// # Errors
    /// When another process holds it past the deadline.
    pub(crate) fn lock(&self, deadline: Instant) -> Result<CacheLock, Failure> {
        let path = self.directory.join("lock");
        let failed = |error: Errno| {
            Failure::new(ErrorCode::Internal, format!("{} cannot be locked: {error}.", path.display()))
        };
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let lock = rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR).map_err(failed)?;
        loop {
            // `flock` has no timeout, so it is polled. The kernel releases the lock when its process ends
            // in any way.
            match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(CacheLock { _lock: lock }),
                Err(Errno::WOULDBLOCK) if Instant::now() < deadline => {
                    std::thread::sleep(POLL_INTERVAL);
                }
                Err(Errno::WOULDBLOCK) => {
                    let message = "Another process is fetching a protocol description.";
                    return Err(Failure::new(ErrorCode::Busy, message).with_remedy("Retry."));
                }
                Err(error) => return Err(failed(error)),
            }
        }
    }

    pub(crate) fn find(&self, program: &Path, product: &str) -> Option<Vec<u8>> {
        atomic_file::read(&self.file(program, product), PROTOCOL_BYTES).ok()
    }

    /// Stores a description and removes the oldest ones.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn store(&self, program: &Path, product: &str, description: &[u8]) -> Result<(), Failure> {
        atomic_file::write(&self.file(program, product), description)?;
        let mut entries = self.entries();
        entries.sort();
        let surplus = entries.len().saturating_sub(CACHED);
        for (_, path) in entries.into_iter().take(surplus) {
            // A file that cannot be removed now is removed by a later run.
            let _ = fs::remove_file(path);
        }
        Ok(())
    }

    fn entries(&self) -> Vec<(SystemTime, PathBuf)> {
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten().map(|entry| entry.path());
        let ours =
            entries.filter(|path| path.extension().is_some_and(|extension| extension == FILE_EXTENSION));
        ours.filter_map(|path| Some((path.metadata().ok()?.modified().ok()?, path))).collect()
    }

    fn file(&self, program: &Path, product: &str) -> PathBuf {
        let name = stable_digest(format!("{}\n{product}", program.display()).as_bytes());
        self.directory.join(format!("{name}.{FILE_EXTENSION}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_keyed_by_program_and_version() {
        let home = tempfile::tempdir().unwrap();
        let cache = ProtocolCache::open(&home.path().join("state")).unwrap();
        let program = Path::new("/opt/a");
        cache.store(program, "Chrome/1", b"one").unwrap();
        assert_eq!(cache.find(program, "Chrome/1").as_deref(), Some(&b"one"[..]));
        assert_eq!(cache.find(program, "Chrome/2"), None);
        assert_eq!(cache.find(Path::new("/opt/b"), "Chrome/1"), None);
    }

    #[test]
    fn the_oldest_entries_are_removed() {
        let home = tempfile::tempdir().unwrap();
        let cache = ProtocolCache::open(&home.path().join("state")).unwrap();
        let program = Path::new("/opt/a");
        let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        for (seconds, number) in (0..).zip(0..CACHED) {
            let product = format!("Chrome/{number}");
            cache.store(program, &product, b"{}").unwrap();
            let file = fs::File::open(cache.file(program, &product)).unwrap();
            file.set_modified(start + Duration::from_secs(seconds)).unwrap();
        }
        cache.store(program, "Chrome/new", b"{}").unwrap();
        assert_eq!(cache.entries().len(), CACHED);
        assert_eq!(cache.find(program, "Chrome/0"), None, "the oldest went");
        assert!(cache.find(program, "Chrome/1").is_some() && cache.find(program, "Chrome/new").is_some());
    }

    #[test]
    fn the_lock_is_exclusive_and_waiting_is_bounded() {
        let home = tempfile::tempdir().unwrap();
        let cache = ProtocolCache::open(&home.path().join("state")).unwrap();
        let lock = cache.lock(Instant::now()).unwrap();
        assert_eq!(cache.lock(Instant::now()).unwrap_err().code, ErrorCode::Busy);
        drop(lock);
        cache.lock(Instant::now()).unwrap();
    }
}
