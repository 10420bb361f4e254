//! Who the running daemon is: a 0600 file that front ends on the port, and the extension, are given.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tabwire_browser::{BrowserError, atomic_file};
use tabwire_wire::{InstanceId, VERSION};

use crate::limits::FILE_BYTES;
use crate::token::Token;

/// The handshake file's content.
#[derive(Debug, Serialize, Deserialize)]
pub struct Handshake {
    /// The daemon's version.
    pub version: String,
    /// Its run.
    pub instance: InstanceId,
    /// Its process.
    pub pid: u32,
    /// Its loopback port.
    pub port: u16,
    token: String,
}

impl Handshake {
    pub(crate) fn new(instance: InstanceId, port: u16, token: &Token) -> Self {
        let token = token.expose().to_owned();
        Self { version: VERSION.to_owned(), instance, pid: std::process::id(), port, token }
    }

    pub(crate) fn write(&self, path: &Path) -> Result<(), BrowserError> {
        atomic_file::write(path, &serde_json::to_vec(self).unwrap_or_default())
    }

    /// Reads the file; `None` when it is missing or not one of ours.
    #[must_use]
    pub fn find(path: &Path) -> Option<Self> {
        serde_json::from_slice(&atomic_file::read(path, FILE_BYTES).ok()?).ok()
    }

    /// The token that opens the port.
    #[must_use]
    pub fn expose_token(&self) -> Option<Token> {
        Token::find(&self.token)
    }
}
