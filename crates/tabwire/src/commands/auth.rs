//! `auth save|login|list|delete`: encrypted logins that the daemon fills in. Never prints a secret.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use tabwire_api::{ErrorCode, Failure, SessionName};
use tabwire_daemon::{KeyPlace, SaveResult};
use tabwire_engine::{LoginSelectors, SavedLogin, SecretText, find_action, origin_of, totp_code};
use url::Url;

use super::{Context, action};
use crate::cli::AuthCommand;
use crate::cli::invocation::ActionFlags;
use crate::commands::action::passphrase::{read_secret_file, vault, vault_passphrase};
use crate::output::printer::table;
use crate::output::prompt::prompt_secret;

pub(super) fn run(context: &Context<'_>, command: AuthCommand) -> Result<(), Failure> {
    match command {
        AuthCommand::Save(options) => save(context, options),
        AuthCommand::Login { name, passphrase_file, tab, options } => {
            let missing = || Failure::new(ErrorCode::Internal, "There is no action `login`.");
            let definition = find_action("login").ok_or_else(missing)?;
            let passphrase_file = passphrase_file.map(absolute);
            let params = json!({"name": name, "passphrase_file": passphrase_file});
            let flags = ActionFlags { tab: tab.map(|tab| tab.to_string()), ..ActionFlags::default() };
            action::run(context, definition, params, &flags, false, options)
        }
        AuthCommand::List { passphrase_file } => list(context, passphrase_file.as_deref()),
        AuthCommand::Delete { name, passphrase_file } => delete(context, &name, passphrase_file.as_deref()),
    }
}

fn absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}

/// Options of `auth save`.
#[derive(Debug, clap::Args)]
pub(crate) struct SaveOptions {
    /// The login's name.
    name: String,
    /// The page with the form. Only its origin gets the password.
    #[arg(long, value_name = "URL")]
    url: String,
    /// The user name; omit it for a password without one.
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    username: String,
    /// Read the password from the first line of FILE; `-` is standard input (default: prompt on the terminal).
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// Selector of the user name field (default: detect).
    #[arg(long, value_name = "CSS")]
    username_selector: Option<String>,
    /// Selector of the password field (default: detect).
    #[arg(long, value_name = "CSS")]
    password_selector: Option<String>,
    /// Selector of the submit button (default: detect).
    #[arg(long, value_name = "CSS")]
    submit_selector: Option<String>,
    /// Read the TOTP secret (base 32) from the first line of FILE.
    #[arg(long, value_name = "FILE")]
    totp_secret_file: Option<PathBuf>,
    /// Encrypt the saved logins with the passphrase on the first line of FILE (default: a key in the keyring or a file).
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
}

impl SaveOptions {
    fn into_login(self) -> Result<SavedLogin, Failure> {
        let bad = |message: String, hint: &str| Failure::new(ErrorCode::BadArgs, message).with_remedy(hint);
        let names = "Use 1 to 64 letters, digits, `-`, `_` or `.`, not starting with `.` or `-`.";
        SessionName::new(&self.name).map_err(|_| bad("Invalid login name.".to_owned(), names))?;
        let origin = checked_origin(&self.url)?;
        let totp_secret = self.totp_secret_file.as_deref().map(read_secret_file).transpose()?;
        if let Some(secret) = &totp_secret {
            totp_code(secret.expose(), Duration::ZERO)?;
        }
        Ok(SavedLogin {
            name: self.name,
            url: self.url,
            origin,
            username: self.username,
            password: read_password(self.password_file.as_deref())?,
            totp_secret,
            selectors: LoginSelectors {
                name: self.username_selector,
                password: self.password_selector,
                submit: self.submit_selector,
            },
        })
    }
}

/// The origin of a URL that may get a password: https, or this machine.
fn checked_origin(url: &str) -> Result<String, Failure> {
    let bad = |message: &str, hint: &str| Failure::new(ErrorCode::BadArgs, message).with_remedy(hint);
    let parsed =
        Url::parse(url).ok().filter(|parsed| parsed.username().is_empty() && parsed.password().is_none());
    let (Some(parsed), Some(origin)) = (parsed, origin_of(url)) else {
        return Err(bad("The URL is not an http or https URL.", "Give it as https://example.org/login."));
    };
    let host = parsed.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    let is_loopback = host == "localhost"
        || host.ends_with(".localhost")
        || address.is_ok_and(|address| address.is_loopback());
    if parsed.scheme() == "https" || is_loopback {
        return Ok(origin);
    }
    Err(bad("The URL is not encrypted: the network could read the password.", "Use the site's https URL."))
}

