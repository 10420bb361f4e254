//! Saved logins in one encrypted file. Without the key the file reveals nothing, not even names.
//!
//! The CLI saves and lists logins, and the daemon fills them in.

mod keyring;
mod vault_file;
mod vault_key;

use std::ffi::OsString;
use std::path::PathBuf;

use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_browser::PrivateDir;
use tabwire_engine::{LoginStore, Passphrase, SavedLogin};

use self::keyring::Keyring;
use self::vault_file::{Content, StoredLogin, VaultFile, VaultLock};
pub use self::vault_key::KeyPlace;

/// The saved logins of a user.
#[derive(Clone, Debug)]
pub struct Vault {
    directory: PathBuf,
    path_env: Option<OsString>,
}

/// The result of saving a login.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SaveResult {
    /// Whether it replaced one of the same name.
    pub replaced: bool,
    /// Where the key of the vault is.
    pub key: KeyPlace,
}

impl Vault {
    /// The vault in a directory. The keyring's program is searched on `path_env`.
    #[must_use]
    pub fn new(directory: PathBuf, path_env: Option<OsString>) -> Self {
        Self { directory, path_env }
    }

    fn file(&self) -> PathBuf {
        self.directory.join("vault.json")
    }

    fn keyring(&self) -> Keyring<'_> {
        Keyring::new(self.path_env.as_deref(), &self.directory)
    }

    /// Where the vault's key is; `None` when there is no vault.
    ///
    /// # Errors
    /// When the file is damaged.
    pub fn key_place(&self) -> Result<Option<KeyPlace>, Failure> {
        Ok(VaultFile::read(&self.file())?.map(|file| file.key))
    }

    /// Opens the vault. A missing one is empty.
    fn open(&self, passphrase: Option<&Passphrase>) -> Result<Content, Failure> {
        let Some(file) = VaultFile::read(&self.file())? else { return Ok(Content::default()) };
        let key = file.key.obtain(&self.directory, &self.keyring(), passphrase)?;
        file.open(&key)
    }

    /// Every login, by name.
    ///
    /// # Errors
    /// When the vault cannot be opened.
    pub fn list(&self, passphrase: Option<&Passphrase>) -> Result<Vec<SavedLogin>, Failure> {
        Ok(self.open(passphrase)?.logins.into_iter().map(StoredLogin::into_login).collect())
    }

    /// Saves a login, and replaces one of the same name. A new vault gets its key now: the passphrase if there is one, else a
    /// random key in the system's keyring, else one in a file.
    ///
    /// # Errors
    /// When the vault cannot be opened or written.
    pub fn save(&self, login: &SavedLogin, passphrase: Option<&Passphrase>) -> Result<SaveResult, Failure> {
        PrivateDir::create(&self.directory)?;
        let _lock = VaultLock::take(&self.directory)?;
        let (key_place, key, mut content) = match VaultFile::read(&self.file())? {
            Some(file) => {
                if passphrase.is_some() && file.key != KeyPlace::Passphrase {
                    return Err(Failure::new(ErrorCode::BadArgs, "The saved logins have no passphrase.")
                        .with_remedy("Omit the passphrase, or delete all logins first."));
                }
                let key = file.key.obtain(&self.directory, &self.keyring(), passphrase)?;
                let content = file.open(&key)?;
                (file.key, key, content)
            }
            None => {
                let (place, key) = KeyPlace::choose(&self.directory, &self.keyring(), passphrase)?;
                (place, key, Content::default())
            }
        };
        let before = content.logins.len();
        content.logins.retain(|one| one.name != login.name);
        let replaced = content.logins.len() < before;
        content.logins.push(StoredLogin::from_login(login));
        content.logins.sort_by(|left, right| left.name.cmp(&right.name));
        VaultFile::seal(key_place, &content, &key)?.write(&self.file())?;
        Ok(SaveResult { replaced, key: key_place })
    }

    /// Removes a login. With the last one, the vault and its key are removed.
    ///
    /// # Errors
    /// When there is none of that name, or the vault cannot be opened or written.
    pub fn delete(&self, name: &str, passphrase: Option<&Passphrase>) -> Result<(), Failure> {
        let Some(_) = VaultFile::read(&self.file())? else { return Err(missing(name)) };
        let _lock = VaultLock::take(&self.directory)?;
        let Some(file) = VaultFile::read(&self.file())? else { return Err(missing(name)) };
        let key = file.key.obtain(&self.directory, &self.keyring(), passphrase)?;
        let mut content = file.open(&key)?;
        let before = content.logins.len();
        content.logins.retain(|one| one.name != name);
        if content.logins.len() == before {
            return Err(missing(name));
        }
        if content.logins.is_empty() {
            std::fs::remove_file(self.file()).map_err(|error| {
                Failure::new(ErrorCode::Internal, format!("The saved logins cannot be removed: {error}."))
            })?;
            file.key.forget(&self.directory, &self.keyring());
            return Ok(());
        }
        VaultFile::seal(file.key, &content, &key)?.write(&self.file())
    }
}

impl LoginStore for Vault {
    fn find(&self, name: &str, passphrase: Option<&Passphrase>) -> Result<SavedLogin, Failure> {
        let content = self.open(passphrase)?;
        let found = content.logins.into_iter().find(|login| login.name == name);
        found.map(StoredLogin::into_login).ok_or_else(|| missing(name))
    }
}

fn missing(name: &str) -> Failure {
    let name: String = name.chars().take(80).collect();
    Failure::new(ErrorCode::BadArgs, format!("There is no saved login `{name}`.")).with_remedy(Remedy::new(
        "Run {} to list them, or {} to save one.",
        [Step::command("tabwire auth list"), Step::command("tabwire auth save")],
    ))
}

#[cfg(test)]
#[path = "vault_tests.rs"]
mod tests;
