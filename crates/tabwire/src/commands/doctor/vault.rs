//! Whether the key of the saved logins is kept well. Reads neither the key nor a login.

use std::path::Path;

use tabwire_daemon::{KeyPlace, Vault};

use super::Visit;
use super::directory::{close_to_others, is_open_to_others};
use super::finding::Finding;

/// The program that speaks to the system's keyring.
const KEYRING: &str = if cfg!(target_os = "macos") { "security" } else { "secret-tool" };

pub(super) fn check(visit: &Visit<'_>) -> Vec<Finding> {
    let environment = visit.context.environment;
    let vault = Vault::new(visit.paths().data.clone(), environment.path.clone());
    let mut findings = Vec::new();
    let place = match vault.key_place() {
        Ok(place) => place,
        Err(failure) => {
            let remedy = failure.hint.unwrap_or_default();
            findings.push(Finding::wrong("vault", failure.message, remedy));
            None
        }
    };
    findings.extend(key_file(&visit.paths().data.join("vault.key"), visit.fix));
    findings.push(keyring(visit, place));
    findings
}

fn key_file(path: &Path, fix: bool) -> Option<Finding> {
    let code = "vault-key";
    let shown = path.display();
    path.symlink_metadata().ok()?;
    if !is_open_to_others(path) {
        return Some(Finding::ok(code, format!("{shown} is private.")));
    }
    let sentence = format!("The key of the saved logins, {shown}, is not yours alone.");
    let remedy = format!("Run `chmod 600 {shown}`, and change the passwords if somebody may have read it.");
    let finding = Finding::wrong(code, sentence, remedy);
    if !fix {
        return Some(finding);
    }
    let done = "it was closed to others; change the passwords if somebody may have read it";
    Some(finding.after(close_to_others(path, 0o600, false), done))
}

fn keyring(visit: &Visit<'_>, place: Option<KeyPlace>) -> Finding {
    let code = "keyring";
    let path = visit.context.environment.path.as_deref();
    let is_there =
        path.is_some_and(|path| std::env::split_paths(path).any(|folder| folder.join(KEYRING).is_file()));
    let remedy = format!(
        "Install `{KEYRING}` (Debian: `apt-get install libsecret-tools`) to use the system's keyring."
    );
    match (is_there, place) {
        (true, _) => Finding::ok(code, format!("`{KEYRING}` speaks to the system's keyring.")),
        (false, Some(KeyPlace::Keyring)) => {
            let sentence =
                format!("The key of the saved logins is in the keyring, and `{KEYRING}` is missing.");
            Finding::wrong(code, sentence, remedy)
        }
        (false, _) => {
            let sentence = "There is none; the key of saved logins is kept in a file that only you can read.";
            Finding::ok(code, sentence).with_hint(remedy)
        }
    }
}
