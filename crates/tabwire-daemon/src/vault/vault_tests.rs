//! The vault: saved logins come back with the key, and the file reveals nothing without it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use tabwire_engine::{LoginSelectors, LoginStore as _, Passphrase, SavedLogin, SecretText};

use super::{KeyPlace, Vault};

fn login(name: &str, password: &str) -> SavedLogin {
    SavedLogin {
        name: name.to_owned(),
        url: "https://example.org/login".to_owned(),
        origin: "https://example.org".to_owned(),
        username: "anna-canary".to_owned(),
        password: SecretText::new(password.to_owned()),
        totp_secret: Some(SecretText::new("GEZDGNBVGY3TQOJQ".to_owned())),
        selectors: LoginSelectors { submit: Some("#go".to_owned()), ..LoginSelectors::default() },
    }
}

fn vault_in(home: &Path, path_env: Option<&Path>) -> Vault {
    Vault::new(home.join("data"), path_env.map(|path| path.as_os_str().to_owned()))
}

/// Everything that is written below a directory.
fn everything_in(directory: &Path) -> String {
    let mut all = String::new();
    for entry in fs::read_dir(directory).expect("a directory").flatten() {
        let path = entry.path();
        all.push_str(&path.display().to_string());
        if path.is_dir() {
            all.push_str(&everything_in(&path));
        } else {
            all.push_str(&String::from_utf8_lossy(&fs::read(&path).expect("a file")));
        }
    }
    all
}

#[test]
fn saved_logins_come_back_and_the_file_is_encrypted() {
    let home = tempfile::tempdir().expect("a home");
    let vault = vault_in(home.path(), None);
    assert_eq!(vault.key_place(), Ok(None));
    assert!(vault.list(None).expect("empty").is_empty());
    let saved = vault.save(&login("shop", "password-canary"), None).expect("saved");
    assert_eq!((saved.replaced, saved.key), (false, KeyPlace::File));
    assert!(vault.save(&login("shop", "other-canary"), None).expect("saved").replaced);
    vault.save(&login("mail", "mail-canary"), None).expect("saved");
    let names: Vec<_> = vault.list(None).expect("opened").into_iter().map(|login| login.name).collect();
    assert_eq!(names, ["mail", "shop"]);
    assert_eq!(vault.find("shop", None).expect("found"), login("shop", "other-canary"));
    assert!(!format!("{:?}", vault.find("shop", None)).contains("other-canary"));
    let written = everything_in(&home.path().join("data"));
    for word in ["canary", "anna", "example.org", "shop", "GEZDG"] {
        assert!(!written.contains(word), "{word} is written in plain");
    }
    for file in ["vault.json", "vault.key"] {
        let mode = fs::metadata(home.path().join("data").join(file)).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    assert!(vault.find("missing", None).expect_err("none").message.contains("`missing`"));
    vault.delete("mail", None).expect("deleted");
    assert!(vault.delete("mail", None).is_err());
    vault.delete("shop", None).expect("deleted");
    assert_eq!(vault.key_place(), Ok(None));
    assert!(!home.path().join("data/vault.key").exists(), "the key goes with the last login");
}

#[test]
fn a_vault_with_a_passphrase_needs_it() {
    let home = tempfile::tempdir().expect("a home");
    let vault = vault_in(home.path(), None);
    let passphrase = |text: &str| Passphrase::from_file(text.as_bytes()).expect("a passphrase");
    let right = passphrase("right-canary");
    let saved = vault.save(&login("shop", "password-canary"), Some(&right)).expect("saved");
    assert_eq!(saved.key, KeyPlace::Passphrase);
    assert!(!home.path().join("data/vault.key").exists());
    assert!(vault.find("shop", Some(&right)).is_ok());
    assert!(vault.find("shop", None).expect_err("sealed").hint().contains("passphrase"));
    assert!(vault.find("shop", Some(&passphrase("wrong"))).is_err());
    assert!(vault.save(&login("mail", "x"), Some(&passphrase("wrong"))).is_err());
    assert_eq!(vault.list(Some(&right)).expect("opened").len(), 1, "a wrong passphrase changes nothing");
    assert!(!everything_in(&home.path().join("data")).contains("canary"));
}

#[test]
fn a_damaged_vault_fails_and_is_not_overwritten() {
    let home = tempfile::tempdir().expect("a home");
    let vault = vault_in(home.path(), None);
    vault.save(&login("shop", "x"), None).expect("saved");
    let (file, key) = (home.path().join("data/vault.json"), home.path().join("data/vault.key"));
    let whole = fs::read(&file).expect("a file");
    fs::write(&file, &whole[..whole.len() / 2]).expect("written");
    assert!(vault.list(None).is_err() && vault.save(&login("mail", "y"), None).is_err());
    assert_eq!(fs::read(&file).expect("a file"), &whole[..whole.len() / 2]);
    fs::write(&file, &whole).expect("written");
    let kept = fs::read(&key).expect("a key");
    fs::remove_file(&key).expect("removed");
    assert!(vault.list(None).expect_err("no key").message.contains("is gone"));
    assert!(vault.save(&login("mail", "y"), None).is_err(), "a new key would lose the old logins");
    fs::write(&key, kept).expect("written");
    assert_eq!(vault.list(None).expect("whole again").len(), 1);
}

/// A keyring program that keeps what it is given in a file, and notes its arguments.
fn fake_keyring(directory: &Path, verdict: &str) {
    let program = directory.join("secret-tool");
    let script = format!(
        "#!/bin/sh\nhere=$(dirname \"$0\")\necho \"$@\" >> \"$here/arguments\"\n{verdict}\ncase $1 in\n\
         store) cat > \"$here/kept\" ;;\nlookup) cat \"$here/kept\" ;;\nclear) rm \"$here/kept\" ;;\nesac\n"
    );
    fs::write(&program, script).expect("written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).expect("executable");
}

#[cfg(not(target_os = "macos"))]
#[test]
fn a_keyring_gets_the_key_on_stdin_only() {
    let home = tempfile::tempdir().expect("a home");
    let programs = tempfile::tempdir().expect("a directory");
    let search_path =
        std::env::join_paths([programs.path(), Path::new("/usr/bin"), Path::new("/bin")]).expect("a path");
    fake_keyring(programs.path(), "");
    let vault = vault_in(home.path(), Some(Path::new(&search_path)));
    let saved = vault.save(&login("shop", "password-canary"), None).expect("saved");
    assert_eq!(saved.key, KeyPlace::Keyring);
    assert!(!home.path().join("data/vault.key").exists());
    let key = fs::read_to_string(programs.path().join("kept")).expect("the key is there");
    let arguments = fs::read_to_string(programs.path().join("arguments")).expect("it was called");
    assert!(!arguments.contains(&key) && arguments.contains("store"), "{arguments}");
    assert_eq!(vault.find("shop", None).expect("found").password.expose(), "password-canary");
    vault.delete("shop", None).expect("deleted");
    assert!(!programs.path().join("kept").exists(), "the key goes with the last login");

    fake_keyring(programs.path(), "exit 1");
    assert_eq!(
        vault.save(&login("shop", "x"), None).expect("saved").key,
        KeyPlace::File,
        "a keyring that fails is none"
    );
}
