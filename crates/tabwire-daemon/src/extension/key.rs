//! The key that the daemon and the extension share, in a private file that is created on first use.

use std::path::Path;

use tabwire_api::{ErrorCode, Failure};
use tabwire_browser::atomic_file;
use tabwire_extension::proof::PairingKey;

use crate::http::token::Token;
use crate::paths::FILE_BYTES;

/// Reads the key; `None` when there is none yet.
#[must_use]
pub fn find_extension_key(path: &Path) -> Option<Token> {
    let text = String::from_utf8(atomic_file::read(path, FILE_BYTES).ok()?).ok()?;
    Token::find(text.trim())
}

/// The key, created if there is none.
pub(crate) fn obtain(path: &Path) -> Result<Token, Failure> {
    match find_extension_key(path) {
        Some(key) => Ok(key),
        None => draw(path),
    }
}

/// Creates a new key. The old one is refused from now on.
pub(crate) fn draw(path: &Path) -> Result<Token, Failure> {
    let key = Token::draw().map_err(|error| {
        Failure::new(ErrorCode::Internal, format!("Random bytes are not available from the system: {error}."))
    })?;
    atomic_file::write(path, format!("{}\n", key.expose()).as_bytes())?;
    Ok(key)
}

/// The key in the form for proofs.
pub(crate) fn as_pairing(key: &Token) -> Option<PairingKey> {
    PairingKey::find(key.expose())
}
