//! The file of saved logins: the place of its key in plain text, and the logins encrypted.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, Mode, OFlags};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_browser::atomic_file;
use tabwire_engine::{LoginSelectors, SavedLogin, SealKey, SecretText, open_as, seal_as};

use super::vault_key::KeyPlace;

/// Largest file of saved logins.
const VAULT_BYTES: usize = 1024 * 1024;

/// How long a command waits for another one that changes the saved logins.
const VAULT_LOCK_DEADLINE: Duration = Duration::from_secs(5);

/// The format name. It is authenticated together with the content.
const FORMAT: &str = "tabwire vault 1";

/// Pause between two attempts to lock.
const POLL: Duration = Duration::from_millis(10);

/// The file as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VaultFile {
    format: String,
    /// Where the key is.
    pub(super) key: KeyPlace,
    sealed: Box<RawValue>,
}

/// The encrypted content. It has no `Debug`, so that it cannot be printed.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Content {
    pub(super) logins: Vec<StoredLogin>,
}

/// An encrypted login. It has no `Debug`, so that it cannot be printed.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredLogin {
    pub(super) name: String,
    url: String,
    origin: String,
    username: String,
    password: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    totp_secret: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name_selector: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    password_selector: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    submit_selector: Option<String>,
}

impl StoredLogin {
    pub(super) fn from_login(login: &SavedLogin) -> Self {
        Self {
            name: login.name.clone(),
            url: login.url.clone(),
            origin: login.origin.clone(),
            username: login.username.clone(),
            password: login.password.expose().to_owned(),
            totp_secret: login.totp_secret.as_ref().map(|secret| secret.expose().to_owned()),
            name_selector: login.selectors.name.clone(),
            password_selector: login.selectors.password.clone(),
            submit_selector: login.selectors.submit.clone(),
        }
    }

    pub(super) fn into_login(self) -> SavedLogin {
        SavedLogin {
            name: self.name,
            url: self.url,
            origin: self.origin,
            username: self.username,
            password: SecretText::new(self.password),
            totp_secret: self.totp_secret.map(SecretText::new),
            selectors: LoginSelectors {
                name: self.name_selector,
                password: self.password_selector,
                submit: self.submit_selector,
            },
        }
    }
}

impl VaultFile {
    /// Reads the file, if there is one.
    pub(super) fn read(path: &Path) -> Result<Option<Self>, Failure> {
        if path.symlink_metadata().is_err() {
            return Ok(None);
        }
        let damaged = || {
            let message = format!("The saved logins in {} cannot be read.", path.display());
            Failure::new(ErrorCode::Internal, message)
                .with_remedy("Restore a copy of the file, or remove it and save the logins again.")
        };
        let content = atomic_file::read(path, VAULT_BYTES)?;
        let file: Self = serde_json::from_slice(&content).map_err(|_| damaged())?;
        if file.format == FORMAT { Ok(Some(file)) } else { Err(damaged()) }
    }

    /// Decrypts the logins.
    pub(super) fn open(&self, key: &SealKey) -> Result<Content, Failure> {
        let content = open_as(FORMAT, self.sealed.get().as_bytes(), key).map_err(|failure| match key {
            SealKey::Passphrase(_) => failure,
            SealKey::Random(_) => {
                Failure::new(ErrorCode::Internal, "The key of the saved logins does not open them.")
                    .with_remedy("Restore the key, or remove vault.json and save the logins again.")
            }
        })?;
        // The parser's message could quote a secret.
        serde_json::from_slice(&content).map_err(|_| {
            Failure::new(ErrorCode::Internal, "The saved logins have an unknown format.")
                .with_remedy("Another version of Tabwire may have written them.")
        })
    }

    /// Encrypts the logins.
    pub(super) fn seal(place: KeyPlace, content: &Content, key: &SealKey) -> Result<Self, Failure> {
        let unwritable = |_| Failure::new(ErrorCode::Internal, "The logins cannot be written.");
        let plain = serde_json::to_vec(content).map_err(unwritable)?;
        let sealed = seal_as(FORMAT, &plain, key)?;
        let sealed = serde_json::from_slice(&sealed).map_err(unwritable)?;
        Ok(Self { format: FORMAT.to_owned(), key: place, sealed })
    }

    /// Replaces the file in one step, for its owner only.
    pub(super) fn write(&self, path: &Path) -> Result<(), Failure> {
        let content = serde_json::to_vec(self)
            .map_err(|_| Failure::new(ErrorCode::Internal, "The logins cannot be written."))?;
        if content.len() > VAULT_BYTES {
            return Err(Failure::new(ErrorCode::BadArgs, "There are too many saved logins.")
                .with_remedy(Remedy::new("Delete some with {}.", [Step::command("tabwire auth delete")])));
        }
        Ok(atomic_file::write(path, &content)?)
    }
}

/// Held while the vault is changed, so that concurrent changes are not lost.
pub(super) struct VaultLock {
    _file: rustix::fd::OwnedFd,
}

impl VaultLock {
    pub(super) fn take(directory: &Path) -> Result<Self, Failure> {
        let path = directory.join("vault.lock");
        let failed = |error: rustix::io::Errno| {
            Failure::new(ErrorCode::Internal, format!("{} cannot be locked: {error}.", path.display()))
        };
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR).map_err(failed)?;
        let until = Instant::now() + VAULT_LOCK_DEADLINE;
        loop {
            match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self { _file: file }),
                Err(rustix::io::Errno::WOULDBLOCK) if Instant::now() < until => std::thread::sleep(POLL),
                Err(rustix::io::Errno::WOULDBLOCK) => {
                    return Err(Failure::new(
                        ErrorCode::Busy,
                        "Another command is changing the saved logins.",
                    )
                    .with_remedy("Retry when it has ended."));
                }
                Err(error) => return Err(failed(error)),
            }
        }
    }
}
