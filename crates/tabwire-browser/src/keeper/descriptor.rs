//! The file that describes a running browser: its keeper, socket and profile. It can be stale: only a handshake with
//! the keeper proves that the browser lives.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tabwire_api::{BrowserId, InstanceId, UpstreamKind};

use crate::Display;
use crate::error::BrowserError;
use crate::files::atomic_file;
use crate::process::identity::ProcessIdentity;

/// Longest descriptor file that is parsed.
const DESCRIPTOR_BYTES: usize = 64 * 1024;

/// The version of the file this code writes and reads.
const FORMAT: u32 = 1;

/// One launched browser as its keeper describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrowserDescriptor {
    /// Version of this format. Files of other versions are refused.
    pub format: u32,
    /// The browser's id, also part of the file names.
    pub id: BrowserId,
    /// The keeper's run. The handshake must return the same.
    pub instance: InstanceId,
    /// The process that keeps the browser.
    pub keeper: ProcessIdentity,
    /// The browser's main process, leader of its group.
    pub browser: ProcessIdentity,
    /// The program that was started.
    pub executable: PathBuf,
    /// The product name, such as `Chrome/156.0.8078.79`.
    #[serde(default)]
    pub version: Option<String>,
    /// The profile directory.
    pub profile: PathBuf,
    /// Whether the profile is removed with the browser.
    pub temporary: bool,
    /// How the browser is reached.
    pub upstream: UpstreamKind,
    /// The keeper's socket.
    pub socket: PathBuf,
    /// With or without a window.
    pub display: Display,
    /// The requested debugging port.
    #[serde(default)]
    pub debugging_port: Option<u16>,
    /// Digest of the launch options, to compare launches.
    pub options_digest: String,
    /// When it was started, in milliseconds since 1970.
    pub created_at: u64,
    /// Warnings about this launch for the user.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Labels of the caller, such as the session's name. Not read here.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
}

impl BrowserDescriptor {
    /// The current version of the format.
    pub const FORMAT: u32 = FORMAT;

    /// The path of a browser's descriptor.
    #[must_use]
    pub fn file(directory: &Path, id: &BrowserId) -> PathBuf {
        directory.join(format!("{id}.json"))
    }

    /// The path of the socket of a browser's keeper.
    #[must_use]
    pub fn socket_file(directory: &Path, id: &BrowserId) -> PathBuf {
        directory.join(format!("{id}.sock"))
    }

    /// Reads a descriptor. Accepts any file content without panicking.
    ///
    /// # Errors
    /// When the file cannot be read, is too large, malformed or of another version.
    pub fn read(path: &Path) -> Result<Self, BrowserError> {
        let content = atomic_file::read(path, DESCRIPTOR_BYTES)?;
        let descriptor: Self = serde_json::from_slice(&content)
            .map_err(|_| BrowserError::Peer { peer: "A browser descriptor", what: "it is not valid" })?;
        if descriptor.format != FORMAT {
            return Err(BrowserError::Peer { peer: "A browser descriptor", what: "it has another version" });
        }
        Ok(descriptor)
    }

    /// Replaces the descriptor in a descriptor directory.
    ///
    /// # Errors
    /// When it cannot be written. An earlier file is unchanged then.
    pub fn write(&self, directory: &Path) -> Result<(), BrowserError> {
        let path = Self::file(directory, &self.id);
        let content =
            serde_json::to_vec_pretty(self).map_err(|error| BrowserError::system("write", &path, error))?;
        atomic_file::write(&path, &content)
    }
}

/// Whether a browser's id is safe in a file name.
pub(crate) fn is_file_name(id: &BrowserId) -> bool {
    tabwire_api::SessionName::new(id.as_str()).is_ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tabwire_api::{BrowserId, InstanceId, UpstreamKind};

    use super::{BrowserDescriptor, DESCRIPTOR_BYTES};
    use crate::{Display, ProcessIdentity};

    fn descriptor() -> BrowserDescriptor {
        let identity = ProcessIdentity::current().unwrap();
        BrowserDescriptor {
            format: BrowserDescriptor::FORMAT,
            id: BrowserId::new("b1"),
            instance: InstanceId::new("i1"),
            keeper: identity,
            browser: identity,
            executable: "/usr/bin/chromium".into(),
            version: None,
            profile: "/run/p".into(),
            temporary: true,
            upstream: UpstreamKind::Pipe,
            socket: "/run/b1.sock".into(),
            display: Display::Headless,
            debugging_port: None,
            options_digest: "0".into(),
            created_at: 1,
            warnings: Vec::new(),
            labels: [("session".to_owned(), "default".to_owned())].into(),
        }
    }

    #[test]
    fn descriptor_round_trips_and_damaged_files_are_errors() {
        let home = tempfile::tempdir().unwrap();
        descriptor().write(home.path()).unwrap();
        let path = BrowserDescriptor::file(home.path(), &BrowserId::new("b1"));
        assert_eq!(BrowserDescriptor::read(&path).unwrap(), descriptor());
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() - 1 {
            fs::write(&path, &whole[..length]).unwrap();
            assert!(BrowserDescriptor::read(&path).is_err(), "cut at {length}");
        }
        for position in (0..whole.len()).step_by(3) {
            let mut damaged = whole.clone();
            damaged[position] ^= 0x55;
            fs::write(&path, &damaged).unwrap();
            let _ = BrowserDescriptor::read(&path);
        }
        fs::write(&path, vec![b' '; DESCRIPTOR_BYTES + 1]).unwrap();
        assert!(BrowserDescriptor::read(&path).is_err());
        BrowserDescriptor { format: 2, ..descriptor() }.write(home.path()).unwrap();
        assert!(BrowserDescriptor::read(&path).unwrap_err().to_string().contains("another version"));
    }
}
