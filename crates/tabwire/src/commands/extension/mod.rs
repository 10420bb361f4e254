//! `extension install|status|uninstall|path|rotate`: the extension in the user's own browsers. Changes only
//! files that it wrote.

pub(super) mod native_host;
mod native_host_dirs;

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, count};
use tabwire_browser::{PrivateDir, atomic_file};
use tabwire_daemon::{Handshake, Paths, find_extension_key};
use tabwire_extension::package::{FILES, NATIVE_HOST, extension_origin};

use self::native_host_dirs::{data_folders, host_file};
use crate::cli::extension_command::ExtensionCommand;
use crate::commands::Context;
use crate::commands::mcp::clients::install::find_program;
use crate::output::spinner::spin;
use tabwire_client::request;
use tabwire_client::request_daemon;

/// Interval at which connections are polled.
const POLL: Duration = Duration::from_millis(300);

/// Timeout of requests to the daemon.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Largest list of registered hosts.
const LIST_BYTES: usize = 64 * 1024;

pub(super) fn run(context: &Context<'_>, command: &ExtensionCommand) -> Result<(), Failure> {
    match command {
        ExtensionCommand::Install { browsers, wait } => install(context, browsers, *wait),
        ExtensionCommand::Status { key } => status(context, *key),
        ExtensionCommand::Uninstall => uninstall(context),
        ExtensionCommand::Path => path(context),
        ExtensionCommand::Rotate => rotate(context),
    }
}

fn unpacked(paths: &Paths) -> PathBuf {
    paths.extension().join("unpacked")
}

/// The program that browsers start. Browsers pass their own arguments only, so it is a script that adds ours.
fn host_program(paths: &Paths) -> PathBuf {
    paths.extension().join("native-host")
}

/// The list of written registrations, for `uninstall`.
fn host_list(paths: &Paths) -> PathBuf {
    paths.extension().join("hosts.json")
}

fn install(context: &Context<'_>, browsers: &[String], wait: Duration) -> Result<(), Failure> {
    let environment = context.environment;
    let folders = data_folders(browsers, environment.home.as_deref(), environment.config_home.as_deref())?;
    let paths = &environment.paths;
    unpack(paths)?;
    write_program(paths, environment.path.as_deref())?;
    let mut hosts = registered(paths);
    for folder in &folders {
        let file = host_file(folder);
        write_file(&file, registration(paths).to_string().as_bytes(), 0o600)?;
        if !hosts.contains(&file) {
            hosts.push(file);
        }
    }
    write_file(&host_list(paths), json!(hosts).to_string().as_bytes(), 0o600)?;
    // Creates the key, and starts the daemon that the extension connects to.
    let before = connected(&request_status(context)?);
    let folder = unpacked(paths);
    context.printer.notice(&format!(
        "Three clicks remain:\n  1. Open chrome://extensions in the browser.\n  2. Switch on Developer mode, at the top right.\n  3. Press Load unpacked and choose {}",
        folder.display()
    ));
    let connected_browsers = if before.is_empty() { wait_for_one(context, wait)? } else { before };
    let report = json!({"path": folder, "hosts": hosts, "connected": connected_browsers});
    context.printer.result(&report, || match connected_browsers.first() {
        Some(browser) => format!("Connected: {}.", describe(browser)),
        None => "Not connected yet; run `tabwire extension status` to check.".to_owned(),
    });
    Ok(())
}

fn wait_for_one(context: &Context<'_>, wait: Duration) -> Result<Vec<Value>, Failure> {
    let until = Instant::now() + wait;
    spin("waiting for the browser to connect", context.printer.shows_progress(), || {
        loop {
            let connected_browsers = connected(&request_status(context)?);
            if !connected_browsers.is_empty() || Instant::now() >= until {
                return Ok(connected_browsers);
            }
            std::thread::sleep(POLL);
        }
    })
}

fn unpack(paths: &Paths) -> Result<(), Failure> {
    PrivateDir::create(&paths.data)?;
    // `doctor` warns of a directory that other users can read.
    PrivateDir::create(&paths.extension())?;
    let folder = unpacked(paths);
    for (path, content) in FILES {
        write_file(&folder.join(path), content, 0o600)?;
    }
    Ok(())
}

