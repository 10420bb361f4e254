//! Detects whether Chromium's sandbox works on this machine, with a warning if not.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// Whether the browser runs in its sandbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SandboxMode {
    /// Keep it, except as root or in a container, where Chromium refuses to start with it.
    #[default]
    Automatic,
    /// Keep it always, even if the browser then does not start.
    Required,
}

/// Why the sandbox cannot work here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxObstacle {
    /// Tabwire runs as root, which Chromium's sandbox does not support.
    Root,
    /// Tabwire runs in a container, which usually may not create namespaces.
    Container,
}

/// Files that exist only in containers.
const CONTAINER_MARKS: [&str; 2] = [".dockerenv", "run/.containerenv"];

/// Words in `/proc/1/cgroup` that occur only in containers.
const CONTAINER_GROUPS: [&str; 5] = ["docker", "kubepods", "containerd", "libpod", "lxc"];

impl SandboxObstacle {
    /// Checks this process and this machine.
    #[must_use]
    pub fn detect() -> Option<Self> {
        Self::detect_in(Path::new("/"), rustix::process::geteuid().is_root())
    }

    /// Checks a file system root, for root or another user.
    #[must_use]
    pub fn detect_in(root: &Path, is_root: bool) -> Option<Self> {
        let marked = || CONTAINER_MARKS.iter().any(|mark| root.join(mark).exists());
        let grouped = || {
            let groups = std::fs::read_to_string(root.join("proc/1/cgroup")).unwrap_or_default();
            CONTAINER_GROUPS.iter().any(|word| groups.contains(word))
        };
        if is_root && cfg!(target_os = "linux") {
            Some(Self::Root)
        } else if marked() || grouped() {
            Some(Self::Container)
        } else {
            None
        }
    }

    /// The warning for the user when the browser runs without a sandbox.
    #[must_use]
    pub const fn warning(self) -> &'static str {
        match self {
            Self::Root => {
                "The browser runs without its sandbox because Tabwire runs as root. Run it as a normal user to have the sandbox."
            }
            Self::Container => {
                "The browser runs without its sandbox because this is a container. Only the container isolates web pages then."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SandboxObstacle;

    #[test]
    fn sandbox_obstacles_are_detected() {
        let root = tempfile::tempdir().unwrap();
        let look = |is_root| SandboxObstacle::detect_in(root.path(), is_root);
        assert_eq!(look(false), None);
        #[cfg(target_os = "linux")]
        assert_eq!(look(true), Some(SandboxObstacle::Root));
        std::fs::create_dir_all(root.path().join("proc/1")).unwrap();
        std::fs::write(root.path().join("proc/1/cgroup"), "0::/\n").unwrap();
        assert_eq!(look(false), None);
        std::fs::write(root.path().join("proc/1/cgroup"), "1:cpu:/docker/abc\n").unwrap();
        assert_eq!(look(false), Some(SandboxObstacle::Container));
        std::fs::write(root.path().join("proc/1/cgroup"), "").unwrap();
        std::fs::write(root.path().join(".dockerenv"), "").unwrap();
        assert_eq!(look(false), Some(SandboxObstacle::Container));
    }
}
