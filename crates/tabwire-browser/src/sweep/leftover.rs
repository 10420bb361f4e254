//! Lists files and browsers that dead keepers left, without changing them. A sweep removes them.
//!
//! Also finds browsers that outlived their keeper. A browser counts as Tabwire's only if its profile is directly in the
//! directory of temporary profiles and is marked by a keeper that is provably dead.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::files::unix_socket;
use crate::keeper::client;
use crate::keeper::descriptor::BrowserDescriptor;
use crate::limits;
use crate::process::identity::{ProcessIdentity, SignalResult};
use crate::profile::{find_owner, temporary_home};

/// Leftovers below a runtime directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// The number of browsers with a live keeper.
    pub live: usize,
    /// Descriptors whose keeper does not respond.
    pub stale: Vec<PathBuf>,
    /// Descriptors that cannot be read and whose keeper does not listen.
    pub unreadable: Vec<PathBuf>,
    /// Descriptors that cannot be read although a keeper listens: those of another Tabwire version.
    pub foreign: Vec<PathBuf>,
    /// Sockets without a descriptor and without a listener.
    pub sockets: Vec<PathBuf>,
    /// Temporary profiles of dead keepers.
    pub profiles: Vec<PathBuf>,
    /// Browsers of dead keepers.
    pub orphans: Vec<Orphan>,
}

/// A browser that outlived its keeper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orphan {
    /// Its main process.
    pub process: ProcessIdentity,
    /// Its temporary profile.
    pub profile: PathBuf,
}

impl Orphan {
    /// Ends the browser and its group if it is still the same process. Returns whether it is gone.
    #[must_use]
    pub fn end(&self) -> bool {
        let is_ours = profile_of(self.process.pid()).as_ref() == Some(&self.profile)
            && find_owner(&self.profile).is_some_and(|owner| !owner.is_alive());
        if !is_ours || self.process.kill_group() != SignalResult::Sent {
            return !self.process.is_alive();
        }
        let deadline = Instant::now() + limits::VERIFY_GONE;
        // After SIGKILL a process is still there until the kernel has freed its memory and its parent has
        // reaped it.
        while self.process.is_alive() && Instant::now() < deadline {
            std::thread::sleep(limits::RECHECK);
        }
        !self.process.is_alive()
    }
}

impl Leftovers {
    /// Lists the leftovers below a runtime directory. Directories that cannot be read count as empty.
    #[must_use]
    pub fn look(runtime_dir: &Path) -> Self {
        let directory = runtime_dir.join("browsers");
        let mut found = Self::default();
        let mut kept = Vec::new();
        for path in entries(&directory, Some("json")) {
            match BrowserDescriptor::read(&path) {
                Ok(descriptor) if BrowserDescriptor::file(&directory, &descriptor.id) == path => {
                    let socket = path.with_extension("sock");
                    let hello = client::hello(&socket, Instant::now() + limits::SWEEP_HELLO);
                    if hello.is_ok_and(|hello| hello.instance == descriptor.instance) {
                        kept.push(descriptor.profile);
                    } else {
                        found.stale.push(path);
                    }
                }
                _ if unix_socket::is_listening(&path.with_extension("sock")) => found.foreign.push(path),
                _ => found.unreadable.push(path),
            }
        }
        found.live = kept.len();
        let idle =
            |socket: &PathBuf| !socket.with_extension("json").exists() && !unix_socket::is_listening(socket);
        found.sockets = entries(&directory, Some("sock")).into_iter().filter(idle).collect();
        let is_abandoned = |profile: &PathBuf| {
            !kept.contains(profile) && find_owner(profile).is_some_and(|owner| !owner.is_alive())
        };
        found.profiles =
            entries(&temporary_home(runtime_dir), None).into_iter().filter(is_abandoned).collect();
        found.orphans = orphans(&found.profiles);
        found
    }

    /// Whether a sweep would remove anything.
    #[must_use]
    pub fn has_stale(&self) -> bool {
        !(self.stale.is_empty() && self.sockets.is_empty() && self.profiles.is_empty())
    }
}

fn entries(directory: &Path, extension: Option<&str>) -> Vec<PathBuf> {
    let listing = fs::read_dir(directory).into_iter().flatten().flatten().take(limits::SWEEP_ENTRIES);
    let is_wanted =
        |path: &PathBuf| extension.is_none_or(|wanted| path.extension().is_some_and(|found| found == wanted));
    let mut paths: Vec<_> = listing.map(|entry| entry.path()).filter(is_wanted).collect();
    paths.sort();
    paths
}

/// The browsers that use one of these profiles. Only Linux shows every process's arguments.
fn orphans(profiles: &[PathBuf]) -> Vec<Orphan> {
    if profiles.is_empty() {
        return Vec::new();
    }
    let listing = fs::read_dir("/proc").into_iter().flatten().flatten().take(limits::PROCESSES_LOOKED_AT);
    let numbers = listing.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let orphan = |pid: i32| {
        let process = ProcessIdentity::of(pid.unsigned_abs())?;
        // Read after the identity: if the pid was reused since, the `is_alive` check below fails.
        let profile = profile_of(pid).filter(|profile| profiles.contains(profile))?;
        process.is_alive().then_some(Orphan { process, profile })
    };
    numbers.filter_map(orphan).collect()
}

/// The profile of a browser's main process that runs as this user.
fn profile_of(pid: i32) -> Option<PathBuf> {
    let place = PathBuf::from(format!("/proc/{pid}"));
    if place.metadata().ok()?.uid() != rustix::process::geteuid().as_raw() {
        return None;
    }
    profile_in(&fs::read(place.join("cmdline")).ok()?)
}

/// The profile in a browser's arguments. Renderers and other child processes have a `--type` argument.
fn profile_in(arguments: &[u8]) -> Option<PathBuf> {
    let arguments = std::str::from_utf8(arguments).ok()?;
    let mut parts = arguments.split('\0').skip(1);
    if parts.clone().any(|part| part.starts_with("--type=")) {
        return None;
    }
    parts.find_map(|part| part.strip_prefix("--user-data-dir=")).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_main_process_has_a_profile() {
        let found = profile_in(b"/usr/bin/chromium\0--headless\0--user-data-dir=/run/p\0");
        assert_eq!(found, Some("/run/p".into()));
        assert_eq!(profile_in(b"chromium\0--type=renderer\0--user-data-dir=/run/p\0"), None);
        assert_eq!(profile_in(b"--user-data-dir=/run/p\0"), None);
        assert_eq!(profile_in(&[0xff, 0, 0xfe]), None);
    }

    #[test]
    fn empty_directory_has_no_leftovers() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(Leftovers::look(home.path()), Leftovers::default());
        assert!(!Leftovers::look(&home.path().join("nowhere")).has_stale());
    }
}
