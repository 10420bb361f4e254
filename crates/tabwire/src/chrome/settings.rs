//! What the environment says about standing in for Chrome. Knows nothing of a launcher's command line.

use std::path::PathBuf;

use tabwire_wire::{ErrorCode, Failure};

use super::windows::Wsl;
use crate::config::Key;
use crate::environment::Environment;

/// Variables of the launcher's that its browser is started with.
const PASSED_ON: &[&str] = &[
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "DBUS_SESSION_BUS_ADDRESS",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "TZ",
];

/// What holds for every launcher.
#[derive(Clone, Debug, Default)]
pub(super) struct ChromeSettings {
    /// The browser's program or name.
    pub(super) browser: Option<String>,
    /// A profile directory that counts more than the launcher's.
    pub(super) profile: Option<PathBuf>,
    /// A debugging port that counts more than the launcher's.
    pub(super) port: Option<u16>,
    /// Whether flags that weaken the browser are passed on.
    pub(super) allow_dangerous: bool,
    /// A file to log to.
    pub(super) log: Option<PathBuf>,
    /// How much is logged there.
    pub(super) log_level: LogLevel,
    /// A directory that all frames are written to.
    pub(super) frames: Option<PathBuf>,
    /// Variables for the browser.
    pub(super) variables: Vec<(String, String)>,
    /// Which system's browser is meant.
    pub(super) host: HostChoice,
    /// The program of PowerShell.
    pub(super) powershell: Option<PathBuf>,
    /// The port that a browser of Windows gets there.
    pub(super) windows_port: Option<u16>,
    /// What WSL needs to start a program of Windows.
    pub(super) interop: Option<String>,
    /// The Windows around this system.
    pub(super) wsl: Wsl,
}

/// Which system's browser the user means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum HostChoice {
    /// Nothing was said: it depends on the names that are used.
    #[default]
    Unsaid,
    /// This system's.
    Local,
    /// That of the Windows around it.
    Windows,
}

/// How much is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LogLevel {
    /// What becomes of the browser.
    #[default]
    Important,
    /// Also who connects, what is asked and what becomes of it, though not with which parameters.
    All,
}

impl ChromeSettings {
    /// Reads the environment; an empty variable counts as not set.
    ///
    /// # Errors
    /// When a variable says what cannot be meant.
    pub(super) fn read(environment: &Environment) -> Result<Self, Failure> {
        let of_browser = environment.settings.iter().find(|(key, _)| *key == Key::Browser);
        let host = match text("TABWIRE_CHROME_HOST").as_deref() {
            None => HostChoice::Unsaid,
            Some("local") => HostChoice::Local,
            Some("windows") => HostChoice::Windows,
            Some(other) => return Err(bad_host(other)),
        };
        let log_level = match text("TABWIRE_CHROME_LOG_LEVEL").as_deref() {
            None | Some("important") => LogLevel::Important,
            Some("all") => LogLevel::All,
            Some(other) => return Err(bad_level(other)),
        };
        Ok(Self {
            browser: text("TABWIRE_CHROME_EXECUTABLE").or_else(|| of_browser.map(|(_, value)| value.clone())),
            profile: text("TABWIRE_CHROME_PROFILE").map(PathBuf::from),
            port: port("TABWIRE_CHROME_PORT")?,
            allow_dangerous: text("TABWIRE_CHROME_DANGEROUS").is_some_and(|value| value == "1"),
            log: text("TABWIRE_CHROME_LOG").map(PathBuf::from),
            log_level,
            frames: text("TABWIRE_CHROME_FRAMES").map(PathBuf::from),
            variables: PASSED_ON.iter().filter_map(|name| Some(((*name).to_owned(), text(name)?))).collect(),
            host,
            powershell: text("TABWIRE_CHROME_POWERSHELL").map(PathBuf::from),
            windows_port: port("TABWIRE_CHROME_WINDOWS_PORT")?,
            interop: text("WSL_INTEROP"),
            wsl: Wsl { distribution: text("WSL_DISTRO_NAME"), search_path: environment.path.clone() },
        })
    }
}

fn text(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn port(name: &str) -> Result<Option<u16>, Failure> {
    let parsed = text(name).map(|port| port.parse().map_err(|_| bad_port(name, &port)));
    parsed.transpose()
}

fn bad_port(name: &str, port: &str) -> Failure {
    Failure::new(ErrorCode::BadArgs, format!("{name} is `{port}`, which is no port."))
        .with_hint("Set it to a number from 0 to 65535, or not at all.")
}

fn bad_level(level: &str) -> Failure {
    Failure::new(ErrorCode::BadArgs, format!("TABWIRE_CHROME_LOG_LEVEL is `{level}`, which is no level."))
        .with_hint("Set it to `important` or `all`, or not at all.")
}

fn bad_host(host: &str) -> Failure {
    Failure::new(ErrorCode::BadArgs, format!("TABWIRE_CHROME_HOST is `{host}`, which is no system."))
        .with_hint("Set it to `windows` or `local`, or not at all.")
}
