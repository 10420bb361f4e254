//! Encrypted files: XChaCha20-Poly1305, with a random key or a key that Argon2id derives from a passphrase.

use std::fmt;

use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use serde::{Deserialize, Serialize};
use tabwire_api::{ErrorCode, Failure};

/// Memory of the key derivation, as RFC 9106 recommends where memory is limited.
const MEMORY_KIBIBYTES: u32 = 64 * 1024;
/// Passes of the key derivation.
const PASSES: u32 = 3;
/// Most memory that a file may request when it is opened.
const MAX_MEMORY_KIBIBYTES: u32 = 1024 * 1024;
/// Most passes that a file may request when it is opened.
const MAX_PASSES: u32 = 16;

/// The format of encrypted states; authenticated with the content.
const STATE: &str = "tabwire sealed state 1";

/// Bytes of a key.
const KEY_BYTES: usize = 32;
/// Bytes of salt.
const SALT_BYTES: usize = 16;
/// Bytes of a nonce: long enough to be random for each file.
const NONCE_BYTES: usize = 24;

/// A passphrase. Its `Debug` output hides it.
#[derive(Clone)]
pub struct Passphrase(Vec<u8>);

/// The key of an encrypted file.
#[derive(Clone)]
pub enum SealKey {
    /// A passphrase.
    Passphrase(Passphrase),
    /// A random key.
    Random([u8; KEY_BYTES]),
}

impl SealKey {
    /// Generates a random key.
    ///
    /// # Errors
    /// When the system has no random bytes.
    pub fn draw() -> Result<Self, Failure> {
        let mut key = [0_u8; KEY_BYTES];
        fill_random(&mut key)?;
        Ok(Self::Random(key))
    }

    /// Parses the output of `expose_text`.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        STANDARD.decode(text.trim()).ok()?.try_into().ok().map(Self::Random)
    }

    /// The random key as text; none for a passphrase.
    #[must_use]
    pub fn expose_text(&self) -> Option<String> {
        match self {
            Self::Passphrase(_) => None,
            Self::Random(key) => Some(STANDARD.encode(key)),
        }
    }
}

impl fmt::Debug for SealKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SealKey")
    }
}

impl Passphrase {
    /// Reads a passphrase from the content of a file, without the line break at its end.
    ///
    /// # Errors
    /// When it is empty.
    pub fn from_file(content: &[u8]) -> Result<Self, Failure> {
        let content = content.strip_suffix(b"\n").unwrap_or(content);
        let content = content.strip_suffix(b"\r").unwrap_or(content);
        if content.is_empty() {
            return Err(Failure::new(ErrorCode::BadArgs, "The passphrase is empty.")
                .with_remedy("Use the first line of a file."));
        }
        Ok(Self(content.to_vec()))
    }
}

impl fmt::Debug for Passphrase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Passphrase")
    }
}

/// An encrypted file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sealed {
    format: String,
    /// Parameters of the key derivation.
    memory_kibibytes: u32,
    passes: u32,
    salt: String,
    nonce: String,
    content: String,
}

/// Whether the content of a file is an encrypted state.
#[must_use]
pub fn is_sealed(content: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Head {
        format: String,
    }
    serde_json::from_slice::<Head>(content).is_ok_and(|head| head.format.starts_with("tabwire sealed state"))
}

/// Encrypts a state. The key derivation is slow on purpose: run it on a blocking thread.
///
/// # Errors
/// When the system has no random bytes, or the content is too long.
pub fn seal_state(content: &[u8], passphrase: &Passphrase) -> Result<Vec<u8>, Failure> {
    seal_as(STATE, content, &SealKey::Passphrase(passphrase.clone()))
}

/// Decrypts a state.
///
/// # Errors
/// When the file is damaged or the passphrase is wrong.
pub fn open_state(content: &[u8], passphrase: &Passphrase) -> Result<Vec<u8>, Failure> {
    open_as(STATE, content, &SealKey::Passphrase(passphrase.clone()))
}

/// Encrypts content as a file of a format. With a passphrase it is slow on purpose.
///
/// # Errors
/// When the system has no random bytes, or the content is too long.
pub fn seal_as(format: &str, content: &[u8], key: &SealKey) -> Result<Vec<u8>, Failure> {
    let (mut salt, mut nonce) = ([0_u8; SALT_BYTES], [0_u8; NONCE_BYTES]);
    fill_random(&mut salt)?;
    fill_random(&mut nonce)?;
    let (memory_kibibytes, passes) = match key {
        SealKey::Passphrase(_) => (MEMORY_KIBIBYTES, PASSES),
        SealKey::Random(_) => (0, 0),
    };
    let key = key.make(&salt, memory_kibibytes, passes)?;
    let payload = Payload { msg: content, aad: format.as_bytes() };
    let sealed = XChaCha20Poly1305::new(&key)
        .encrypt(&XNonce::from(nonce), payload)
        .map_err(|_| internal("the content is too long"))?;
    let sealed = Sealed {
        format: format.to_owned(),
        memory_kibibytes,
        passes,
        salt: STANDARD.encode(salt),
        nonce: STANDARD.encode(nonce),
        content: STANDARD.encode(sealed),
    };
    serde_json::to_vec_pretty(&sealed).map_err(|error| internal(&error.to_string()))
}

