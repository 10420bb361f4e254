//! Passphrases of actions, from a prompt on the terminal. They are sent over the daemon's socket only.

use std::path::Path;

use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure};
use tabwire_daemon::{KeyPlace, Vault};
use tabwire_engine::{Passphrase, SecretText, is_sealed};

use crate::commands::Context;
use crate::output::prompt::{prompt_new_secret, prompt_secret};

/// Largest state file that is checked.
const STATE_BYTES: u64 = 64 * 1024 * 1024;

/// Prompts for the passphrase that an action needs, unless one was given.
pub(in crate::commands) fn fill_in(
    context: &Context<'_>,
    action: &str,
    params: &mut Value,
) -> Result<(), Failure> {
    if params.get("passphrase_file").is_some_and(|file| !file.is_null()) {
        return Ok(());
    }
    let typed = match action {
        "state" if params["verb"] == "save" && params["encrypt"] == true => {
            prompt_new_secret("Passphrase for the state")?
        }
        "state" if params["verb"] == "load" && loads_sealed(params) => {
            prompt_secret("Passphrase of the state")?
        }
        "login" if needs_passphrase(context)? => prompt_secret("Passphrase of the saved logins")?,
        _ => return Ok(()),
    };
    if let Some(typed) = typed {
        params["passphrase"] = json!(typed.expose());
    }
    Ok(())
}

/// Whether the state file is encrypted. The daemon reports an unreadable one.
fn loads_sealed(params: &Value) -> bool {
    let Some(path) = params["path"].as_str().map(Path::new) else { return false };
    let is_small = path.metadata().is_ok_and(|found| found.is_file() && found.len() <= STATE_BYTES);
    is_small && std::fs::read(path).is_ok_and(|content| is_sealed(&content))
}

/// The saved logins.
pub(in crate::commands) fn vault(context: &Context<'_>) -> Vault {
    let environment = context.environment;
    Vault::new(environment.paths.data.clone(), environment.path.clone())
}

fn needs_passphrase(context: &Context<'_>) -> Result<bool, Failure> {
    Ok(vault(context).key_place()? == Some(KeyPlace::Passphrase))
}

/// The passphrase of the saved logins: from a file, or from a prompt if they have one.
pub(in crate::commands) fn vault_passphrase(
    context: &Context<'_>,
    file: Option<&Path>,
) -> Result<Option<Passphrase>, Failure> {
    if let Some(file) = file {
        let text = read_secret_file(file)?;
        return Passphrase::from_file(text.expose().as_bytes()).map(Some);
    }
    if !needs_passphrase(context)? {
        return Ok(None);
    }
    let typed = prompt_secret("Passphrase of the saved logins")?;
    typed.map(|typed| Passphrase::from_file(typed.expose().as_bytes())).transpose()
}

/// The first line of a file; `-` is standard input.
pub(in crate::commands) fn read_secret_file(path: &Path) -> Result<SecretText, Failure> {
    let failed = |why: String| {
        Failure::new(ErrorCode::BadArgs, format!("The file {} cannot be read: {why}.", path.display()))
    };
    let text = if path == Path::new("-") {
        std::io::read_to_string(std::io::stdin())
    } else {
        std::fs::read_to_string(path)
    };
    // The error of invalid UTF-8 does not quote the text.
    let text = text.map_err(|error| failed(error.to_string()))?;
    let line = text.lines().next().unwrap_or_default();
    if line.is_empty() {
        return Err(failed("its first line is empty".to_owned()));
    }
    Ok(SecretText::new(line.to_owned()))
}
