//! What can go wrong with a command or an event, sorted by what the caller can do. Prints nothing.

use std::borrow::Cow;
use std::time::Duration;

use tabwire_api::{CdpSessionId, ErrorCode, Failure};

use crate::connection::close_reason::CloseReason;

/// The name of a protocol method or event, `Page.navigate`; free of cost when it is a literal.
pub type Method = Cow<'static, str>;

/// The code Chrome answers with when a CDP session is unknown to it.
pub(crate) const CODE_SESSION_NOT_FOUND: i64 = -32001;
/// The code Chrome answers with when a method is unknown to it.
const CODE_METHOD_NOT_FOUND: i64 = -32601;

/// A command or wait that did not succeed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CdpError {
    /// The deadline passed first; a command may still run in the browser.
    #[error("{method} did not finish within {} ms", after.as_millis())]
    Timeout {
        /// The method or event waited for.
        method: Method,
        /// The length of the wait.
        after: Duration,
    },
    /// The CDP session was detached, or never existed; attach again.
    #[error("cdp session {session} is gone")]
    SessionGone {
        /// The session concerned.
        session: CdpSessionId,
    },
    /// The link is closed and the command was never sent; it is safe to try on a new link.
    #[error("not sent: {reason}")]
    Closed {
        /// Why the link ended.
        reason: CloseReason,
    },
    /// The link died after the command was sent; look before trying again.
    #[error("{method} was sent and the link died before its answer: {reason}")]
    OutcomeUnknown {
        /// The method that was sent.
        method: Method,
        /// Why the link ended.
        reason: CloseReason,
    },
    /// The message passes the ceiling; ask for less. The connection lives on.
    #[error("a message of {size} bytes for {method} is above the limit of {limit}")]
    TooLarge {
        /// The method concerned.
        method: Method,
        /// The size of the message.
        size: usize,
        /// The ceiling it passed.
        limit: usize,
    },
    /// Too many bytes already wait for the browser; never sent, try later.
    #[error("{method} was not sent: {waiting} bytes already wait for the browser")]
    Backlogged {
        /// The method that was refused.
        method: Method,
        /// The bytes waiting.
        waiting: usize,
    },
    /// The browser answered with an error.
    #[error("{method}: {message} ({code})")]
    Protocol {
        /// The method that failed.
        method: Method,
        /// The browser's code.
        code: i64,
        /// The browser's sentence.
        message: String,
        /// The browser's further data, as JSON text.
        data: Option<String>,
    },
    /// The response cannot be read as what was expected.
    #[error("the answer to {method} cannot be read: {detail}")]
    Malformed {
        /// The method or event concerned.
        method: Method,
        /// What the reader stumbled on.
        detail: String,
    },
    /// The parameters cannot be written as JSON; never sent.
    #[error("the parameters of {method} cannot be written: {detail}")]
    BadParameters {
        /// The method concerned.
        method: Method,
        /// What the writer stumbled on.
        detail: String,
    },
    /// The reader of events was too slow and this many were left out here.
    #[error("{count} events were missed")]
    Missed {
        /// How many.
        count: u64,
    },
}

impl CdpError {
    /// Whether the command certainly never reached the browser.
    #[must_use]
    pub fn is_unsent(&self) -> bool {
        matches!(self, Self::Closed { .. } | Self::Backlogged { .. } | Self::BadParameters { .. })
    }

    /// Whether the browser does not offer the method, on this CDP session at least.
    #[must_use]
    pub fn is_unknown_method(&self) -> bool {
        matches!(self, Self::Protocol { code: CODE_METHOD_NOT_FOUND, .. })
    }

    /// Turns the error into what people and models are shown.
    #[must_use]
    pub fn into_failure(self) -> Failure {
        let message = self.to_string();
        match self {
            Self::Timeout { .. } => Failure::new(ErrorCode::Timeout, message)
                .with_remedy("The browser may be busy. Try again with a longer timeout."),
            Self::SessionGone { .. } => Failure::new(ErrorCode::TargetGone, message)
                .with_remedy("The page went away or was detached. List the tabs and choose again."),
            Self::Closed { .. } => Failure::new(ErrorCode::BrowserGone, message)
                .with_remedy("Nothing was sent. Try again; the browser is reached anew."),
            Self::OutcomeUnknown { .. } => Failure::new(ErrorCode::OutcomeUnknown, message)
                .with_remedy("It may or may not have run. Look at the page before trying again."),
            Self::TooLarge { .. } => Failure::new(ErrorCode::CdpError, message)
                .with_remedy("Ask for less at once: a smaller part, a clip, or a file."),
            Self::Backlogged { .. } => Failure::new(ErrorCode::Backpressure, message)
                .with_remedy("Wait for earlier commands to finish, then try again."),
            Self::Protocol { code: CODE_METHOD_NOT_FOUND, .. } => {
                Failure::new(ErrorCode::UnknownMethod, message)
                    .with_remedy("This browser does not know the method; check its spelling and version.")
            }
            Self::Protocol { message: sentence, .. } if sentence == NOT_ACTIVE => {
                Failure::new(ErrorCode::TargetGone, "The page went to another document in the meantime.")
                    .with_remedy("Nothing was done. Try again.")
            }
            Self::Protocol { message: sentence, data, .. } => match data.as_deref().and_then(own_code) {
                Some(code) => Failure::new(code, sentence).with_remedy(own_hint(code)),
                None => Failure::new(ErrorCode::CdpError, message),
            },
            Self::Malformed { .. } => Failure::new(ErrorCode::CdpError, message)
                .with_remedy("The browser sent something unexpected; its version may be too new or too old."),
            Self::BadParameters { .. } => Failure::new(ErrorCode::BadArgs, message),
            Self::Missed { .. } => Failure::new(ErrorCode::Backpressure, message)
                .with_remedy("Read the present state anew; the record has a gap."),
        }
    }
}

/// What Chromium answers in the moment in which a page's document is replaced.
const NOT_ACTIVE: &str = "Not attached to an active page";

/// The code of an error that Tabwire itself answered in the browser's place.
fn own_code(data: &str) -> Option<ErrorCode> {
    serde_json::from_str(data).ok()
}

fn own_hint(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::OutcomeUnknown => {
            "It may or may not have run. The next command reaches the browser anew, or starts it."
        }
        ErrorCode::Timeout => "The browser may be busy. Try again with a longer timeout.",
        ErrorCode::Backpressure => "Wait for earlier commands to finish, then try again.",
        ErrorCode::DevtoolsOpen => {
            "Have the other debugger of that tab closed, or use another tab; trying again does not help."
        }
        ErrorCode::Detached => {
            "It may have been done in part. List the tabs to see which can still be driven."
        }
        _ => "Run `tabwire status` to see how the browser is.",
    }
}