fn write_program(paths: &Paths, path: Option<&OsStr>) -> Result<(), Failure> {
    let own = std::env::current_exe().map_err(|error| {
        Failure::new(ErrorCode::Internal, format!("Cannot find the path of this program: {error}."))
    })?;
    let program = stable_path(&own, path);
    let home = paths.home().map(|home| format!("TABWIRE_HOME={} ", quoted(home))).unwrap_or_default();
    let script = format!("#!/bin/sh\n{home}exec {} native-host \"$@\"\n", quoted(&program));
    write_file(&host_program(paths), script.as_bytes(), 0o700)
}

/// The path under which PATH finds this program, else its own path. An upgrade may install the program in another
/// directory and replace a link in a directory of PATH, so the link is not resolved.
fn stable_path(own: &Path, path: Option<&OsStr>) -> PathBuf {
    let found = find_program(env!("CARGO_PKG_NAME"), path).filter(|found| found.is_absolute());
    let is_own = |found: &PathBuf| found.canonicalize().ok() == own.canonicalize().ok();
    found.filter(is_own).unwrap_or_else(|| own.to_owned())
}

/// A path quoted for a shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', "'\\''"))
}

fn registration(paths: &Paths) -> Value {
    json!({
        "name": NATIVE_HOST,
        "description": "Gives the Tabwire extension the port and key of the Tabwire daemon.",
        "path": host_program(paths),
        "type": "stdio",
        "allowed_origins": [format!("{}/", extension_origin())],
    })
}

fn write_file(path: &Path, content: &[u8], mode: u32) -> Result<(), Failure> {
    let failed = |error: &std::io::Error| {
        Failure::new(ErrorCode::Internal, format!("{} cannot be written: {error}.", path.display()))
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| failed(&error))?;
    }
    // A new file, renamed into place: a link at that path is not followed, and the mode is ours.
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(&error)),
        _ => {}
    }
    let mut options = std::fs::OpenOptions::new();
    let mut file =
        options.write(true).create_new(true).mode(mode).open(path).map_err(|error| failed(&error))?;
    file.write_all(content).map_err(|error| failed(&error))
}

fn registered(paths: &Paths) -> Vec<PathBuf> {
    let list = atomic_file::read(&host_list(paths), LIST_BYTES).unwrap_or_default();
    serde_json::from_slice(&list).unwrap_or_default()
}

fn request_status(context: &Context<'_>) -> Result<Value, Failure> {
    request_daemon(&context.socket(), "POST", "/v1/extension/status", Some(&json!({})), TIMEOUT)
}

fn connected(status: &Value) -> Vec<Value> {
    status["connected"].as_array().cloned().unwrap_or_default()
}

fn describe(browser: &Value) -> String {
    let text = |name: &str| browser[name].as_str().unwrap_or("?").to_owned();
    let install = text("install");
    let named =
        format!("{} {}, install {}", text("browser"), text("product"), install.get(..8).unwrap_or(&install));
    let version = text("version");
    let named = match version == tabwire_api::VERSION {
        true => named,
        false => format!(
            "{named} (version {version}: run `tabwire extension install`, then reload it at chrome://extensions)"
        ),
    };
    let standing = &browser["standing"];
    if standing.is_null() {
        return named;
    }
    let state = match (standing["awake"] == true, standing["paused"] == true) {
        (false, _) => "asleep, ",
        (true, true) => "paused, ",
        (true, false) => "",
    };
    let off_limits = match standing["off_limits"].as_u64() {
        Some(count) if count > 0 => format!(", {count} off limits"),
        _ => String::new(),
    };
    format!(
        "{named}: {state}{}, {} driven{off_limits}, mode {}",
        count(standing["tabs"].as_u64().unwrap_or_default(), "tab"),
        standing["driven"],
        standing["mode"].as_str().unwrap_or("?")
    )
}

