//! The paths of the daemon's files.

use std::path::{Path, PathBuf};

/// Largest of our own small files: session records, handshake, extension key.
pub(crate) const FILE_BYTES: usize = 256 * 1024;

/// The four directories, and the files in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// Sockets, locks and descriptors; gone with a reboot.
    pub runtime: PathBuf,
    /// Sessions, captures and logs.
    pub state: PathBuf,
    /// Profiles and the unpacked extension.
    pub data: PathBuf,
    /// The user's configuration.
    pub config: PathBuf,
}

impl Paths {
    /// All four below one directory, for tests and containers.
    #[must_use]
    pub fn below(home: &Path) -> Self {
        Self {
            runtime: home.join("runtime"),
            state: home.join("state"),
            data: home.join("data"),
            config: home.join("config"),
        }
    }

    /// The directory that contains all four, if there is one.
    #[must_use]
    pub fn home(&self) -> Option<&Path> {
        self.runtime.parent().filter(|home| *self == Self::below(home))
    }

    /// The daemon's socket.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.runtime.join("daemon.sock")
    }

    /// The lock that decides which daemon runs.
    #[must_use]
    pub fn lock(&self) -> PathBuf {
        self.runtime.join("daemon.lock")
    }

    /// Process, port and token of the running daemon.
    #[must_use]
    pub fn handshake(&self) -> PathBuf {
        self.runtime.join("handshake.json")
    }

    /// The version of the formats of all stored files.
    pub(crate) fn format(&self) -> PathBuf {
        self.state.join("format.json")
    }

    /// The configured port, and the one that a daemon took because it was in use.
    #[must_use]
    pub fn last_port(&self) -> PathBuf {
        self.state.join("port")
    }

    /// The key that the daemon and the extension share.
    #[must_use]
    pub fn extension_key(&self) -> PathBuf {
        self.state.join("extension-key")
    }

    /// The unpacked extension, which browsers load.
    #[must_use]
    pub fn extension(&self) -> PathBuf {
        self.data.join("extension")
    }

    /// The log file.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.state.join("logs").join("daemon.log")
    }

    /// The audit log.
    #[must_use]
    pub fn audit_log(&self) -> PathBuf {
        self.state.join("audit.sqlite")
    }

    /// The chats.
    #[must_use]
    pub fn chats(&self) -> PathBuf {
        self.state.join("chats")
    }

    /// The user's policy.
    #[must_use]
    pub fn policy(&self) -> PathBuf {
        self.config.join("policy.toml")
    }

    /// The grants and denials.
    #[must_use]
    pub fn grants(&self) -> PathBuf {
        self.state.join("grants.json")
    }

    /// Staged downloads, in one directory per browser.
    #[must_use]
    pub fn staging(&self) -> PathBuf {
        self.state.join("staging")
    }

    /// The records of rented browsers.
    #[must_use]
    pub fn rentals(&self) -> PathBuf {
        self.state.join("rentals")
    }

    /// The recipes of providers.
    #[must_use]
    pub fn providers(&self) -> PathBuf {
        self.config.join("providers")
    }

    /// The session records.
    #[must_use]
    pub fn sessions(&self) -> PathBuf {
        self.state.join("sessions")
    }
}
