//! What the machine gives: room on disks, shared memory, open files, and how long a socket's path may be.

use std::path::Path;

use rustix::process::{Resource, getrlimit};

use super::Visit;
use super::finding::Finding;
use crate::limits::{DISK_BYTES_NEEDED, DISK_BYTES_WANTED, OPEN_FILES, SHARED_MEMORY_BYTES};

const SHARED_MEMORY: &str = "/dev/shm";

/// Bytes as people read them.
fn size(bytes: u64) -> String {
    const GIB: u64 = 1 << 30;
    if bytes >= GIB { format!("{} GiB", bytes / GIB) } else { format!("{} MiB", bytes >> 20) }
}

/// Whether the browser's processes can share pictures; elsewhere than on Linux they need no such place.
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
    Some(judge_shared_memory(found.f_blocks.saturating_mul(found.f_frsize), remedy))
}

fn judge_shared_memory(bytes: u64, remedy: &str) -> Finding {
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
            format!("A process may have only {limit} files open; a browser with many tabs needs more."),
            format!("Run `ulimit -n {OPEN_FILES}` before the first command, then `tabwire daemon stop`."),
        ),
        Some(limit) => Finding::ok(code, format!("A process may have {limit} files open.")),
        None => Finding::ok(code, "A process may have any number of files open."),
    })
}

pub(super) fn socket_path(visit: &Visit<'_>) -> Finding {
    let code = "socket-path";
    let path = visit.paths().socket();
    let length = path.as_os_str().len();
    if length <= tabwire_browser::limits::SOCKET_PATH_BYTES {
        return Finding::ok(code, format!("The path of the daemon's socket has {length} bytes."));
    }
    let sentence = format!("{} has {length} bytes, more than a socket's path may have.", path.display());
    Finding::wrong(code, sentence, "Set XDG_RUNTIME_DIR or TABWIRE_HOME to a directory with a shorter path.")
}

/// Whether there is room where files are written.
pub(super) fn disk(visit: &Visit<'_>) -> Vec<Finding> {
    let paths = visit.paths();
    [("state-disk", &paths.state), ("runtime-disk", &paths.runtime)]
        .into_iter()
        .filter_map(|(code, path)| room(code, path))
        .collect()
}

fn room(code: &'static str, path: &Path) -> Option<Finding> {
    // The directory may not have been made yet; what is above it is on the same disk.
    let there = path.ancestors().find(|place| place.is_dir())?;
    let found = rustix::fs::statvfs(there).ok()?;
    let has_files = found.f_files == 0 || found.f_favail > 0;
    Some(judge_room(code, there, found.f_bavail.saturating_mul(found.f_frsize), has_files))
}

fn judge_room(code: &'static str, place: &Path, free: u64, has_files: bool) -> Finding {
    let (place, size) = (place.display(), size(free));
    let remedy =
        format!("Free some room on the disk of {place}, or set TABWIRE_HOME to a place on another one.");
    if !has_files {
        return Finding::wrong(code, format!("The disk of {place} takes no more files."), remedy);
    }
    match free {
        0..DISK_BYTES_NEEDED => {
            Finding::wrong(code, format!("The disk of {place} is full: {size} are left."), remedy)
        }
        DISK_BYTES_NEEDED..DISK_BYTES_WANTED => {
            Finding::warning(code, format!("The disk of {place} is nearly full: {size} are left."), remedy)
        }
        _ => Finding::ok(code, format!("{size} are free at {place}.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_room_is_a_warning_and_none_is_wrong() {
        let verdict = |free, files| judge_room("x", Path::new("/x"), free, files).told()["verdict"].clone();
        assert_eq!(verdict(0, true), "wrong");
        assert_eq!(verdict(DISK_BYTES_NEEDED, true), "warning");
        assert_eq!(verdict(DISK_BYTES_WANTED, true), "ok");
        assert_eq!(verdict(u64::MAX, false), "wrong");
    }

    #[test]
    fn the_shared_memory_of_a_container_is_too_small() {
        assert_eq!(judge_shared_memory(64 << 20, "do").told()["verdict"], "warning");
        assert_eq!(judge_shared_memory(1 << 30, "do").told()["verdict"], "ok");
    }
}
