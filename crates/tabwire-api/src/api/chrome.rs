//! The messages between `tabwire chrome` and the daemon.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{BrowserId, Failure};

/// The name under which a connection is upgraded to a stand-in's.
pub const CHROME_UPGRADE: &str = "tabwire-chrome";

/// The browser that a stand-in wants; two descriptors for frames may come along.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChromeOpening {
    /// The profile directory, which says which browser is meant.
    pub profile: Option<PathBuf>,
    /// What says which browser is meant when there is no profile directory.
    pub name: String,
    /// The browser's name or program; the daemon's own choice if left out.
    pub browser: Option<String>,
    /// Whether it has no window.
    pub headless: bool,
    /// Flags as the launcher gave them.
    pub arguments: Vec<String>,
    /// Addresses to open at the start.
    pub addresses: Vec<String>,
    /// Whether it starts with a window.
    pub start_window: bool,
    /// The window's size.
    pub window: Option<(u16, u16)>,
    /// A proxy for all traffic.
    pub proxy: Option<String>,
    /// Whether flags that weaken the browser are passed on.
    pub allow_dangerous: bool,
    /// Variables the browser is started with.
    pub environment: BTreeMap<String, String>,
    /// Whether the client stays connected when the browser is gone, and gets a report of what it lost.
    pub outlives_browser: bool,
    /// Whether the client is shown what other clients have opened.
    pub sees_everything: bool,
    /// How the browser is reached when it is one of Windows, from within WSL.
    pub windows: Option<WindowsWish>,
}

/// A browser of Windows, and the way to it from within WSL.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WindowsWish {
    /// The PowerShell to start, as a program of this system.
    pub powershell: PathBuf,
    /// The script that it runs, as Windows names it.
    pub script: String,
    /// The profile directory as Windows names it, variables included; says which browser is meant.
    pub profile: String,
    /// The Windows path of the browser's executable. Default: search for it.
    pub executable: Option<String>,
    /// The debugging port that the browser is to have there.
    pub port: WindowsPort,
    /// Whether Windows and this system have one loopback, so that the port is reached without a relay.
    pub shares_loopback: bool,
    /// Variables that PowerShell is started with, without which Windows programs do not start here.
    pub environment: BTreeMap<String, String>,
}

/// Which debugging port a browser of Windows is to have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowsPort {
    /// Any that is free.
    #[default]
    Any,
    /// This one if it is free, else any.
    Wished(u16),
    /// This one and no other.
    Fixed(u16),
}

/// A message of the daemon to the Chrome shim, one per line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChromeWord {
    /// The opening may be sent.
    Ready {},
    /// The browser is there.
    Opened(ChromeOpened),
    /// There will be no browser.
    Failed(Failure),
    /// It is over.
    Ended(ChromeEnd),
}

/// The browser a stand-in was given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChromeOpened {
    /// `attached` when it ran before, `launched` when it was started now.
    pub ownership: String,
    /// Its name, when Tabwire keeps it.
    pub browser: Option<BrowserId>,
    /// What it calls itself.
    pub product: Option<String>,
    /// Its program, when Tabwire started it.
    pub executable: Option<PathBuf>,
    /// Its process, when it is known.
    pub pid: Option<i32>,
    /// The debugging port of its own, when it has one.
    pub debugging_port: Option<u16>,
    /// The profile directory, when it is known.
    pub profile: Option<PathBuf>,
}

/// How a stand-in's part of a browser ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct ChromeEnd {
    /// Why.
    pub why: ChromeEndReason,
    /// The same as text.
    pub sentence: String,
}

/// Why a stand-in's part of a browser ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChromeEndReason {
    /// The client hung up; whatever had to end has ended.
    ClientLeft,
    /// The client closed its browser; whatever had to end has ended.
    BrowserClosed,
    /// The browser is gone.
    BrowserGone,
    /// The daemon makes room or ends.
    DaemonEnds,
}

/// A browser that programs standing in for Chrome hold, or had started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandInBrowser {
    /// `attached` or `launched`.
    pub ownership: String,
    /// What it calls itself, when it is known.
    pub product: Option<String>,
    /// Its process, when it is known; of Windows, when it runs there.
    pub pid: Option<i32>,
    /// The profile directory, when it is known.
    pub profile: Option<PathBuf>,
    /// Whether it has no window, when that is known.
    pub headless: Option<bool>,
    /// How many stand-ins have a line to it now; on a port each client has one, and the stand-in itself.
    pub lines: usize,
}
