//! Checks the machine: disk space, shared memory, open files, the socket path and the loopback port.

use super::CheckInputs;
use super::daemon::DaemonState;
use super::finding::Finding;
use crate::config::Key;
use rustix::process::{Resource, getrlimit};
use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use tabwire_api::{Remedy, Step};

/// Free bytes below which the disk counts as full: a fresh profile alone takes about as much.
const DISK_BYTES_NEEDED: u64 = 32 * 1024 * 1024;

/// Free bytes below which the disk is nearly full: a few pages with images fill as much of a cache.
const DISK_BYTES_WANTED: u64 = 256 * 1024 * 1024;

/// Shared memory below which pages with large images crash; containers often have 64 MiB.
const SHARED_MEMORY_BYTES: u64 = 128 * 1024 * 1024;

/// Open files that a process needs; a browser with a dozen tabs has several hundred.
const OPEN_FILES: u64 = 1024;

const SHARED_MEMORY: &str = "/dev/shm";

fn size(bytes: u64) -> String {
    const GIB: u64 = 1 << 30;
    if bytes >= GIB { format!("{} GiB", bytes / GIB) } else { format!("{} MiB", bytes >> 20) }
}

/// The browser's processes share images in `/dev/shm`; other systems than Linux need no such directory.
pub(super) fn shared_memory() -> Option<Finding> {
    let code = "shared-memory";
    if !cfg!(target_os = "linux") {
        return None;
    }
    let remedy = "Give the container more: `--shm-size=1g` for Docker and Podman, a memory volume at /dev/shm for Kubernetes.";
    let Ok(found) = rustix::fs::statvfs(SHARED_MEMORY) else {
        let sentence = format!("There is no {SHARED_MEMORY}, which browsers need for large pages.");
        return Some(Finding::warning(code, sentence, remedy));
    };
    Some(compare_shared_memory(found.f_blocks.saturating_mul(found.f_frsize), remedy))
}

fn compare_shared_memory(bytes: u64, remedy: &str) -> Finding {
    let code = "shared-memory";
    let size = size(bytes);
    if bytes >= SHARED_MEMORY_BYTES {
        return Finding::ok(code, format!("{SHARED_MEMORY} has {size}."));
    }
    Finding::warning(code, format!("{SHARED_MEMORY} has only {size}; large pages crash."), remedy)
}

/// Whether enough files may be open.
pub(super) fn open_files() -> Option<Finding> {
    let code = "open-files";
    Some(match getrlimit(Resource::Nofile).current {
        Some(limit) if limit < OPEN_FILES => Finding::warning(
            code,
            format!("A process may have only {limit} open files; a browser with many tabs needs more."),
            Remedy::new(
                "Run {} before the first command, then {}.",
                [Step::command(format!("ulimit -n {OPEN_FILES}")), Step::command("tabwire daemon stop")],
            ),
        ),
        Some(limit) => Finding::ok(code, format!("A process may have {limit} open files.")),
        None => Finding::ok(code, "The number of open files is unlimited."),
    })
}

pub(super) fn socket_path(inputs: &CheckInputs<'_>) -> Finding {
    let code = "socket-path";
    let path = inputs.paths().socket();
    let length = path.as_os_str().len();
    if length <= tabwire_browser::limits::SOCKET_PATH_BYTES {
        return Finding::ok(code, format!("The path of the daemon's socket has {length} bytes."));
    }
    let sentence = format!("{} has {length} bytes, more than a socket path may have.", path.display());
    Finding::wrong(code, sentence, "Set XDG_RUNTIME_DIR or TABWIRE_HOME to a directory with a shorter path.")
}

pub(super) fn disk(inputs: &CheckInputs<'_>) -> Vec<Finding> {
    let paths = inputs.paths();
    [("state-disk", &paths.state), ("runtime-disk", &paths.runtime)]
        .into_iter()
        .filter_map(|(code, path)| space(code, path))
        .collect()
}

fn space(code: &'static str, path: &Path) -> Option<Finding> {
    // The directory may not exist yet; its parent is on the same disk.
    let existing = path.ancestors().find(|path| path.is_dir())?;
    let found = rustix::fs::statvfs(existing).ok()?;
    let has_files = found.f_files == 0 || found.f_favail > 0;
    Some(compare_space(code, existing, found.f_bavail.saturating_mul(found.f_frsize), has_files))
}

fn compare_space(code: &'static str, path: &Path, free: u64, has_files: bool) -> Finding {
    let (path, size) = (path.display(), size(free));
    let remedy =
        format!("Free some space on the disk of {path}, or set TABWIRE_HOME to a directory on another one.");
    if !has_files {
        return Finding::wrong(code, format!("The disk of {path} has no free inodes."), remedy);
    }
    match free {
        0..DISK_BYTES_NEEDED => {
            Finding::wrong(code, format!("The disk of {path} is full: {size} left."), remedy)
        }
        DISK_BYTES_NEEDED..DISK_BYTES_WANTED => {
            Finding::warning(code, format!("The disk of {path} is nearly full: {size} left."), remedy)
        }
        _ => Finding::ok(code, format!("{size} are free at {path}.")),
    }
}

const PORT: &str = "port";

pub(super) fn port(inputs: &CheckInputs<'_>) -> Finding {
    let set = inputs.context.configuration.port(Key::Port);
    let wanted = set.map_or(tabwire_daemon::limits::DEFAULT_PORT, |set| set.value);
    let remedy = Remedy::new(
        "Stop that program, or choose another port with {}; then run {}.",
        [Step::command("tabwire config set port NUMBER"), Step::command("tabwire daemon stop")],
    );
    match &inputs.daemon {
        DaemonState::Running(status) if wanted == 0 || wanted == status.port => Finding::ok(
            PORT,
            format!("The daemon listens on port {} of the loopback interface.", status.port),
        ),
        DaemonState::Running(status) => {
            let sentence = format!("Another program uses port {wanted}; the daemon uses {}.", status.port);
            Finding::warning(PORT, sentence, remedy)
        }
        DaemonState::Older | DaemonState::Failing(_) => {
            Finding::ok(PORT, "The daemon did not report its port.")
        }
        DaemonState::Absent if wanted == 0 => Finding::ok(PORT, "The daemon will use any free port."),
        DaemonState::Absent => match TcpListener::bind((Ipv4Addr::LOCALHOST, wanted)) {
            Err(error) if error.kind() == ErrorKind::AddrInUse => {
                let sentence =
                    format!("Another program uses port {wanted}; the daemon will use another one.");
                Finding::warning(PORT, sentence, remedy)
            }
            Err(error) => Finding::warning(PORT, format!("Port {wanted} cannot be used: {error}."), remedy),
            Ok(_) => Finding::ok(PORT, format!("Port {wanted} is free.")),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_disk_space_is_a_warning_and_none_is_wrong() {
        let verdict =
            |free, files| compare_space("x", Path::new("/x"), free, files).to_json()["verdict"].clone();
        assert_eq!(verdict(0, true), "wrong");
        assert_eq!(verdict(DISK_BYTES_NEEDED, true), "warning");
        assert_eq!(verdict(DISK_BYTES_WANTED, true), "ok");
        assert_eq!(verdict(u64::MAX, false), "wrong");
    }

    #[test]
    fn the_shared_memory_of_a_container_is_too_small() {
        assert_eq!(compare_shared_memory(64 << 20, "do").to_json()["verdict"], "warning");
        assert_eq!(compare_shared_memory(1 << 30, "do").to_json()["verdict"], "ok");
    }
}
