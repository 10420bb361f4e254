//! Reads Chromium's lock on a profile directory: which process holds it, and whether the lock is stale.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::process::Pid;

use crate::error::BrowserError;
use crate::files::unix_socket;
use crate::process::identity::ProcessIdentity;

/// The files that Chromium creates in a profile that is in use.
const LOCK: &str = "SingletonLock";
const SOCKET: &str = "SingletonSocket";
const COOKIE: &str = "SingletonCookie";

/// Parts of the program names of browsers that use this kind of lock.
const CHROMIUM_WORDS: &[&str] =
    &["chrom", "edge", "brave", "headless_shell", "opera", "vivaldi", "electron", "thorium", "yandex", "arc"];

/// Whether a profile is in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockState {
    /// There is no lock.
    Free,
    /// There is a lock, and its owner is proven not to hold it.
    Stale {
        /// The proof.
        why: StaleLock,
    },
    /// A browser listens on the profile's socket, or the owner is a running Chromium.
    Live {
        /// The owner, if it runs on this machine and is visible.
        owner: Option<ProcessIdentity>,
    },
    /// The state cannot be proven. Treat the lock as live.
    Unknown {
        /// The reason.
        why: &'static str,
    },
}

/// Why a lock is stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StaleLock {
    /// No process has the owner's pid.
    OwnerDead,
    /// The pid belongs to a program other than Chromium.
    OwnerNotABrowser,
}

/// Reads the state of Chromium's lock of a profile directory.
#[must_use]
pub fn lock_state(profile: &Path) -> LockState {
    let target = match fs::read_link(profile.join(LOCK)) {
        Ok(target) => target,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return LockState::Free,
        Err(_) => return LockState::Unknown { why: "the lock cannot be read" },
    };
    // `SingletonLock` is a link whose target is no file: the text `host-pid`.
    let Some((host, pid)) = target.to_str().and_then(parse_owner) else {
        return LockState::Unknown { why: "the lock does not name its owner" };
    };
    let here = rustix::system::uname().nodename().to_bytes() == host.as_bytes();
    let owner = ProcessIdentity::of(pid.as_raw_pid().unsigned_abs()).filter(|_| here);
    // A pid can be reused, and in a container it has another meaning. A browser that listens on its
    // singleton socket is alive.
    if socket_has_listener(profile) {
        return LockState::Live { owner };
    }
    if !here {
        return LockState::Unknown { why: "its owner is on another host" };
    }
    judge(rustix::process::test_kill_process(pid), owner)
}

/// The state of a lock whose owner is on this host, by the result of signal 0.
fn judge(reached: Result<(), Errno>, owner: Option<ProcessIdentity>) -> LockState {
    match reached {
        Err(Errno::SRCH) => LockState::Stale { why: StaleLock::OwnerDead },
        Ok(()) => judge_owner(owner),
        Err(_) => LockState::Unknown { why: "its owner belongs to another user" },
    }
}

fn judge_owner(owner: Option<ProcessIdentity>) -> LockState {
    // The pid exists without a running process: a zombie.
    let Some(owner) = owner else { return LockState::Stale { why: StaleLock::OwnerDead } };
    let Some(executable) = owner.executable() else {
        return LockState::Unknown { why: "the program of its owner is unknown" };
    };
    let name = executable.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    if CHROMIUM_WORDS.iter().any(|word| name.contains(word)) {
        LockState::Live { owner: Some(owner) }
    } else {
        LockState::Stale { why: StaleLock::OwnerNotABrowser }
    }
}

fn parse_owner(target: &str) -> Option<(&str, Pid)> {
    let (host, pid) = target.rsplit_once('-')?;
    Some((host, Pid::from_raw(pid.parse().ok().filter(|pid: &i32| *pid > 0)?)?))
}

/// Whether a process listens on the profile's socket. A full accept queue also proves a listener.
fn socket_has_listener(profile: &Path) -> bool {
    // The link points to a short path. The path in the profile can be too long for a socket address.
    fs::read_link(profile.join(SOCKET)).is_ok_and(|path| unix_socket::is_listening(&profile.join(path)))
}

/// Removes the lock of a profile if it is stale, and returns the state it had.
///
/// # Errors
/// When a stale lock cannot be removed.
pub fn remove_stale_lock(profile: &Path) -> Result<LockState, BrowserError> {
    let state = lock_state(profile);
    if matches!(state, LockState::Stale { .. }) {
        remove_socket_directory(profile);
        for name in [SOCKET, COOKIE, LOCK] {
            let path = profile.join(name);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(BrowserError::system("remove", &path, error));
                }
                _ => {}
            }
        }
    }
    Ok(state)
}

/// Removes the directory below the temporary directory in which a killed browser left its socket.
pub(crate) fn remove_socket_directory(profile: &Path) {
    if let Some(socket) = find_socket(profile) {
        remove_directory_of(&socket);
    }
}

/// The socket that a profile links to.
pub(crate) fn find_socket(profile: &Path) -> Option<PathBuf> {
    fs::read_link(profile.join(SOCKET)).ok()
}

