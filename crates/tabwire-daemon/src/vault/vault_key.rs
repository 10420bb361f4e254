//! Where the key of the saved logins is: in the system's keyring, in a file of its own, or in somebody's head.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tabwire_browser::atomic_file;
use tabwire_engine::{Passphrase, SealKey};
use tabwire_wire::{ErrorCode, Failure};

use super::keyring::Keyring;

/// Most of a key file that is read.
const KEY_BYTES: usize = 256;

/// Where the key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyPlace {
    /// The system's keyring.
    Keyring,
    /// A file beside the vault that only its owner can read.
    File,
    /// Nowhere: a passphrase is asked for.
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
    /// Chooses a place for a new key, and puts one there.
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
        // A keyring that does not give back what it was given is none.
        if keyring.store(&text) && keyring.look_up().as_deref() == Some(text.as_str()) {
            return Ok((Self::Keyring, key));
        }
        atomic_file::write(&key_file(directory), text.as_bytes())?;
        Ok((Self::File, key))
    }

    /// Gets the key.
    pub(super) fn obtain(
        self,
        directory: &Path,
        keyring: &Keyring<'_>,
        passphrase: Option<&Passphrase>,
    ) -> Result<SealKey, Failure> {
        let lost = |message: String| {
            Failure::new(ErrorCode::Internal, message).with_hint(
                "Without its key nobody can read the vault: remove vault.json and save the logins again.",
            )
        };
        match (self, passphrase) {
            (Self::Passphrase, Some(passphrase)) => Ok(SealKey::Passphrase(passphrase.clone())),
            (Self::Passphrase, None) => {
                Err(Failure::new(ErrorCode::BadArgs, "The saved logins are sealed with a passphrase.")
                    .with_hint("Give it with --passphrase-file FILE, or on a terminal when asked."))
            }
            (Self::Keyring, _) => {
                let text = keyring.look_up().and_then(|text| SealKey::from_text(&text));
                text.ok_or_else(|| {
                    let message = "The system's keyring does not give the key of the saved logins.";
                    Failure::new(ErrorCode::Internal, message).with_hint(
                        "Unlock the keyring and try again. The daemon needs the session it runs in.",
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

    /// Removes the key of a vault that is gone.
    pub(super) fn forget(self, directory: &Path, keyring: &Keyring<'_>) {
        match self {
            Self::Keyring => keyring.remove(),
            // A key without its vault opens nothing.
            Self::File => drop(std::fs::remove_file(key_file(directory))),
            Self::Passphrase => {}
        }
    }
}
