//! The shim's settings, from `TABWIRE_CHROME_*` variables.

use std::path::PathBuf;

use tabwire_api::{ErrorCode, Failure};

use super::windows::Wsl;
use crate::ShimEnvironment;

/// Variables of the launcher that the browser gets.
const FORWARDED_VARIABLES: &[&str] = &[
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "DBUS_SESSION_BUS_ADDRESS",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "TZ",
];

/// Settings that apply to every launcher.
#[derive(Clone, Debug, Default)]
pub(super) struct ChromeSettings {
    /// The browser's program or name.
    pub(super) browser: Option<String>,
    /// Overrides the launcher's profile directory.
    pub(super) profile: Option<PathBuf>,
    /// Overrides the launcher's debugging port.
    pub(super) port: Option<u16>,
    /// Whether flags that weaken the browser are forwarded.
    pub(super) allow_dangerous: bool,
    /// Whether a browser without a window keeps running after its last client.
    pub(super) keep: bool,
    /// The log file.
    pub(super) log: Option<PathBuf>,
    pub(super) log_level: LogLevel,
    /// The directory for logged frames.
    pub(super) frames: Option<PathBuf>,
    /// Variables that the browser gets.
    pub(super) variables: Vec<(String, String)>,
    /// Whether the browser runs on Windows.
    pub(super) host: HostChoice,
    /// The PowerShell program.
    pub(super) powershell: Option<PathBuf>,
    /// The debugging port of a browser on Windows.
    pub(super) windows_port: Option<u16>,
    /// `WSL_INTEROP`: WSL needs it to start a Windows program.
    pub(super) interop: Option<String>,
    /// The Windows system that hosts WSL.
    pub(super) wsl: Wsl,
}

/// Whether the browser runs on Windows or on this system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum HostChoice {
    /// On Windows if the profile or the program has a Windows path.
    #[default]
    Auto,
    /// On this system.
    Local,
    /// On the Windows system that hosts WSL.
    Windows,
}

/// How much is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LogLevel {
    /// Start, loss, recovery and end of the browser.
    #[default]
    Important,
    /// Also every connection and request, without parameters.
    All,
}

impl ChromeSettings {
    /// Reads the variables. An empty one counts as unset.
    ///
    /// # Errors
    /// When a variable has an invalid value.
    pub(super) fn read(environment: &ShimEnvironment) -> Result<Self, Failure> {
        let host = match text("TABWIRE_CHROME_HOST").as_deref() {
            None => HostChoice::Auto,
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
            browser: text("TABWIRE_CHROME_EXECUTABLE").or_else(|| environment.browser.clone()),
            profile: text("TABWIRE_CHROME_PROFILE").map(PathBuf::from),
            port: port("TABWIRE_CHROME_PORT")?,
            allow_dangerous: text("TABWIRE_CHROME_DANGEROUS").is_some_and(|value| value == "1"),
            keep: text("TABWIRE_CHROME_KEEP").is_some_and(|value| value == "1"),
            log: text("TABWIRE_CHROME_LOG").map(PathBuf::from),
            log_level,
            frames: text("TABWIRE_CHROME_FRAMES").map(PathBuf::from),
            variables: FORWARDED_VARIABLES
                .iter()
                .filter_map(|name| Some(((*name).to_owned(), text(name)?)))
                .collect(),
            host,
            powershell: text("TABWIRE_CHROME_POWERSHELL").map(PathBuf::from),
            windows_port: port("TABWIRE_CHROME_WINDOWS_PORT")?,
            interop: text("WSL_INTEROP"),
            wsl: Wsl { distribution: text("WSL_DISTRO_NAME"), search_path: environment.search_path.clone() },
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
    Failure::new(ErrorCode::BadArgs, format!("Invalid port `{port}` in {name}."))
        .with_remedy("Set it to a number from 0 to 65535, or unset it.")
}

fn bad_level(level: &str) -> Failure {
    Failure::new(ErrorCode::BadArgs, format!("Invalid log level `{level}` in TABWIRE_CHROME_LOG_LEVEL."))
        .with_remedy("Set it to `important` or `all`, or unset it.")
}

fn bad_host(host: &str) -> Failure {
    Failure::new(ErrorCode::BadArgs, format!("Invalid value `{host}` in TABWIRE_CHROME_HOST."))
        .with_remedy("Set it to `windows` or `local`, or unset it.")
}
