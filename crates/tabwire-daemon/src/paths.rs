//! Where the daemon's files are. Handed in by the binary; nothing here reads the environment.

use std::path::{Path, PathBuf};

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

    /// The one directory that all four are below, if there is one.
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

    /// Who the running daemon is, and its token.
    #[must_use]
    pub fn handshake(&self) -> PathBuf {
        self.runtime.join("handshake.json")
    }

    /// The key that the daemon and the user's browsers share.
    #[must_use]
    pub fn extension_key(&self) -> PathBuf {
        self.state.join("extension-key")
    }

    /// Where the extension is unpacked, for browsers to load it from.
    #[must_use]
    pub fn extension(&self) -> PathBuf {
        self.data.join("extension")
    }

    /// The log file.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.state.join("logs").join("daemon.log")
    }

    /// The journal.
    #[must_use]
    pub fn journal(&self) -> PathBuf {
        self.state.join("journal.db")
    }

    /// The user's policy.
    #[must_use]
    pub fn policy(&self) -> PathBuf {
        self.config.join("policy.toml")
    }

    /// What was granted and denied.
    #[must_use]
    pub fn grants(&self) -> PathBuf {
        self.state.join("grants.json")
    }

    /// Where downloads wait until they are placed, a directory for each browser.
    #[must_use]
    pub fn staging(&self) -> PathBuf {
        self.state.join("staging")
    }

    /// Where sessions are remembered.
    #[must_use]
    pub fn sessions(&self) -> PathBuf {
        self.state.join("sessions")
    }
}