fn status(context: &Context<'_>, with_key: bool) -> Result<(), Failure> {
    let paths = &context.environment.paths;
    let socket = paths.socket();
    let response = request(&socket, "POST", "/v1/extension/status", Some(&json!({})), TIMEOUT);
    let running = response.is_ok();
    let connected_browsers = response.map(|status| connected(&status)).unwrap_or_default();
    let hosts: Vec<PathBuf> = registered(paths).into_iter().filter(|file| file.is_file()).collect();
    let folder = Some(unpacked(paths)).filter(|folder| folder.join("manifest.json").is_file());
    let mut report =
        json!({"path": folder, "hosts": hosts, "daemon": running, "connected": connected_browsers});
    if with_key {
        let key = find_extension_key(&paths.extension_key());
        report["port"] = json!(Handshake::find(&paths.handshake()).map(|daemon| daemon.port));
        report["key"] = json!(key.map(|key| key.expose().to_owned()));
    }
    context.printer.result(&report, || {
        let mut lines = vec![match &folder {
            Some(folder) => format!("The extension is at {}.", folder.display()),
            None => "The extension is not installed; `tabwire extension install` does it.".to_owned(),
        }];
        lines.extend(hosts.iter().map(|host| format!("Registered: {}", host.display())));
        lines.push(match (running, connected_browsers.is_empty()) {
            (false, _) => "The daemon is not running.".to_owned(),
            (true, true) => "No browser is connected.".to_owned(),
            (true, false) => connected_browsers
                .iter()
                .map(|one| format!("Connected: {}", describe(one)))
                .collect::<Vec<_>>()
                .join("\n"),
        });
        if with_key {
            lines.push(format!(
                "Port {}, key {}",
                report["port"],
                report["key"].as_str().unwrap_or("none yet")
            ));
        }
        lines.join("\n")
    });
    Ok(())
}

fn uninstall(context: &Context<'_>) -> Result<(), Failure> {
    let paths = &context.environment.paths;
    let mut removed: Vec<PathBuf> = Vec::new();
    for host in registered(paths) {
        if std::fs::remove_file(&host).is_ok() {
            removed.push(host);
        }
    }
    let folder = paths.extension();
    if std::fs::remove_dir_all(&folder).is_ok() {
        removed.push(folder);
    }
    context.printer.result(&json!({"removed": removed}), || match removed.is_empty() {
        true => "Nothing was installed.".to_owned(),
        false => {
            let lines: Vec<String> =
                removed.iter().map(|path| format!("Removed {}", path.display())).collect();
            format!(
                "{}\nRemove the extension itself in the browser, at chrome://extensions.",
                lines.join("\n")
            )
        }
    });
    Ok(())
}

fn path(context: &Context<'_>) -> Result<(), Failure> {
    let folder = unpacked(&context.environment.paths);
    if !folder.join("manifest.json").is_file() {
        return Err(Failure::new(ErrorCode::NoBackend, "The extension is not installed.")
            .with_remedy("`tabwire extension install` puts it there."));
    }
    context.printer.result(&json!({"path": folder}), || folder.display().to_string());
    Ok(())
}

fn rotate(context: &Context<'_>) -> Result<(), Failure> {
    let response =
        request_daemon(&context.socket(), "POST", "/v1/extension/rotate", Some(&json!({})), TIMEOUT)?;
    context
        .printer
        .result(&response, || describe_rotation(response["dismissed"].as_u64().unwrap_or_default()));
    Ok(())
}

fn describe_rotation(dismissed: u64) -> String {
    let verb = if dismissed == 1 { "has" } else { "have" };
    format!("The key was replaced; {} {verb} to pair again.", count(dismissed, "connected browser"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_singular_and_plural() {
        let browser =
            |tabs: u64| json!({"standing": {"awake": true, "tabs": tabs, "driven": 1, "mode": "ask"}});
        assert!(describe(&browser(1)).contains("1 tab,"), "{}", describe(&browser(1)));
        assert!(describe(&browser(2)).contains("2 tabs,"), "{}", describe(&browser(2)));
        assert!(describe_rotation(1).contains("1 connected browser has"));
        assert!(describe_rotation(0).contains("0 connected browsers have"));
    }

    #[test]
    fn the_native_host_has_the_path_that_an_upgrade_keeps() {
        let home = tempfile::tempdir().expect("a directory");
        let (versioned, bin) = (home.path().join("tabwire-0.1/tabwire"), home.path().join("bin"));
        std::fs::create_dir_all(versioned.parent().expect("a parent")).expect("created");
        std::fs::create_dir(&bin).expect("created");
        std::fs::write(&versioned, "").expect("written");
        assert_eq!(stable_path(&versioned, Some(bin.as_os_str())), versioned, "PATH has no program");
        std::os::unix::fs::symlink(&versioned, bin.join("tabwire")).expect("linked");
        assert_eq!(stable_path(&versioned, Some(bin.as_os_str())), bin.join("tabwire"));
        let other = home.path().join("other");
        std::fs::write(&other, "").expect("written");
        assert_eq!(stable_path(&other, Some(bin.as_os_str())), other, "PATH finds another program");
    }
}
