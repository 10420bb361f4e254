//! The handshake file of the running daemon: process, port and token, with mode 0600, for clients on the port.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tabwire_api::{InstanceId, VERSION};
use tabwire_browser::{BrowserError, atomic_file};

use crate::http::token::Token;
use crate::paths::FILE_BYTES;

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

    /// Reads the file; `None` when it is missing or invalid.
    #[must_use]
    pub fn find(path: &Path) -> Option<Self> {
        serde_json::from_slice(&atomic_file::read(path, FILE_BYTES).ok()?).ok()
    }

    /// The token for requests over the port.
    #[must_use]
    pub fn expose_token(&self) -> Option<Token> {
        Token::find(&self.token)
    }
}