/// Decrypts a file of a format.
///
/// # Errors
/// When the file is damaged, has another format or another key.
pub fn open_as(format: &str, content: &[u8], key: &SealKey) -> Result<Vec<u8>, Failure> {
    let sealed: Sealed = serde_json::from_slice(content).map_err(|_| damaged())?;
    if sealed.format != format {
        return Err(Failure::new(
            ErrorCode::BadArgs,
            "The file was encrypted by another version of Tabwire.",
        )
        .with_remedy("Open it with the version that wrote it."));
    }
    // The parameters come from the file: bound them.
    if sealed.memory_kibibytes > MAX_MEMORY_KIBIBYTES || sealed.passes > MAX_PASSES {
        return Err(damaged());
    }
    let decode = |text: &str| STANDARD.decode(text).map_err(|_| damaged());
    let nonce: [u8; NONCE_BYTES] = decode(&sealed.nonce)?.try_into().map_err(|_| damaged())?;
    let (salt, text) = (decode(&sealed.salt)?, decode(&sealed.content)?);
    let key = key.make(&salt, sealed.memory_kibibytes, sealed.passes).map_err(|_| damaged())?;
    let payload = Payload { msg: &text, aad: format.as_bytes() };
    XChaCha20Poly1305::new(&key).decrypt(&XNonce::from(nonce), payload).map_err(|_| {
        Failure::new(ErrorCode::BadArgs, "The passphrase is wrong, or the file was changed.")
            .with_remedy("Use the passphrase that the file was encrypted with.")
    })
}

fn fill_random(bytes: &mut [u8]) -> Result<(), Failure> {
    getrandom::fill(bytes).map_err(Failure::no_random_bytes)
}

impl SealKey {
    fn make(&self, salt: &[u8], memory: u32, passes: u32) -> Result<Key, Failure> {
        match self {
            Self::Passphrase(passphrase) => make_key(passphrase, salt, memory, passes),
            Self::Random(key) => Ok(Key::from(*key)),
        }
    }
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
    Failure::new(ErrorCode::Internal, format!("Encryption failed: {why}."))
}

fn damaged() -> Failure {
    Failure::new(ErrorCode::BadArgs, "The encrypted file is damaged.").with_remedy("Save it again.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_right_passphrase_opens_an_unchanged_file() {
        let right = Passphrase::from_file(b"correct horse\n").expect("a passphrase");
        let content = b"{\"cookies\": \"secret-canary\"}";
        let sealed = seal_state(content, &right).expect("sealed");
        assert!(is_sealed(&sealed) && !is_sealed(content));
        assert!(!String::from_utf8_lossy(&sealed).contains("canary"));
        assert_eq!(open_state(&sealed, &right).expect("opened"), content);
        assert_ne!(seal_state(content, &right).expect("sealed"), sealed, "each file is another");

        let wrong = Passphrase::from_file(b"correct horse ").expect("a passphrase");
        let failure = open_state(&sealed, &wrong).expect_err("wrong");
        assert!(failure.message.contains("passphrase is wrong"), "{failure:?}");
        let mut changed: Sealed = serde_json::from_slice(&sealed).expect("read");
        let mut text = STANDARD.decode(&changed.content).expect("base64");
        text[0] ^= 1;
        changed.content = STANDARD.encode(text);
        let changed_file = serde_json::to_vec(&changed).expect("written");
        assert_eq!(open_state(&changed_file, &right).expect_err("changed").code, ErrorCode::BadArgs);
        changed.memory_kibibytes = u32::MAX;
        let greedy = serde_json::to_vec(&changed).expect("written");
        assert_eq!(open_state(&greedy, &right).expect_err("greedy"), damaged());
    }

    #[test]
    fn a_random_key_opens_its_own_file_of_its_own_format_only() {
        let key = SealKey::draw().expect("a key");
        let sealed = seal_as("one", b"secret-canary", &key).expect("sealed");
        assert!(!String::from_utf8_lossy(&sealed).contains("canary"));
        let again = SealKey::from_text(&key.expose_text().expect("random")).expect("a key");
        assert_eq!(open_as("one", &sealed, &again).expect("opened"), b"secret-canary");
        assert!(open_as("two", &sealed, &again).is_err());
        assert!(open_as("one", &sealed, &SealKey::draw().expect("a key")).is_err());
        assert!(SealKey::from_text("short").is_none());
        assert_eq!(format!("{key:?}"), "SealKey");
    }

    #[test]
    fn an_empty_passphrase_is_none() {
        assert!(Passphrase::from_file(b"\r\n").is_err());
        assert!(!format!("{:?}", Passphrase::from_file(b"canary")).contains("canary"));
    }
}