fn read_password(file: Option<&Path>) -> Result<SecretText, Failure> {
    match file {
        Some(file) => read_secret_file(file),
        None if !std::io::stdin().is_terminal() => read_secret_file(Path::new("-")).map_err(|failure| {
            failure.with_remedy(
                "Give the password with --password-file FILE, on standard input, or on a terminal.",
            )
        }),
        None => prompt_secret("Password")?.ok_or_else(|| {
            Failure::new(ErrorCode::BadArgs, "No terminal to prompt for the password.")
                .with_remedy("Give it with --password-file FILE.")
        }),
    }
}

fn save(context: &Context<'_>, options: SaveOptions) -> Result<(), Failure> {
    let passphrase_file = options.passphrase_file.clone();
    let login = options.into_login()?;
    let passphrase = vault_passphrase(context, passphrase_file.as_deref())?;
    let SaveResult { replaced, key } = vault(context).save(&login, passphrase.as_ref())?;
    let response = json!({
        "name": login.name, "origin": login.origin, "username": login.username, "replaced": replaced, "key": key,
    });
    context.printer.result(&response, || {
        let did = if replaced { "Replaced" } else { "Saved" };
        let who = if login.username.is_empty() { "a secret" } else { &login.username };
        format!("{did} {}: {who} at {}. It is encrypted; the key is {key}.", login.name, login.origin)
    });
    if key == KeyPlace::File {
        context.printer.notice(
            "no keyring is available, so the key is in a file beside the logins: programs that can read your files can decrypt them. Avoid that with --passphrase-file",
        );
    }
    Ok(())
}

fn list(context: &Context<'_>, passphrase_file: Option<&Path>) -> Result<(), Failure> {
    let passphrase = vault_passphrase(context, passphrase_file)?;
    let logins = vault(context).list(passphrase.as_ref())?;
    let list: Vec<_> = logins
        .iter()
        .map(|login| {
            let has_codes = login.totp_secret.is_some();
            json!({"name": login.name, "origin": login.origin, "username": login.username, "totp": has_codes})
        })
        .collect();
    context.printer.result(&json!({"logins": list}), || {
        if logins.is_empty() {
            return "No saved logins; `tabwire auth save` saves one.".to_owned();
        }
        let mut rows = vec![["NAME", "ORIGIN", "USERNAME"].map(str::to_owned).to_vec()];
        rows.extend(
            logins.iter().map(|login| vec![login.name.clone(), login.origin.clone(), login.username.clone()]),
        );
        table(&rows)
    });
    Ok(())
}

fn delete(context: &Context<'_>, name: &str, passphrase_file: Option<&Path>) -> Result<(), Failure> {
    let passphrase = vault_passphrase(context, passphrase_file)?;
    vault(context).delete(name, passphrase.as_ref())?;
    context.printer.result(&json!({"name": name, "deleted": true}), || format!("Deleted login {name}."));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t39_a_password_goes_over_https_or_stays_on_this_machine() {
        for (url, origin) in [
            ("https://example.org/login?x=1", "https://example.org"),
            ("https://example.org:8443/", "https://example.org:8443"),
            ("http://localhost:3000/login", "http://localhost:3000"),
            ("http://127.0.0.1/", "http://127.0.0.1"),
            ("http://a.localhost:1/", "http://a.localhost:1"),
            ("http://[::1]:1/", "http://[::1]:1"),
        ] {
            assert_eq!(checked_origin(url).as_deref(), Ok(origin), "{url}");
        }
        for url in [
            "http://example.org/login",
            "http://127.0.0.1.evil.example/",
            "http://localhost.evil.example/",
            "https://user:password@example.org/",
            "file:///etc/passwd",
            "example.org",
            "",
        ] {
            assert!(checked_origin(url).is_err(), "{url}");
        }
    }
}
