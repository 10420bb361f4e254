//! The state that one relay process hands to the next in the environment.
//!
//! Five lines: the daemon's socket, the connection's first line, the digest of the tool list that the client has, and
//! the client's `initialize` and `initialized` messages. Missing lines are empty, for other versions.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::pending_calls::ClientHandshake;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Handover {
    pub(crate) socket: PathBuf,
    /// The first line to the daemon.
    pub(crate) opening: String,
    /// Digest of the tool list that the client has; empty before the first daemon.
    pub(crate) tools_digest: String,
    pub(crate) handshake: ClientHandshake,
}

impl Handover {
    pub(crate) fn new(socket: &Path, opening: &str) -> Self {
        Self { socket: socket.to_owned(), opening: opening.to_owned(), ..Self::default() }
    }

    pub(crate) fn read(text: &OsStr) -> Self {
        let mut parts = text.as_bytes().split(|byte| *byte == b'\n');
        let socket = PathBuf::from(OsStr::from_bytes(parts.next().unwrap_or_default()));
        let mut next = || String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
        let (opening, tools_digest, initialize, initialized) = (next(), next(), next(), next());
        Self { socket, opening, tools_digest, handshake: ClientHandshake { initialize, initialized } }
    }

    pub(crate) fn write(&self) -> OsString {
        let ClientHandshake { initialize, initialized } = &self.handshake;
        let parts = [&self.opening, &self.tools_digest, initialize, initialized];
        let mut text = self.socket.as_os_str().as_bytes().to_vec();
        for part in parts {
            text.push(b'\n');
            text.extend_from_slice(part.as_bytes());
        }
        OsString::from_vec(text)
    }

    /// Whether a daemon has served the client before.
    pub(crate) const fn is_resumed(&self) -> bool {
        !self.tools_digest.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_and_tolerates_missing_lines() {
        let handshake = ClientHandshake { initialize: "{\"id\":0}".to_owned(), initialized: "{}".to_owned() };
        let whole = Handover {
            tools_digest: "00ff".to_owned(),
            handshake,
            ..Handover::new(Path::new("/run/a b.sock"), "{\"tools\":[]}")
        };
        assert_eq!(Handover::read(&whole.write()), whole);
        assert!(whole.is_resumed());
        let short = Handover::read(OsStr::new("/run/a.sock\n{}"));
        assert_eq!(short, Handover::new(Path::new("/run/a.sock"), "{}"));
        assert!(!short.is_resumed());
    }
}
