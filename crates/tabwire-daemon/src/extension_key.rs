//! The file with the key that the daemon and the user's own browsers share. Made when first needed; only its owner
//! reads it.

use std::path::Path;

use tabwire_browser::atomic_file;
use tabwire_extension::proof::PairingKey;
use tabwire_wire::{ErrorCode, Failure};

use crate::limits::FILE_BYTES;
use crate::token::Token;

/// Reads the key; `None` when there is none yet.
#[must_use]
pub fn find_extension_key(path: &Path) -> Option<Token> {
    let text = String::from_utf8(atomic_file::read(path, FILE_BYTES).ok()?).ok()?;
    Token::find(text.trim())
}

/// The key, drawn if there is none.
pub(crate) fn obtain(path: &Path) -> Result<Token, Failure> {
    match find_extension_key(path) {
        Some(key) => Ok(key),
        None => draw(path),
    }
}

/// Draws a new key; who knows the old one is a stranger from now on.
pub(crate) fn draw(path: &Path) -> Result<Token, Failure> {
    let key = Token::draw().map_err(|error| {
        Failure::new(ErrorCode::Internal, format!("The system gives no randomness: {error}."))
    })?;
    atomic_file::write(path, format!("{}\n", key.expose()).as_bytes())?;
    Ok(key)
}

/// The key as proofs are made with it.
pub(crate) fn as_pairing(key: &Token) -> Option<PairingKey> {
    PairingKey::find(key.expose())
}
