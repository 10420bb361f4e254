//! What the environment says about standing in for Chrome. Knows nothing of a launcher's command line.

use std::path::PathBuf;

use tabwire_wire::{ErrorCode, Failure};

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
    /// Variables for the browser.
    pub(super) variables: Vec<(String, String)>,
}

impl ChromeSettings {
    /// Reads the environment; an empty variable counts as not set.
    ///
    /// # Errors
    /// When a variable says what cannot be meant.
    pub(super) fn read(environment: &Environment) -> Result<Self, Failure> {
        let of_browser = environment.settings.iter().find(|(key, _)| *key == Key::Browser);
        let port = match text("TABWIRE_CHROME_PORT") {
            None => None,
            Some(port) => Some(port.parse().map_err(|_| bad_port(&port))?),
        };
        Ok(Self {
            browser: text("TABWIRE_CHROME_EXECUTABLE").or_else(|| of_browser.map(|(_, value)| value.clone())),
            profile: text("TABWIRE_CHROME_PROFILE").map(PathBuf::from),
            port,
            allow_dangerous: text("TABWIRE_CHROME_DANGEROUS").is_some_and(|value| value == "1"),
            log: text("TABWIRE_CHROME_LOG").map(PathBuf::from),
            variables: PASSED_ON.iter().filter_map(|name| Some(((*name).to_owned(), text(name)?))).collect(),
        })
    }
}

fn text(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn bad_port(port: &str) -> Failure {
    Failure::new(ErrorCode::BadArgs, format!("TABWIRE_CHROME_PORT is `{port}`, which is no port."))
        .with_hint("Set it to a number from 0 to 65535, or not at all.")
}
