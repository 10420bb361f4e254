//! Descriptions of protocols that browsers gave before, a file for each program and version. Knows nothing of browsers.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;
use tabwire_browser::{PrivateDir, atomic_file, stable_digest};
use tabwire_daemon::Paths;
use tabwire_wire::{ErrorCode, Failure};

use crate::limits::{CHROME_PROTOCOL_BYTES, CHROME_PROTOCOL_LOOK, CHROME_PROTOCOLS};

/// What the files' names end with.
const ENDING: &str = "json";

/// The directory of what was told before.
#[derive(Debug)]
pub(super) struct ProtocolCache {
    directory: PathBuf,
}

/// The right to ask; nobody else asks as long as it is held.
#[derive(Debug)]
pub(super) struct Turn {
    _lock: OwnedFd,
}

impl ProtocolCache {
    /// Makes or verifies the directory.
    ///
    /// # Errors
    /// When it cannot be made, or cannot be trusted.
    pub(super) fn open(paths: &Paths) -> Result<Self, Failure> {
        let directory = PrivateDir::create(&paths.state)?.subdirectory("protocols")?;
        Ok(Self { directory: directory.path().to_owned() })
    }

    /// Waits until nobody else asks.
    ///
    /// # Errors
    /// When that lasts too long.
    pub(super) fn take_turn(&self, deadline: Instant) -> Result<Turn, Failure> {
        let path = self.directory.join("lock");
        let failed = |error: Errno| {
            Failure::new(ErrorCode::Internal, format!("{} cannot be locked: {error}.", path.display()))
        };
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let lock = rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR).map_err(failed)?;
        loop {
            match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Turn { _lock: lock }),
                Err(Errno::WOULDBLOCK) if Instant::now() < deadline => {
                    std::thread::sleep(CHROME_PROTOCOL_LOOK);
                }
                Err(Errno::WOULDBLOCK) => {
                    let message = "Another program asks a browser for its protocol, and has no answer yet.";
                    return Err(Failure::new(ErrorCode::Busy, message).with_hint("Ask again."));
                }
                Err(error) => return Err(failed(error)),
            }
        }
    }

    /// What was told before.
    pub(super) fn find(&self, program: &Path, product: &str) -> Option<Vec<u8>> {
        atomic_file::read(&self.file(program, product), CHROME_PROTOCOL_BYTES).ok()
    }

    /// Keeps what was told, and of the others the newest.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn keep(&self, program: &Path, product: &str, told: &[u8]) -> Result<(), Failure> {
        atomic_file::write(&self.file(program, product), told)?;
        let mut kept = self.kept();
        kept.sort();
        let surplus = kept.len().saturating_sub(CHROME_PROTOCOLS);
        for (_, path) in kept.into_iter().take(surplus) {
            // One that stays is removed the next time.
            let _ = fs::remove_file(path);
        }
        Ok(())
    }

    fn kept(&self) -> Vec<(SystemTime, PathBuf)> {
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten().map(|entry| entry.path());
        let ours = entries.filter(|path| path.extension().is_some_and(|ending| ending == ENDING));
        ours.filter_map(|path| Some((path.metadata().ok()?.modified().ok()?, path))).collect()
    }

    fn file(&self, program: &Path, product: &str) -> PathBuf {
        let name = stable_digest(format!("{}\n{product}", program.display()).as_bytes());
        self.directory.join(format!("{name}.{ENDING}"))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_was_told_is_found_again_for_the_same_program_and_version_only() {
        let home = tempfile::tempdir().unwrap();
        let cache = ProtocolCache::open(&Paths::below(home.path())).unwrap();
        let program = Path::new("/opt/a");
        cache.keep(program, "Chrome/1", b"one").unwrap();
        assert_eq!(cache.find(program, "Chrome/1").as_deref(), Some(&b"one"[..]));
        assert_eq!(cache.find(program, "Chrome/2"), None);
        assert_eq!(cache.find(Path::new("/opt/b"), "Chrome/1"), None);
    }

    #[test]
    fn few_are_kept_and_the_newest_of_them() {
        let home = tempfile::tempdir().unwrap();
        let cache = ProtocolCache::open(&Paths::below(home.path())).unwrap();
        let program = Path::new("/opt/a");
        let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        for (seconds, number) in (0..).zip(0..CHROME_PROTOCOLS) {
            let product = format!("Chrome/{number}");
            cache.keep(program, &product, b"{}").unwrap();
            let file = fs::File::open(cache.file(program, &product)).unwrap();
            file.set_modified(start + Duration::from_secs(seconds)).unwrap();
        }
        cache.keep(program, "Chrome/new", b"{}").unwrap();
        assert_eq!(cache.kept().len(), CHROME_PROTOCOLS);
        assert_eq!(cache.find(program, "Chrome/0"), None, "the oldest went");
        assert!(cache.find(program, "Chrome/1").is_some() && cache.find(program, "Chrome/new").is_some());
    }

    #[test]
    fn one_asks_at_a_time_and_nobody_waits_for_ever() {
        let home = tempfile::tempdir().unwrap();
        let cache = ProtocolCache::open(&Paths::below(home.path())).unwrap();
        let turn = cache.take_turn(Instant::now()).unwrap();
        assert_eq!(cache.take_turn(Instant::now()).unwrap_err().code, ErrorCode::Busy);
        drop(turn);
        cache.take_turn(Instant::now()).unwrap();
    }
}
