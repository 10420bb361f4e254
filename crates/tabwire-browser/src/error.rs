//! What can go wrong with a browser, sorted by what the caller can do about it.
//! Knows nothing of exit codes or printing; it turns into a `Failure` for that.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tabwire_wire::{ErrorCode, Failure};

use crate::other_engine::OtherEngine;
use crate::private_dir::DirectoryFault;
use crate::process_identity::ProcessIdentity;
use crate::profile_directory::ProfileFault;

/// Why a browser could not be found, started, reached or stopped.
#[derive(Debug, thiserror::Error)]
pub enum BrowserError {
    /// The engine that was asked for cannot be driven.
    #[error("{0}")]
    OtherEngine(OtherEngine),
    /// No browser matches the wish; install one or point at one.
    #[error("No browser was found{}.", wish.as_ref().map(|wish| format!(" for `{wish}`")).unwrap_or_default())]
    NoBrowser {
        /// What the caller asked for.
        wish: Option<String>,
    },
    /// The browser did not come up; its own words say why.
    #[error("{} {why}.{}", executable.display(), quoted(stderr))]
    LaunchFailed {
        /// What was started.
        executable: PathBuf,
        /// How far it came.
        why: LaunchFault,
        /// The last lines the browser wrote to stderr.
        stderr: String,
    },
    /// Another live process holds the profile; reuse it or choose another.
    #[error("The profile {} is in use by {}.", directory.display(), named(owner.as_ref()))]
    ProfileLocked {
        /// The profile directory.
        directory: PathBuf,
        /// Who holds it, when that could be told.
        owner: Option<ProcessIdentity>,
    },
    /// The directory is a browser's default profile, which is never automated (T38).
    #[error("{} is a browser's default profile, and Tabwire never drives that one.", directory.display())]
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
        /// What was given.
        name: String,
    },
    /// A browser argument or environment variable that is not accepted (T36).
    #[error("The browser option `{name}` is refused: {reason}.")]
    OptionRefused {
        /// The flag or variable.
        name: String,
        /// What it would do.
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
        /// What was tried, as a verb.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Somebody else holds the browser now.
    #[error("The browser {browser} is held by {holder}.")]
    Busy {
        /// The browser or its socket.
        browser: String,
        /// Who holds it.
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
        /// What was waited for.
        what: &'static str,
        /// How long.
        after: Duration,
    },
    /// Text that names no browser to attach to.
    #[error("`{text}` is not an address to attach to.")]
    BadAddress {
        /// What was given.
        text: String,
    },
    /// Nothing that speaks the protocol answers there.
    #[error("No browser to attach to at {address}: {why}.")]
    Unreachable {
        /// Where.
        address: String,
        /// How it failed.
        why: AttachFault,
    },
    /// The other side sent something that is not the protocol.
    #[error("{peer} sent something unexpected: {what}.")]
    Peer {
        /// Who.
        peer: &'static str,
        /// What was wrong with it.
        what: &'static str,
    },
    /// A failure another process of ours reported, passed on as it was.
    #[error(transparent)]
    Reported(#[from] Failure),
}

/// How far a browser came before it failed to start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LaunchFault {
    /// It could not be executed.
    #[error("could not be executed ({0})")]
    NotExecutable(String),
    /// It ended before it answered.
    #[error("ended before it was ready ({0})")]
    Ended(String),
    /// It never answered.
    #[error("was not ready after {} s", .0.as_secs())]
    Silent(Duration),
    /// Its first answer was not the protocol.
    #[error("gave an answer that is not the debugging protocol")]
    Nonsense,
    /// Its keeper ended without a word.
    #[error("was not started: its keeper ended without saying why")]
    KeeperEnded,
    /// The launch was called off.
    #[error("was stopped while it was starting")]
    CalledOff,
}