/// Removes the directory of a profile's socket, if Chromium made it.
pub(crate) fn remove_directory_of(socket: &Path) {
    let Some(directory) = socket.parent() else { return };
    let chromium_made_it = directory.file_name().is_some_and(|name| {
        let name = name.to_string_lossy();
        let name = name.trim_start_matches('.');
        name.starts_with("org.chromium.") || name.starts_with("com.google.Chrome") || name.starts_with("com.")
    });
    let ours = directory
        .symlink_metadata()
        .is_ok_and(|data| data.is_dir() && data.uid() == rustix::process::geteuid().as_raw());
    if socket.is_absolute()
        && chromium_made_it
        && ours
        && socket.file_name().is_some_and(|name| name == SOCKET)
    {
        let _ = fs::remove_file(directory.join(SOCKET));
        let _ = fs::remove_file(directory.join(COOKIE));
        // Fails if other files are in it, as intended.
        let _ = fs::remove_dir(directory);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;
    use std::path::Path;
    use std::process::{Child, Command};

    use super::{LockState, StaleLock, judge, lock_state, remove_stale_lock};
    use crate::ProcessIdentity;

    fn host() -> String {
        rustix::system::uname().nodename().to_str().unwrap().to_owned()
    }

    fn lock(profile: &Path, target: &str) {
        let _ = std::fs::remove_file(profile.join("SingletonLock"));
        symlink(target, profile.join("SingletonLock")).unwrap();
    }

    fn dead_pid() -> u32 {
        let mut child = Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        child.id()
    }

    struct Running(Child);

    impl Drop for Running {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn f30_stale_lock_is_removed_only_when_owner_is_dead() {
        let profile = tempfile::tempdir().unwrap();
        assert_eq!(lock_state(profile.path()), LockState::Free);
        lock(profile.path(), &format!("{}-{}", host(), dead_pid()));
        symlink("12345", profile.path().join("SingletonCookie")).unwrap();
        symlink("/nonexistent/SingletonSocket", profile.path().join("SingletonSocket")).unwrap();
        assert_eq!(
            remove_stale_lock(profile.path()).unwrap(),
            LockState::Stale { why: StaleLock::OwnerDead }
        );
        assert_eq!(lock_state(profile.path()), LockState::Free);
        assert_eq!(std::fs::read_dir(profile.path()).unwrap().count(), 0);
    }

    #[test]
    fn f35_lock_with_reused_pid_is_stale() {
        let profile = tempfile::tempdir().unwrap();
        let running = Running(Command::new("sleep").arg("60").spawn().unwrap());
        lock(profile.path(), &format!("{}-{}", host(), running.0.id()));
        assert_eq!(lock_state(profile.path()), LockState::Stale { why: StaleLock::OwnerNotABrowser });
    }

    #[test]
    fn f31_lock_of_running_chromium_is_live() {
        let profile = tempfile::tempdir().unwrap();
        let program = profile.path().join("chromium");
        std::fs::copy("/bin/sleep", &program).unwrap();
        let running = Running(Command::new(&program).arg("60").spawn().unwrap());
        lock(profile.path(), &format!("{}-{}", host(), running.0.id()));
        let owner = ProcessIdentity::of(running.0.id());
        assert_eq!(remove_stale_lock(profile.path()).unwrap(), LockState::Live { owner });
        assert!(profile.path().join("SingletonLock").symlink_metadata().is_ok(), "a live lock stays");
    }

    #[test]
    fn f36_lock_of_another_host_or_unreadable_is_unknown() {
        let profile = tempfile::tempdir().unwrap();
        for target in [format!("elsewhere-{}", dead_pid()), "nonsense".into(), format!("{}-0", host())] {
            lock(profile.path(), &target);
            let state = remove_stale_lock(profile.path()).unwrap();
            assert!(matches!(state, LockState::Unknown { .. }), "{target}: {state:?}");
            assert!(profile.path().join("SingletonLock").symlink_metadata().is_ok());
        }
    }

    #[test]
    fn f36_lock_of_another_user_is_unknown() {
        // Root may signal every process, so the test passes the result of the signal in.
        let running = Running(Command::new("sleep").arg("60").spawn().unwrap());
        let owner = ProcessIdentity::of(running.0.id());
        assert!(matches!(judge(Err(rustix::io::Errno::PERM), owner), LockState::Unknown { .. }));
        assert_eq!(judge(Ok(()), owner), LockState::Stale { why: StaleLock::OwnerNotABrowser });
    }

    #[test]
    fn lock_with_listening_socket_is_live_on_any_host() {
        let profile = tempfile::tempdir().unwrap();
        let socket = profile.path().join("real-socket");
        let _listener = UnixListener::bind(&socket).unwrap();
        symlink(&socket, profile.path().join("SingletonSocket")).unwrap();
        for target in [format!("elsewhere-{}", dead_pid()), format!("{}-{}", host(), dead_pid())] {
            lock(profile.path(), &target);
            assert_eq!(lock_state(profile.path()), LockState::Live { owner: None }, "{target}");
        }
    }
}
