//! The messages between `tabwire chrome` and the daemon.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{BrowserId, Failure};

/// The upgrade protocol of a Chrome shim's connection.
pub const CHROME_UPGRADE: &str = "tabwire-chrome";

/// The request of a Chrome shim for a browser. Two descriptors for CDP frames may be sent with it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChromeOpening {
    /// The profile directory. It identifies the browser.
    pub profile: Option<PathBuf>,
    /// Identifies the browser if there is no profile directory.
    pub name: String,
    /// The browser's name or program. Default: the daemon's choice.
    pub browser: Option<String>,
    /// Whether it has no window.
    pub headless: bool,
    /// The launcher's flags.
    pub arguments: Vec<String>,
    /// URLs to open at the start.
    pub addresses: Vec<String>,
    /// Whether it starts with a window.
    pub start_window: bool,
    /// The window's size.
    pub window: Option<(u16, u16)>,
    /// A proxy for all traffic.
    pub proxy: Option<String>,
    /// Whether flags that weaken the browser are forwarded.
    pub allow_dangerous: bool,
    /// Environment variables of the browser.
    pub environment: BTreeMap<String, String>,
    /// Whether the client stays connected when the browser is gone, and receives a report of what it lost.
    pub outlives_browser: bool,
    /// Names the shim. The connections of one shim are one client: they see each other's targets.
    pub shim: Option<String>,
    /// Whether a browser without a window keeps running when its last client leaves.
    pub keep: bool,
    /// Set for a browser on Windows, requested from within WSL.
    pub windows: Option<WindowsBrowserRequest>,
}

/// A request for a browser on Windows, from within WSL.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WindowsBrowserRequest {
    /// The path of PowerShell in WSL.
    pub powershell: PathBuf,
    /// The Windows path of the script that PowerShell runs.
    pub script: String,
    /// The Windows path of the profile directory, with variables. It identifies the browser.
    pub profile: String,
    /// The Windows path of the browser's executable. Default: search for it.
    pub executable: Option<String>,
    /// The debugging port of the browser.
    pub port: WindowsPort,
    /// Whether Windows and WSL share the loopback interface, so that the port needs no relay.
    pub shares_loopback: bool,
    /// Environment variables of PowerShell. WSL cannot start Windows programs without them.
    pub environment: BTreeMap<String, String>,
}

/// The debugging port of a browser on Windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowsPort {
    /// Any free port.
    #[default]
    Any,
    /// This port if it is free, else any free port.
    Preferred(u16),
    /// Only this port.
    Fixed(u16),
}

/// A message of the daemon to the Chrome shim, one per line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChromeMessage {
    /// The daemon is ready for the request.
    Ready {},
    /// The browser is connected.
    Opened(ChromeOpened),
    /// The browser could not be provided.
    Failed(Failure),
    /// The connection to the browser ended.
    Ended(ChromeEnd),
}

/// The browser of a Chrome shim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChromeOpened {
    /// `attached` if it was running already, `launched` if it was started for this request.
    pub ownership: String,
    /// Its id, if Tabwire keeps it.
    pub browser: Option<BrowserId>,
    /// Its product name and version.
    pub product: Option<String>,
    /// Its program, if Tabwire started it.
    pub executable: Option<PathBuf>,
    /// Its process id, if known.
    pub pid: Option<i32>,
    /// Its own debugging port, if it has one.
    pub debugging_port: Option<u16>,
    /// The profile directory, if known.
    pub profile: Option<PathBuf>,
}

/// How a Chrome shim's connection to its browser ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct ChromeEnd {
    /// Why.
    pub why: ChromeEndReason,
    /// The reason as text.
    pub sentence: String,
}

/// Why a Chrome shim's connection to its browser ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChromeEndReason {
    /// The client disconnected. The browser is closed if it had to be.
    ClientLeft,
    /// The client closed its browser. The browser is closed if it had to be.
    BrowserClosed,
    /// The browser is gone.
    BrowserGone,
    /// The daemon exits or is replaced.
    DaemonEnds,
}

/// A browser that Chrome shims use or have started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShimBrowser {
    /// `attached` or `launched`.
    pub ownership: String,
    /// Its product name and version, if known.
    pub product: Option<String>,
    /// Its process id, if known. A Windows process id for a browser on Windows.
    pub pid: Option<i32>,
    /// The profile directory, if known.
    pub profile: Option<PathBuf>,
    /// Whether it has no window, if known.
    pub headless: Option<bool>,
    /// The number of shim connections to it. In port mode each client has one, and the shim has one.
    pub lines: usize,
}
