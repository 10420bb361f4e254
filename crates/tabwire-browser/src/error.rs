//! Errors of this crate, with a remedy for each. Each converts into a `Failure`.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tabwire_api::{ErrorCode, Failure, Remedy, Step};

use crate::files::private_dir::DirectoryFault;
use crate::launch::other_engine::OtherEngine;
use crate::process::identity::ProcessIdentity;
use crate::profile::directory::ProfileFault;

/// Why a browser could not be found, started, reached or stopped.
#[derive(Debug, thiserror::Error)]
pub enum BrowserError {
    /// An engine that Tabwire does not support.
    #[error("{0}")]
    OtherEngine(OtherEngine),
    /// No installed browser matches the request.
    #[error("No browser was found{}.", request.as_ref().map(|request| format!(" for `{request}`")).unwrap_or_default())]
    NoBrowser {
        /// The requested browser.
        request: Option<String>,
    },
    /// The browser did not start; `stderr` has its output.
    #[error("{} {why}.{}", executable.display(), quoted(stderr))]
    LaunchFailed {
        /// The executable.
        executable: PathBuf,
        /// How it failed.
        why: LaunchFault,
        /// The last lines the browser wrote to stderr.
        stderr: String,
    },
    /// Another live process holds the profile; reuse it or choose another.
    #[error("The profile {} is in use by {}.", directory.display(), named(owner.as_ref()))]
    ProfileLocked {
        /// The profile directory.
        directory: PathBuf,
        /// The process that holds it, if known.
        owner: Option<ProcessIdentity>,
    },
    /// The directory is a browser's default profile, which is never automated (T38).
    #[error("{} is a browser's default profile, which Tabwire never automates.", directory.display())]
    DefaultProfile {
        /// The directory after links and `..` were resolved.
        directory: PathBuf,
    },
    /// A directory that may not become a profile.
    #[error("{} cannot be a profile: {fault}.", directory.display())]
    UnfitProfile {
        /// The directory after links and `..` were resolved.
        directory: PathBuf,
        /// What is wrong with it.
        fault: ProfileFault,
    },
    /// A profile name that cannot be a directory name.
    #[error(
        "`{name}` is not a profile name: use 1 to 64 letters, digits, `-`, `_` or `.`, not starting with `.` or `-`."
    )]
    BadProfileName {
        /// The given text.
        name: String,
    },
    /// A browser argument or environment variable that is not accepted (T36).
    #[error("The browser option `{name}` is refused: {reason}.")]
    OptionRefused {
        /// The flag or variable.
        name: String,
        /// The effect of the option.
        reason: &'static str,
        /// Whether `allow_dangerous` lifts the refusal.
        can_be_allowed: bool,
    },
    /// A directory that others could have prepared or can change (T33).
    #[error("The directory {} cannot be trusted: {fault}.", path.display())]
    UntrustedDirectory {
        /// The directory.
        path: PathBuf,
        /// What is wrong with it.
        fault: DirectoryFault,
    },
    /// A path that is too long for a unix socket.
    #[error("The socket path {} is longer than the system allows.", path.display())]
    SocketPathTooLong {
        /// The path.
        path: PathBuf,
    },
    /// The system refused an operation on a file, socket or process.
    #[error("Could not {action} {}: {source}.", path.display())]
    System {
        /// The operation, as a verb.
        action: &'static str,
        /// The path it was applied to.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Another client has claimed the browser.
    #[error("The browser {browser} is in use by {holder}.")]
    Busy {
        /// The browser or its socket.
        browser: String,
        /// The client that holds it.
        holder: String,
    },
    /// The browser or its keeper is gone.
    #[error("The browser behind {what} is gone.")]
    Gone {
        /// The browser or its socket.
        what: String,
    },
    /// The deadline passed first.
    #[error("{what} did not happen within {} ms.", after.as_millis())]
    Timeout {
        /// The awaited event.
        what: &'static str,
        /// The time limit.
        after: Duration,
    },
    /// Text that is neither a URL, a port, a profile nor a channel.
    #[error("`{text}` is not a browser to attach to.")]
    BadUrl {
        /// The given text.
        text: String,
    },
    /// Text that is no header for a remote browser.
    #[error(
        "`{name}` is not a header that can be sent to a browser, or its value has other than printable characters."
    )]
    BadHeader {
        /// The header's name; never its value.
        name: String,
    },
    /// No CDP endpoint responds there.
    #[error("No browser to attach to at {address}: {why}.")]
    Unreachable {
        /// The URL, port file or profile.
        address: String,
        /// How it failed.
        why: AttachFault,
    },
    /// The peer sent an invalid message.
    #[error("{peer} sent an invalid message: {what}.")]
    Peer {
        /// The peer.
        peer: &'static str,
        /// The defect.
        what: &'static str,
    },
    /// A failure that another Tabwire process reported.
    #[error(transparent)]
    Reported(#[from] Failure),
}

/// How a browser failed to start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LaunchFault {
    /// It could not be executed.
    #[error("could not be executed ({0})")]
    NotExecutable(String),
    /// It exited before it responded.
    #[error("exited before it was ready ({0})")]
    Ended(String),
    /// It never responded.
    #[error("was not ready after {} s", .0.as_secs())]
    Timeout(Duration),
    /// Its first message was not CDP.
    #[error("sent a message that is not the debugging protocol")]
    NotCdp,
    /// It is a Firefox without what Tabwire needs.
    #[error("is version {0}, and Tabwire needs Firefox 153 or later")]
    TooOld(String),
    /// It refused to create a session.
    #[error("did not create a WebDriver session ({0})")]
    NoSession(String),
    /// Its keeper exited without a report.
    #[error("was not started: its keeper exited without a report")]
    KeeperEnded,
    /// The launch was canceled.
    #[error("was stopped while it was starting")]
    Canceled,
}

