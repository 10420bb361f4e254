//! What one process that copies hands over to the next: where the daemon is, and what holds for its client.
//!
//! Five lines: the daemon's socket, the connection's first line, the mark of the list of tools that the client knows,
//! and what the client said first. Lines that are missing are empty, so that other versions are understood.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::pending_calls::FirstWords;

/// What is handed over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HandedOver {
    pub(super) socket: PathBuf,
    /// What the daemon is told first.
    pub(super) opening: String,
    /// Stands for the list of tools that the client knows; empty when it was served by nobody yet.
    pub(super) list_mark: String,
    pub(super) first_words: FirstWords,
}

impl HandedOver {
    /// What a client begins with.
    pub(super) fn new(socket: &Path, opening: &str) -> Self {
        Self { socket: socket.to_owned(), opening: opening.to_owned(), ..Self::default() }
    }

    /// Reads it from the environment's form.
    pub(super) fn read(text: &OsStr) -> Self {
        let mut parts = text.as_bytes().split(|byte| *byte == b'\n');
        let socket = PathBuf::from(OsStr::from_bytes(parts.next().unwrap_or_default()));
        let mut next = || String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
        let (opening, list_mark, initialize, initialized) = (next(), next(), next(), next());
        Self { socket, opening, list_mark, first_words: FirstWords { initialize, initialized } }
    }

    /// Its form in the environment.
    pub(super) fn write(&self) -> OsString {
        let FirstWords { initialize, initialized } = &self.first_words;
        let parts = [&self.opening, &self.list_mark, initialize, initialized];
        let mut text = self.socket.as_os_str().as_bytes().to_vec();
        for part in parts {
            text.push(b'\n');
            text.extend_from_slice(part.as_bytes());
        }
        OsString::from_vec(text)
    }

    /// Whether the client was served before.
    pub(super) const fn is_resumed(&self) -> bool {
        !self.list_mark.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_what_is_missing_is_empty() {
        let first_words = FirstWords { initialize: "{\"id\":0}".to_owned(), initialized: "{}".to_owned() };
        let whole = HandedOver {
            list_mark: "00ff".to_owned(),
            first_words,
            ..HandedOver::new(Path::new("/run/a b.sock"), "{\"tools\":[]}")
        };
        assert_eq!(HandedOver::read(&whole.write()), whole);
        assert!(whole.is_resumed());
        let short = HandedOver::read(OsStr::new("/run/a.sock\n{}"));
        assert_eq!(short, HandedOver::new(Path::new("/run/a.sock"), "{}"));
        assert!(!short.is_resumed());
    }
}