/// Why nothing could be attached to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AttachFault {
    /// No connection, or it broke.
    #[error("{0}")]
    Connection(String),
    /// HTTP answered with another status.
    #[error("it answered with HTTP status {0}")]
    Status(u16),
    /// The answer has no websocket address.
    #[error("its answer names no websocket address")]
    NoWebsocket,
    /// The profile has no port file: no debugging is on there.
    #[error("the profile has no DevToolsActivePort file")]
    NoPortFile,
    /// The port file cannot be read as one.
    #[error("the DevToolsActivePort file is malformed")]
    BadPortFile,
    /// Another browser than the profile's answers at the port.
    #[error("its browser is gone, and another one answers at its port {0}")]
    Stranger(u16),
}

fn quoted(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!(" It said:\n{stderr}") }
}

fn named(owner: Option<&ProcessIdentity>) -> String {
    owner.map_or_else(|| "another process".to_owned(), |owner| format!("process {}", owner.pid()))
}

impl BrowserError {
    /// Wraps what the system said about a path.
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
            | Self::BadAddress { .. } => ErrorCode::BadArgs,
            Self::System { .. } => ErrorCode::LaunchFailed,
            Self::Busy { .. } => ErrorCode::Busy,
            Self::Gone { .. } => ErrorCode::BrowserGone,
            Self::Timeout { .. } => ErrorCode::Timeout,
            Self::Peer { .. } => ErrorCode::VersionMismatch,
            Self::Reported(failure) => failure.code,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NoBrowser { .. } => {
                "Install Chrome, Chromium, Edge or Brave, or give the path of an executable as the browser."
            }
            Self::OtherEngine(_) => {
                "Use chromium, chrome, edge or brave; `tabwire doctor` tells which of them is installed."
            }
            Self::LaunchFailed { why: LaunchFault::NotExecutable(_), .. } => {
                "Give the path of a browser's executable, or leave the choice to Tabwire."
            }
            Self::LaunchFailed { .. } => "Read the browser's own words above; start it by hand to see more.",
            Self::ProfileLocked { .. } => {
                "Close the browser that uses the profile, or choose another profile (a throw-away one always works)."
            }
            Self::DefaultProfile { .. } => {
                "Use a named or throw-away profile, or pair the extension to drive your own browser."
            }
            Self::UnfitProfile { .. } => {
                "Nothing was changed. Name a new or empty directory, or a profile of Chromium."
            }
            Self::OptionRefused { can_be_allowed: true, .. } => {
                "Allow dangerous browser options explicitly to use it."
            }
            Self::OptionRefused { .. } => "Leave it out; Tabwire sets it from its own options.",
            Self::UntrustedDirectory { .. } => {
                "Remove or repair the directory, or set TABWIRE_HOME to one that only you can write."
            }
            Self::SocketPathTooLong { .. } => "Set TABWIRE_HOME to a shorter path.",
            Self::System { .. } => {
                "Check that the directory exists, is writable and has free space, or set TABWIRE_HOME to another."
            }
            Self::Busy { .. } => "Wait for the other one to let go, or stop the browser.",
            Self::Gone { .. } => "Start it again.",
            Self::Timeout { .. } => "Try again with a longer timeout; stop the browser if it hangs.",
            Self::BadAddress { .. } => {
                "Use a port, http://host:port, a ws:// or wss:// address, a profile directory, or a channel such as `chrome`."
            }
            Self::Unreachable { .. } => {
                "Start the browser with remote debugging, or turn it on at chrome://inspect/#remote-debugging."
            }
            Self::Peer { .. } => "Stop the browser and start it again with this version of Tabwire.",
            Self::BadProfileName { .. } => return None,
            Self::Reported(failure) => return failure.hint.clone(),
        };
        Some(hint.to_owned())
    }
}

impl From<BrowserError> for Failure {
    fn from(error: BrowserError) -> Self {
        let hint = error.hint();
        let failure = Failure::new(error.code(), error.to_string());
        Failure { hint, ..failure }
    }
}