/// Why attaching failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AttachFault {
    /// No connection, or it broke.
    #[error("{0}")]
    Connection(String),
    /// The endpoint responded with an HTTP error.
    #[error("it responded with HTTP status {0}")]
    Status(u16),
    /// The response has no websocket URL.
    #[error("its response has no websocket URL")]
    NoWebsocket,
    /// The profile has no port file: no debugging is on there.
    #[error("the profile has no DevToolsActivePort file")]
    NoPortFile,
    /// The port file is malformed.
    #[error("the DevToolsActivePort file is malformed")]
    BadPortFile,
    /// Another browser listens on the profile's port.
    #[error("its browser is gone, and another one listens on its port {0}")]
    OtherBrowser(u16),
}

fn quoted(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!(" Its output:\n{stderr}") }
}

fn named(owner: Option<&ProcessIdentity>) -> String {
    owner.map_or_else(|| "another process".to_owned(), |owner| format!("process {}", owner.pid()))
}

impl BrowserError {
    /// Wraps a system error about a path.
    pub(crate) fn system(action: &'static str, path: &Path, source: impl Into<io::Error>) -> Self {
        Self::System { action, path: path.to_owned(), source: source.into() }
    }

    /// The stable code of this error.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NoBrowser { .. } | Self::OtherEngine(_) | Self::Unreachable { .. } => ErrorCode::NoBackend,
            Self::LaunchFailed { .. } => ErrorCode::LaunchFailed,
            Self::ProfileLocked { .. } => ErrorCode::ProfileLocked,
            Self::DefaultProfile { .. }
            | Self::UnfitProfile { .. }
            | Self::BadProfileName { .. }
            | Self::OptionRefused { .. }
            | Self::UntrustedDirectory { .. }
            | Self::SocketPathTooLong { .. }
            | Self::BadUrl { .. }
            | Self::BadHeader { .. } => ErrorCode::BadArgs,
            Self::System { .. } => ErrorCode::LaunchFailed,
            Self::Busy { .. } => ErrorCode::Busy,
            Self::Gone { .. } => ErrorCode::BrowserGone,
            Self::Timeout { .. } => ErrorCode::Timeout,
            Self::Peer { .. } => ErrorCode::VersionMismatch,
            Self::Reported(failure) => failure.code,
        }
    }

    fn remedy(&self) -> Option<Remedy> {
        let sentence = match self {
            Self::NoBrowser { .. } => {
                "Install Chrome, Chromium, Edge, Brave or Firefox, or give the path of an executable as the browser."
            }
            Self::OtherEngine(_) => {
                return Some(Remedy::new(
                    "Use chromium, chrome, edge, brave or firefox. {} lists the installed ones.",
                    [Step::command("tabwire doctor")],
                ));
            }
            Self::LaunchFailed { why: LaunchFault::NotExecutable(_), .. } => {
                "Give the path of a browser's executable, or omit it to let Tabwire choose."
            }
            Self::LaunchFailed { .. } => "See the browser's output above, or start the executable by hand.",
            Self::ProfileLocked { .. } => {
                "Close the browser that uses the profile, or choose another profile (a temporary one always works)."
            }
            Self::DefaultProfile { .. } => {
                "Use a named or temporary profile, or pair the extension to use your own browser."
            }
            Self::UnfitProfile { .. } => {
                "Nothing was changed. Use a new or empty directory, or a Chromium profile."
            }
            Self::OptionRefused { can_be_allowed: true, .. } => {
                "Allow dangerous browser options explicitly to use it."
            }
            Self::OptionRefused { .. } => "Remove it; Tabwire sets it from its own options.",
            Self::UntrustedDirectory { .. } => {
                "Remove or repair the directory, or set TABWIRE_HOME to one that only you can write."
            }
            Self::SocketPathTooLong { .. } => "Set TABWIRE_HOME to a shorter path.",
            Self::System { .. } => {
                "Check that the directory exists, is writable and has free space, or set TABWIRE_HOME to another."
            }
            Self::Busy { .. } => "Wait until the other client is done, or stop the browser.",
            Self::Gone { .. } => "Start the browser again.",
            Self::Timeout { .. } => "Try again with a longer timeout; stop the browser if it hangs.",
            Self::BadUrl { .. } => {
                "Use a port, an http://, https://, ws:// or wss:// URL, a profile directory, or a channel such as `chrome`."
            }
            Self::BadHeader { .. } => {
                "Use the form `Name: value`, for example `Authorization: Bearer TOKEN`."
            }
            Self::Unreachable { .. } => {
                "Start the browser with remote debugging, or turn it on at chrome://inspect/#remote-debugging."
            }
            Self::Peer { .. } => "Stop the browser and start it again with this version of Tabwire.",
            Self::BadProfileName { .. } => return None,
            Self::Reported(failure) => return failure.remedy.clone(),
        };
        Some(sentence.into())
    }
}

impl From<BrowserError> for Failure {
    fn from(error: BrowserError) -> Self {
        let remedy = error.remedy();
        let failure = Failure::new(error.code(), error.to_string());
        Failure { remedy, ..failure }
    }
}
