//! `upgrade-check`: prints the version and how to update. Uses the network only with `--online`.

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, VERSION};

use super::Context;
use tabwire_client::{RequestError, request_within};

/// Timeout of the request to the given URL.
const ONLINE_SECONDS: u64 = 15;

/// Bytes of its response that are read.
const ONLINE_BYTES: usize = 64 * 1024;

/// Timeout of the request to our own daemon.
const DAEMON_TIMEOUT: Duration = Duration::from_secs(2);

pub(super) fn run(context: &Context<'_>, online: bool, url: Option<&str>) -> Result<(), Failure> {
    let newest = match (online, url) {
        (false, _) => None,
        (true, Some(url)) => Some(request_newest(url, context.timeout)?),
        (true, None) => {
            let message = "`--online` needs a URL: Tabwire has no update server.";
            return Err(Failure::new(ErrorCode::BadArgs, message).with_remedy(
                "Pass one with --url, or set TABWIRE_UPDATE_URL. Its response must be a version, or JSON with a `version`.",
            ));
        }
    };
    let daemon = daemon_version(context);
    let program = std::env::current_exe().map(|path| path.display().to_string()).unwrap_or_default();
    let is_newer = newest.as_deref().map(|newest| numbers(newest) > numbers(VERSION));
    let response = json!({
        "version": VERSION, "build": build(), "program": program, "daemon": daemon,
        "newest": newest, "newer": is_newer, "asked": if online { url } else { None },
    });
    context.printer.result(&response, || {
        if context.printer.is_raw() {
            return VERSION.to_owned();
        }
        describe(&program, &daemon, newest.as_deref().zip(is_newer))
    });
    Ok(())
}

fn describe(program: &str, daemon: &DaemonState, newest: Option<(&str, bool)>) -> String {
    let mut lines = vec![format!("tabwire {VERSION} ({}) in {program}", build()), daemon.sentence()];
    lines.push(match newest {
        Some((newest, true)) => format!("version {newest} is out"),
        Some((newest, false)) => format!("this is the newest version: the URL returned {newest}"),
        None => "not checked for a newer version (use --online)".to_owned(),
    });
    if newest.is_none_or(|(_, is_newer)| is_newer) {
        lines.push(
            "to update, replace this program, or run `cargo install --path crates/tabwire` in a new checkout; sessions and browsers stay"
                .to_owned(),
        );
    }
    lines.join("\n")
}

/// The platform and profile of this build.
fn build() -> String {
    let kind = if cfg!(debug_assertions) { "debug" } else { "release" };
    format!("{} {} {kind}", std::env::consts::OS, std::env::consts::ARCH)
}

/// The version of the daemon.
#[derive(Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case", tag = "state", content = "version")]
enum DaemonState {
    /// None runs.
    None,
    /// The same version.
    Same(String),
    /// An older one, which the next command replaces.
    Older,
    /// Another one, or one that does not respond.
    Other(String),
}

impl DaemonState {
    fn sentence(&self) -> String {
        match self {
            Self::None => "no daemon runs".to_owned(),
            Self::Same(version) => format!("the daemon runs {version} too"),
            Self::Older => "the daemon is older; the next command replaces it, and browsers stay".to_owned(),
            Self::Other(why) => format!("the daemon: {why}"),
        }
    }
}

fn daemon_version(context: &Context<'_>) -> DaemonState {
    let socket = context.environment.paths.socket();
    match request_within(&socket, "GET", "/v1/status", None, DAEMON_TIMEOUT) {
        Ok(status) => {
            DaemonState::Same(status.get("version").and_then(Value::as_str).unwrap_or(VERSION).to_owned())
        }
        Err(RequestError::NotRunning) => DaemonState::None,
        Err(RequestError::DaemonOlder) => DaemonState::Older,
        Err(RequestError::Failed(failure)) => DaemonState::Other(failure.message),
    }
}

/// Requests the newest version from a URL with curl, which uses the proxies and certificates of this machine.
fn request_newest(url: &str, timeout: Option<Duration>) -> Result<String, Failure> {
    let failed = |why: &str| {
        Failure::new(ErrorCode::NoBackend, format!("The request to {url} failed: {why}."))
            .with_remedy("Check the URL, or omit --online.")
    };
    if !url.starts_with("https://") && !url.starts_with("http://") {
        return Err(Failure::new(ErrorCode::BadArgs, format!("`{url}` is not an http or https URL.")));
    }
    let seconds = timeout.map_or(ONLINE_SECONDS, |timeout| timeout.as_secs().max(1)).to_string();
    let bytes = ONLINE_BYTES.to_string();
    let asked = Command::new("curl")
        .args(["--silent", "--show-error", "--fail", "--location", "--proto", "=http,https"])
        .args(["--max-time", &seconds, "--max-filesize", &bytes, "--", url])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => failed("curl is not installed"),
            _ => failed(&error.to_string()),
        })?;
    if !asked.status.success() {
        let why = String::from_utf8_lossy(&asked.stderr);
        return Err(failed(why.trim().trim_end_matches('.')));
    }
    let text = String::from_utf8_lossy(&asked.stdout);
    read_version(&text).ok_or_else(|| failed("its response is not a version"))
}

/// Reads a version: JSON with a `version` or `tag_name`, or a version on the first line.
fn read_version(text: &str) -> Option<String> {
    let json: Option<Value> = serde_json::from_str(text).ok();
    let named = json.as_ref().and_then(|json| json.get("version").or_else(|| json.get("tag_name"))?.as_str());
    let word = named.or_else(|| text.lines().next())?.trim().trim_start_matches('v');
    let is_version = word.len() <= 40
        && word.starts_with(|first: char| first.is_ascii_digit())
        && word.contains('.')
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-+".contains(&byte));
    is_version.then(|| word.to_owned())
}

fn numbers(version: &str) -> Vec<u64> {
    version.split(['.', '-', '+']).map(|part| part.parse().unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::{numbers, read_version};

    #[test]
    fn versions_are_read_from_text_and_json() {
        for text in ["1.2.3\n", "v1.2.3", "{\"version\": \"1.2.3\"}", "{\"tag_name\": \"v1.2.3\"}"] {
            assert_eq!(read_version(text).as_deref(), Some("1.2.3"), "{text}");
        }
        for text in ["", "<html>", "not found", "1", "{\"version\": 3}", "1.2.3 \u{1b}[31m"] {
            assert_eq!(read_version(text), None, "{text}");
        }
        assert!(numbers("0.10.0") > numbers("0.9.9") && numbers("1.0.0") == numbers("1.0.0"));
    }
}
