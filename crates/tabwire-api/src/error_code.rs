//! The list of error codes.

use serde::{Deserialize, Serialize};

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $text:literal, $exit:literal;)+) => {
        /// The kind of an error. Errors with the same remedy share a code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum ErrorCode {
            $($(#[doc = $doc])+ #[serde(rename = $text)] $variant,)+
        }

        impl ErrorCode {
            /// Every code, in the order of the reference page.
            pub const ALL: &[ErrorCode] = &[$(ErrorCode::$variant),+];

            /// The code as text.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(ErrorCode::$variant => $text),+ }
            }

            /// When the code is used, in one sentence.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(ErrorCode::$variant => concat!($($doc),+)),+ }
            }

            /// The exit code of a command that fails with this code.
            #[must_use]
            pub const fn exit_code(self) -> u8 {
                match self { $(ErrorCode::$variant => $exit),+ }
            }
        }
    };
}

codes! {
    /// No browser could be found or reached for the session.
    NoBackend = "NO_BACKEND", 1;
    /// The paired extension is not connected.
    ExtensionDisconnected = "EXTENSION_DISCONNECTED", 1;
    /// The browser has exited or its connection closed.
    BrowserGone = "BROWSER_GONE", 1;
    /// The browser could not be started.
    LaunchFailed = "LAUNCH_FAILED", 1;
    /// Another live process holds the profile directory.
    ProfileLocked = "PROFILE_LOCKED", 1;
    /// No tab has that id.
    TabNotFound = "TAB_NOT_FOUND", 1;
    /// The tab id belongs to an earlier browser.
    StaleTab = "STALE_TAB", 1;
    /// The page, frame or worker ended during the action.
    TargetGone = "TARGET_GONE", 1;
    /// The CDP session of the page was detached.
    Detached = "DETACHED", 1;
    /// Another debugger holds the tab.
    DevtoolsOpen = "DEVTOOLS_OPEN", 1;
    /// No element matches the selector.
    SelectorNotFound = "SELECTOR_NOT_FOUND", 1;
    /// The ref's element or document is gone.
    RefExpired = "REF_EXPIRED", 1;
    /// The element cannot be acted on now.
    NotActionable = "NOT_ACTIONABLE", 1;
    /// A dialog is open and must be closed first.
    DialogOpen = "DIALOG_OPEN", 1;
    /// The evaluated code threw.
    EvalFailed = "EVAL_FAILED", 1;
    /// The deadline passed first.
    Timeout = "TIMEOUT", 4;
    /// The connection was lost after the command was sent. The command may or may not have run.
    OutcomeUnknown = "OUTCOME_UNKNOWN", 1;
    /// The policy refuses this.
    PolicyDenied = "POLICY_DENIED", 3;
    /// The download did not complete.
    DownloadFailed = "DOWNLOAD_FAILED", 1;
    /// Too many requests are already running.
    Backpressure = "BACKPRESSURE", 1;
    /// Another client is using it.
    Busy = "BUSY", 1;
    /// The user drives the tab in the dashboard.
    TakenOver = "TAKEN_OVER", 1;
    /// The user has paused or stopped the client in the dashboard.
    Paused = "PAUSED", 1;
    /// The arguments are not valid.
    BadArgs = "BAD_ARGS", 2;
    /// There is no such method or route.
    UnknownMethod = "UNKNOWN_METHOD", 2;
    /// This browser cannot do it.
    UnsupportedHere = "UNSUPPORTED_HERE", 1;
    /// The browser responded with a CDP error.
    CdpError = "CDP_ERROR", 1;
    /// The two sides have incompatible versions.
    VersionMismatch = "VERSION_MISMATCH", 1;
    /// The running daemon is older than the command, which replaces it.
    DaemonOlder = "DAEMON_OLDER", 1;
    /// A bug in Tabwire.
    Internal = "INTERNAL", 1;
}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(self.as_str())
    }
}
