//! Errors of commands and events, grouped by what the caller can do.

use std::borrow::Cow;
use std::time::Duration;

use tabwire_api::{CdpSessionId, ErrorCode, Failure};

use crate::connection::close_reason::CloseReason;

/// The name of a protocol method or event, such as `Page.navigate`. Literals do not allocate.
pub type Method = Cow<'static, str>;

/// Chrome's error code for an unknown CDP session.
pub(crate) const CODE_SESSION_NOT_FOUND: i64 = -32001;
/// Chrome's error code for an unknown method.
const CODE_METHOD_NOT_FOUND: i64 = -32601;

/// A failed command or wait.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CdpError {
    /// The deadline passed first; a command may still run in the browser.
    #[error("{method} did not finish within {} ms", after.as_millis())]
    Timeout {
        /// The method or event.
        method: Method,
        /// The length of the wait.
        after: Duration,
    },
    /// The CDP session was detached, or never existed; attach again.
    #[error("cdp session {session} is gone")]
    SessionGone {
        /// The session.
        session: CdpSessionId,
    },
    /// The connection is closed and the command was never sent; it is safe to retry on a new one.
    #[error("not sent: {reason}")]
    Closed {
        /// Why the connection ended.
        reason: CloseReason,
    },
    /// The connection ended after the command was sent; check the page before retrying.
    #[error("{method} was sent and the connection ended before its response: {reason}")]
    OutcomeUnknown {
        /// The method that was sent.
        method: Method,
        /// Why the connection ended.
        reason: CloseReason,
    },
    /// The message exceeds the size limit; request less. The connection stays open.
    #[error("a message of {size} bytes for {method} is above the limit of {limit}")]
    TooLarge {
        /// The method.
        method: Method,
        /// The size of the message.
        size: usize,
        /// The limit.
        limit: usize,
    },
    /// Too many bytes already wait for the browser; the command was never sent, retry later.
    #[error("{method} was not sent: {waiting} bytes already wait for the browser")]
    Backlogged {
        /// The method.
        method: Method,
        /// The bytes waiting.
        waiting: usize,
    },
    /// The browser responded with an error.
    #[error("{method}: {message} ({code})")]
    Protocol {
        /// The method that failed.
        method: Method,
        /// The browser's code.
        code: i64,
        /// The browser's message.
        message: String,
        /// The browser's additional data, as JSON text.
        data: Option<String>,
    },
    /// The response does not have the expected type.
    #[error("the response to {method} cannot be read: {detail}")]
    Malformed {
        /// The method or event.
        method: Method,
        /// The error of the JSON reader.
        detail: String,
    },
    /// The parameters cannot be written as JSON; the command was never sent.
    #[error("the parameters of {method} cannot be written: {detail}")]
    BadParameters {
        /// The method.
        method: Method,
        /// The error of the JSON writer.
        detail: String,
    },
    /// The reader of events was too slow, and this many events were dropped at this position.
    #[error("{count} events were missed")]
    Missed {
        /// The number of dropped events.
        count: u64,
    },
}

impl CdpError {
    /// Whether the browser does not support the method, at least on this CDP session.
    #[must_use]
    pub fn is_unknown_method(&self) -> bool {
        matches!(self, Self::Protocol { code: CODE_METHOD_NOT_FOUND, .. })
    }

    /// Converts the error to the failure that users and models see.
    #[must_use]
    pub fn into_failure(self) -> Failure {
        let message = self.to_string();
        match self {
            Self::Timeout { .. } => Failure::new(ErrorCode::Timeout, message)
                .with_remedy("The browser may be busy. Try again with a longer timeout."),
            Self::SessionGone { .. } => Failure::new(ErrorCode::TargetGone, message)
                .with_remedy("The page went away or was detached. List the tabs and choose again."),
            Self::Closed { .. } => Failure::new(ErrorCode::BrowserGone, message)
                .with_remedy("Nothing was sent. Try again; that opens a new connection to the browser."),
            Self::OutcomeUnknown { .. } => Failure::new(ErrorCode::OutcomeUnknown, message)
                .with_remedy("It may or may not have run. Check the page before trying again."),
            Self::TooLarge { .. } => Failure::new(ErrorCode::CdpError, message)
                .with_remedy("Request less at once: a smaller part, a clip, or a file."),
            Self::Backlogged { .. } => Failure::new(ErrorCode::Backpressure, message)
                .with_remedy("Wait for earlier commands to finish, then try again."),
            Self::Protocol { code: CODE_METHOD_NOT_FOUND, .. } => {
                Failure::new(ErrorCode::UnknownMethod, message).with_remedy(
                    "This browser does not support the method; check its spelling and the browser's version.",
                )
            }
            Self::Protocol { message: sentence, .. } if sentence == NOT_ACTIVE => {
                Failure::new(ErrorCode::TargetGone, "The page navigated to another document meanwhile.")
                    .with_remedy("Nothing was done. Try again.")
            }
            Self::Protocol { message: sentence, data, .. } => match data.as_deref().and_then(own_code) {
                Some(code) => Failure::new(code, sentence).with_remedy(own_hint(code)),
                None => Failure::new(ErrorCode::CdpError, message),
            },
            Self::Malformed { .. } => Failure::new(ErrorCode::CdpError, message).with_remedy(
                "The browser sent an unexpected message; its version may be too new or too old.",
            ),
            Self::BadParameters { .. } => Failure::new(ErrorCode::BadArgs, message),
            Self::Missed { .. } => Failure::new(ErrorCode::Backpressure, message)
                .with_remedy("Events were dropped; re-read the current state."),
        }
    }
}

/// Chromium's error message while a page's document is being replaced.
const NOT_ACTIVE: &str = "Not attached to an active page";

/// The error code, if Tabwire sent the error instead of the browser.
fn own_code(data: &str) -> Option<ErrorCode> {
    serde_json::from_str(data).ok()
}

fn own_hint(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::OutcomeUnknown => {
            "It may or may not have run. The next command reconnects to the browser, or starts it."
        }
        ErrorCode::Timeout => "The browser may be busy. Try again with a longer timeout.",
        ErrorCode::Backpressure => "Wait for earlier commands to finish, then try again.",
        ErrorCode::DevtoolsOpen => {
            "Close the other debugger of that tab, or use another tab; trying again does not help."
        }
        ErrorCode::Detached => "It may have run in part. List the tabs to see which are still available.",
        ErrorCode::UnsupportedHere => {
            "Nothing was done. docs/firefox.md lists what Firefox cannot do; a session with Chromium can."
        }
        _ => "Reconnect; `tabwire status` shows the state of the browser.",
    }
}
