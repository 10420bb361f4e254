//! Checks that the key of the saved logins is safe. Reads neither the key nor a login.

use std::path::Path;

use tabwire_daemon::{KeyPlace, Vault};

use super::CheckInputs;
use super::directory::{close_to_others, is_open_to_others};
use super::finding::{Finding, run};
use tabwire_api::Remedy;

/// The program that accesses the system's keyring.
const KEYRING: &str = if cfg!(target_os = "macos") { "security" } else { "secret-tool" };

pub(super) fn check(inputs: &CheckInputs<'_>) -> Vec<Finding> {
    let environment = inputs.context.environment;
    let vault = Vault::new(inputs.paths().data.clone(), environment.path.clone());
    let mut findings = Vec::new();
    let place = match vault.key_place() {
        Ok(place) => place,
        Err(failure) => {
            let remedy = failure.remedy.unwrap_or_else(|| Remedy::from(String::new()));
            findings.push(Finding::wrong("vault", failure.message, remedy));
            None
        }
    };
    findings.extend(key_file(&inputs.paths().data.join("vault.key"), inputs.fix));
    findings.push(keyring(inputs, place));
    findings
}

fn key_file(path: &Path, fix: bool) -> Option<Finding> {
    let code = "vault-key";
    let shown = path.display();
    path.symlink_metadata().ok()?;
    if !is_open_to_others(path) {
        return Some(Finding::ok(code, format!("{shown} is private.")));
    }
    let sentence = format!("Other users can access the key of the saved logins, {shown}.");
    let remedy = run(
        "Run {}, and change the passwords: other users may have read the key.",
        &format!("chmod 600 {shown}"),
    );
    let finding = Finding::wrong(code, sentence, remedy);
    if !fix {
        return Some(finding);
    }
    let done = "the mode is 600 now; change the passwords, since other users may have read the key";
    Some(finding.after(close_to_others(path, 0o600, false), done))
}

fn keyring(inputs: &CheckInputs<'_>, place: Option<KeyPlace>) -> Finding {
    let code = "keyring";
    let path = inputs.context.environment.path.as_deref();
    let exists =
        path.is_some_and(|path| std::env::split_paths(path).any(|folder| folder.join(KEYRING).is_file()));
    let remedy = format!(
        "Install `{KEYRING}` (Debian: `apt-get install libsecret-tools`) to use the system's keyring."
    );
    match (exists, place) {
        (true, _) => Finding::ok(code, format!("`{KEYRING}` accesses the system's keyring.")),
        (false, Some(KeyPlace::Keyring)) => {
            let sentence =
                format!("The key of the saved logins is in the keyring, but `{KEYRING}` is missing.");
            Finding::wrong(code, sentence, remedy)
        }
        (false, _) => {
            let sentence = "No keyring: the key of saved logins is in a file that only you can read.";
            Finding::ok(code, sentence).with_remedy(remedy)
        }
    }
}
