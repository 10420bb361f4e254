//! The key of the saved logins: in the system's keyring, in its own file, or derived from a passphrase.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_browser::atomic_file;
use tabwire_engine::{Passphrase, SealKey};

use super::keyring::Keyring;

/// Largest key file.
const KEY_BYTES: usize = 256;

/// Where the key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyPlace {
    /// The system's keyring.
    Keyring,
    /// A file beside the vault that only its owner can read.
    File,
    /// Nowhere: the user gives a passphrase.
    Passphrase,
}

impl fmt::Display for KeyPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Keyring => "the system's keyring",
            Self::File => "a file that only you can read",
            Self::Passphrase => "your passphrase",
        })
    }
}

fn key_file(directory: &Path) -> PathBuf {
    directory.join("vault.key")
}

impl KeyPlace {
    /// Creates a key, and chooses where to store it.
    pub(super) fn choose(
        directory: &Path,
        keyring: &Keyring<'_>,
        passphrase: Option<&Passphrase>,
    ) -> Result<(Self, SealKey), Failure> {
        if let Some(passphrase) = passphrase {
            return Ok((Self::Passphrase, SealKey::Passphrase(passphrase.clone())));
        }
        let key = SealKey::draw()?;
        let text = key.expose_text().unwrap_or_default();
        // A keyring that does not return the stored key is unusable.
        if keyring.store(&text) && keyring.look_up().as_deref() == Some(text.as_str()) {
            return Ok((Self::Keyring, key));
        }
        atomic_file::write(&key_file(directory), text.as_bytes())?;
        Ok((Self::File, key))
    }

    /// Reads the key.
    pub(super) fn obtain(
        self,
        directory: &Path,
        keyring: &Keyring<'_>,
        passphrase: Option<&Passphrase>,
    ) -> Result<SealKey, Failure> {
        let lost = |message: String| {
            Failure::new(ErrorCode::Internal, message).with_remedy(
                "The vault cannot be read without its key. Remove vault.json and save the logins again.",
            )
        };
        match (self, passphrase) {
            (Self::Passphrase, Some(passphrase)) => Ok(SealKey::Passphrase(passphrase.clone())),
            (Self::Passphrase, None) => {
                Err(Failure::new(ErrorCode::BadArgs, "The saved logins are sealed with a passphrase.")
                    .with_remedy(Remedy::new(
                        "Give it with {}, or type it in a terminal.",
                        [Step::argument("passphrase_file")],
                    )))
            }
            (Self::Keyring, _) => {
                let text = keyring.look_up().and_then(|text| SealKey::from_text(&text));
                text.ok_or_else(|| {
                    let message = "The system's keyring has no key for the saved logins.";
                    Failure::new(ErrorCode::Internal, message).with_remedy(
                        "Unlock the keyring and retry. The daemon must run in the same login session.",
                    )
                })
            }
            (Self::File, _) => {
                let path = key_file(directory);
                let text =
                    atomic_file::read(&path, KEY_BYTES).ok().and_then(|text| String::from_utf8(text).ok());
                let key = text.and_then(|text| SealKey::from_text(&text));
                key.ok_or_else(|| lost(format!("The key of the saved logins, {}, is gone.", path.display())))
            }
        }
    }

    /// Removes the key of a removed vault.
    pub(super) fn forget(self, directory: &Path, keyring: &Keyring<'_>) {
        match self {
            Self::Keyring => keyring.remove(),
            // A leftover key is harmless: the vault is gone.
            Self::File => drop(std::fs::remove_file(key_file(directory))),
            Self::Passphrase => {}
        }
    }
}
