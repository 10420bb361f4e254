//! A state file that only a passphrase opens: Argon2id makes the key, XChaCha20-Poly1305 seals the content.
//!
//! Knows nothing of what is sealed.

use std::fmt;

use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use serde::{Deserialize, Serialize};
use tabwire_wire::{ErrorCode, Failure};

use crate::limits::{SEAL_MEMORY_KIBIBYTES, SEAL_MEMORY_KIBIBYTES_MOST, SEAL_PASSES, SEAL_PASSES_MOST};

/// What sealed files say they are; sealed along with the content.
const FORMAT: &str = "tabwire sealed state 1";

/// Bytes of a key.
const KEY_BYTES: usize = 32;
/// Bytes of salt.
const SALT_BYTES: usize = 16;
/// Bytes of a nonce: long enough to be drawn at random for each file.
const NONCE_BYTES: usize = 24;

/// A passphrase, which is not printed by accident.
#[derive(Clone)]
pub(crate) struct Passphrase(Vec<u8>);

impl Passphrase {
    /// Takes a passphrase from a file's content; the line break at its end is not part of it.
    pub(crate) fn from_file(content: &[u8]) -> Result<Self, Failure> {
        let content = content.strip_suffix(b"\n").unwrap_or(content);
        let content = content.strip_suffix(b"\r").unwrap_or(content);
        if content.is_empty() {
            return Err(Failure::new(ErrorCode::BadArgs, "The passphrase file is empty.")
                .with_hint("Write a passphrase on its first line."));
        }
        Ok(Self(content.to_vec()))
    }
}

impl fmt::Debug for Passphrase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Passphrase")
    }
}

/// A sealed file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sealed {
    format: String,
    /// How the key is made.
    memory_kibibytes: u32,
    passes: u32,
    salt: String,
    nonce: String,
    content: String,
}

/// Whether a file's content is sealed.
pub(crate) fn is_sealed(content: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Head {
        format: String,
    }
    serde_json::from_slice::<Head>(content).is_ok_and(|head| head.format.starts_with("tabwire sealed state"))
}

/// Seals content. Takes some time and memory on purpose: run it where it keeps nobody waiting.
pub(crate) fn seal(content: &[u8], passphrase: &Passphrase) -> Result<Vec<u8>, Failure> {
    let (mut salt, mut nonce) = ([0_u8; SALT_BYTES], [0_u8; NONCE_BYTES]);
    for bytes in [salt.as_mut_slice(), nonce.as_mut_slice()] {
        getrandom::fill(bytes)
            .map_err(|error| internal(&format!("the system gives no randomness: {error}")))?;
    }
    let key = make_key(passphrase, &salt, SEAL_MEMORY_KIBIBYTES, SEAL_PASSES)?;
    let payload = Payload { msg: content, aad: FORMAT.as_bytes() };
    let sealed = XChaCha20Poly1305::new(&key)
        .encrypt(&XNonce::from(nonce), payload)
        .map_err(|_| internal("the content is too long to seal"))?;
    let sealed = Sealed {
        format: FORMAT.to_owned(),
        memory_kibibytes: SEAL_MEMORY_KIBIBYTES,
        passes: SEAL_PASSES,
        salt: STANDARD.encode(salt),
        nonce: STANDARD.encode(nonce),
        content: STANDARD.encode(sealed),
    };
    serde_json::to_vec_pretty(&sealed).map_err(|error| internal(&error.to_string()))
}

/// Opens what was sealed.
pub(crate) fn open(content: &[u8], passphrase: &Passphrase) -> Result<Vec<u8>, Failure> {
    let sealed: Sealed = serde_json::from_slice(content).map_err(|_| damaged())?;
    if sealed.format != FORMAT {
        return Err(Failure::new(ErrorCode::BadArgs, "The file was sealed by another version of Tabwire.")
            .with_hint("Open it with the version that wrote it."));
    }
    // A file may not ask for more than this machine should give.
    if sealed.memory_kibibytes > SEAL_MEMORY_KIBIBYTES_MOST || sealed.passes > SEAL_PASSES_MOST {
        return Err(damaged());
    }
    let decode = |text: &str| STANDARD.decode(text).map_err(|_| damaged());
    let nonce: [u8; NONCE_BYTES] = decode(&sealed.nonce)?.try_into().map_err(|_| damaged())?;
    let (salt, text) = (decode(&sealed.salt)?, decode(&sealed.content)?);
    let key = make_key(passphrase, &salt, sealed.memory_kibibytes, sealed.passes).map_err(|_| damaged())?;
    let payload = Payload { msg: &text, aad: FORMAT.as_bytes() };
    XChaCha20Poly1305::new(&key).decrypt(&XNonce::from(nonce), payload).map_err(|_| {
        Failure::new(ErrorCode::BadArgs, "The passphrase is wrong, or the file was changed.")
            .with_hint("Give the passphrase the state was saved with.")
    })
}

fn make_key(passphrase: &Passphrase, salt: &[u8], memory: u32, passes: u32) -> Result<Key, Failure> {
    let params =
        Params::new(memory, passes, 1, Some(KEY_BYTES)).map_err(|error| internal(&error.to_string()))?;
    let mut key = [0_u8; KEY_BYTES];
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(&passphrase.0, salt, &mut key)
        .map_err(|error| internal(&error.to_string()))?;
    Ok(Key::from(key))
}

fn internal(why: &str) -> Failure {
    Failure::new(ErrorCode::Internal, format!("The state could not be sealed: {why}."))
}

fn damaged() -> Failure {
    Failure::new(ErrorCode::BadArgs, "The file is a sealed state, but it is damaged.")
        .with_hint("Save the state again.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_right_passphrase_opens_an_unchanged_file() {
        let right = Passphrase::from_file(b"correct horse\n").expect("a passphrase");
        let content = b"{\"cookies\": \"secret-canary\"}";
        let sealed = seal(content, &right).expect("sealed");
        assert!(is_sealed(&sealed) && !is_sealed(content));
        assert!(!String::from_utf8_lossy(&sealed).contains("canary"));
        assert_eq!(open(&sealed, &right).expect("opened"), content);
        assert_ne!(seal(content, &right).expect("sealed"), sealed, "each file is another");

        let wrong = Passphrase::from_file(b"correct horse ").expect("a passphrase");
        let failure = open(&sealed, &wrong).expect_err("wrong");
        assert!(failure.message.contains("passphrase is wrong"), "{failure:?}");
        let mut changed: Sealed = serde_json::from_slice(&sealed).expect("read");
        let mut text = STANDARD.decode(&changed.content).expect("base64");
        text[0] ^= 1;
        changed.content = STANDARD.encode(text);
        let changed_file = serde_json::to_vec(&changed).expect("written");
        assert_eq!(open(&changed_file, &right).expect_err("changed").code, ErrorCode::BadArgs);
        changed.memory_kibibytes = u32::MAX;
        let greedy = serde_json::to_vec(&changed).expect("written");
        assert_eq!(open(&greedy, &right).expect_err("greedy"), damaged());
    }

    #[test]
    fn an_empty_passphrase_is_none() {
        assert!(Passphrase::from_file(b"\r\n").is_err());
        assert!(!format!("{:?}", Passphrase::from_file(b"canary")).contains("canary"));
    }
}
