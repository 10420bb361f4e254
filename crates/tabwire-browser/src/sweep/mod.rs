//! Checks every descriptor and removes the files and processes that dead keepers left.
//!
//! Pids are reused, so only a handshake with the keeper proves that a browser lives (F35, F36, F39, F47). A process is
//! signalled only if its pid and start time match the descriptor.

mod leftover;
mod ownership;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub use leftover::{Leftovers, Orphan};
pub use ownership::Ownership;

use crate::error::BrowserError;
use crate::files::unix_socket;
use crate::keeper::client;
use crate::keeper::descriptor::BrowserDescriptor;
use crate::limits;
use crate::process::identity::ProcessIdentity;
use crate::profile::lock::{LockState, lock_state};
use crate::profile::{find_owner, remove_temporary, temporary_home};

/// The state of one descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Its keeper responded with the same instance.
    Live,
    /// Its browser is gone. The files were removed.
    Stale {
        /// The proof.
        reason: StaleReason,
    },
    /// It cannot be read. Nothing was changed.
    Unreadable,
}

/// Why a descriptor is stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StaleReason {
    /// The keeper's process is gone.
    KeeperDead,
    /// Another process has the keeper's pid.
    PidReused,
    /// The keeper's process runs and does not respond.
    SocketUnresponsive,
    /// Another keeper responds on the socket.
    WrongInstance,
}

/// One item that a sweep removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Removed {
    /// A descriptor file.
    Descriptor(PathBuf),
    /// A socket without a listener.
    Socket(PathBuf),
    /// A temporary profile.
    Profile(PathBuf),
    /// A keeper that did not respond.
    Keeper(ProcessIdentity),
    /// A browser whose keeper had ended.
    Browser(ProcessIdentity),
}

/// The result of a sweep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SweepReport {
    /// Every descriptor file with its verdict.
    pub verdicts: Vec<(PathBuf, Verdict)>,
    /// Descriptors of browsers that live.
    pub live: Vec<BrowserDescriptor>,
    /// Removed items, in order.
    pub removed: Vec<Removed>,
    /// Items that could not be removed.
    pub kept: Vec<PathBuf>,
}

/// Sweeps the `browsers` directory of a runtime directory and the temporary profiles beside it.
///
/// Every keeper gets [`limits::SWEEP_HELLO`] to respond. A missing directory has
/// nothing to sweep.
///
/// # Errors
/// When the directory is there and cannot be read.
pub fn sweep(runtime_dir: &Path) -> Result<SweepReport, BrowserError> {
    let directory = runtime_dir.join("browsers");
    let mut swept = SweepReport::default();
    for path in entries(&directory, "json")? {
        let verdict = match BrowserDescriptor::read(&path) {
            // A copy under another name must not end the browser of the original.
            Ok(descriptor) if BrowserDescriptor::file(&directory, &descriptor.id) == path => {
                swept.judge(&directory, &path, descriptor)
            }
            _ => Verdict::Unreadable,
        };
        swept.verdicts.push((path, verdict));
    }
    for socket in entries(&directory, "sock")? {
        if !socket.with_extension("json").exists() && !unix_socket::is_listening(&socket) {
            swept.remove_file(&socket, Removed::Socket);
        }
    }
    swept.sweep_profiles(&temporary_home(runtime_dir))?;
    Ok(swept)
}

fn entries(directory: &Path, extension: &str) -> Result<Vec<PathBuf>, BrowserError> {
    let listing = match fs::read_dir(directory) {
        Ok(listing) => listing,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(BrowserError::system("read", directory, error)),
    };
    let paths = listing.flatten().take(limits::SWEEP_ENTRIES).map(|entry| entry.path());
    let mut paths: Vec<_> = paths
        .filter(|path| extension.is_empty() || path.extension().is_some_and(|found| found == extension))
        .collect();
    paths.sort();
    Ok(paths)
}

impl SweepReport {
    fn judge(&mut self, directory: &Path, path: &Path, descriptor: BrowserDescriptor) -> Verdict {
        // The path in the file is not trusted: use the socket beside it.
        let socket = BrowserDescriptor::socket_file(directory, &descriptor.id);
        let response = client::hello(&socket, Instant::now() + limits::SWEEP_HELLO);
        let keeper = descriptor.keeper;
        let reason = match response {
            Ok(hello) if hello.instance == descriptor.instance => {
                self.live.push(descriptor);
                return Verdict::Live;
            }
            Ok(_) => StaleReason::WrongInstance,
            Err(_) if keeper.is_alive() => StaleReason::SocketUnresponsive,
            Err(_) if ProcessIdentity::of(keeper.pid().unsigned_abs()).is_some() => StaleReason::PidReused,
            Err(_) => StaleReason::KeeperDead,
        };
        if reason == StaleReason::WrongInstance {
            // The socket, and possibly the profile, belong to the keeper that responded.
            self.remove_file(path, Removed::Descriptor);
            return Verdict::Stale { reason };
        }
        self.end(keeper, Removed::Keeper);
        let browser_is_gone = self.end(descriptor.browser, Removed::Browser);
        let profile = &descriptor.profile;
        let ours = profile.parent() == directory.parent().map(temporary_home).as_deref();
        if descriptor.temporary && ours && profile.exists() {
            self.remove_profile(profile, browser_is_gone);
        }
        if socket.symlink_metadata().is_ok() {
            self.remove_file(&socket, Removed::Socket);
        }
        if !self.kept.contains(profile) {
            self.remove_file(path, Removed::Descriptor);
        }
        Verdict::Stale { reason }
    }

    /// Ends a process if it is still the described one. Returns whether it is gone.
    fn end(&mut self, process: ProcessIdentity, removed: fn(ProcessIdentity) -> Removed) -> bool {
        if !process.is_alive() {
            return true;
        }
        let _ = process.kill_group();
        let gone = wait_until(limits::VERIFY_GONE, || !process.is_alive());
        if gone {
            self.removed.push(removed(process));
        }
        gone
    }

    fn remove_profile(&mut self, profile: &Path, browser_is_gone: bool) {
        let in_use = !browser_is_gone
            || matches!(lock_state(profile), LockState::Live { .. } | LockState::Unknown { .. });
        if !in_use && remove_temporary(profile) {
            self.removed.push(Removed::Profile(profile.to_owned()));
        } else {
            self.kept.push(profile.to_owned());
        }
    }

    /// Profiles whose keeper died before it could write a descriptor (F24).
    fn sweep_profiles(&mut self, home: &Path) -> Result<(), BrowserError> {
        for profile in entries(home, "")? {
            let described =
                self.live.iter().any(|browser| browser.profile == profile) || self.kept.contains(&profile);
            if !described && find_owner(&profile).is_some_and(|owner| !owner.is_alive()) {
                self.remove_profile(&profile, true);
            }
        }
        Ok(())
    }

    fn remove_file(&mut self, path: &Path, removed: fn(PathBuf) -> Removed) {
        match fs::remove_file(path) {
            Ok(()) => self.removed.push(removed(path.to_owned())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(_) => self.kept.push(path.to_owned()),
        }
    }
}

fn wait_until(timeout: Duration, mut done: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + timeout;
    loop {
        if done() {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(limits::RECHECK);
    }
}
