//! The faults of a fake browser: one JSON object per line.
//!
//! ```text
//! {"method":"Page.navigate","do":"never"}
//! {"method":"Runtime.evaluate","do":"twice","times":1}
//! {"method":"Runtime.evaluate","do":"late","milliseconds":300}
//! {"method":"Page.reload","do":"result","result":{"ok":true}}
//! {"method":"Page.reload","do":"error","code":-32000,"message":"no"}
//! {"method":"Page.enable","do":"foreign_session","session_id":"STRANGER"}
//! {"method":"Log.enable","do":"events","event":"Log.entryAdded","count":1000,"bytes":2000}
//! {"method":"Page.captureScreenshot","do":"large","bytes":104857600}
//! {"method":"Page.enable","do":"invalid_utf8"}
//! {"method":"Page.enable","do":"exit_mid_frame"}
//! {"method":"Page.enable","do":"stall_reads","milliseconds":2000}
//! {"do":"ignore_close"}
//! {"do":"ignore_terminate"}
//! ```
//!
//! A line applies to every call of its method, or to the first `times` calls. The method
//! `@connect` means a new connection.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::limits;

/// Most bytes that one line of a fake browser's script generates. More than any client should accept.
const SCRIPTED_MESSAGE_BYTES: usize = 512 * 1024 * 1024;

/// A fault of a fake browser.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Fault {
    /// Never responds.
    Never,
    /// Responds twice.
    Twice,
    /// Responds after a delay. Other calls get their responses meanwhile.
    Late {
        /// The delay.
        milliseconds: u64,
    },
    /// Responds with this result.
    Result {
        /// The result.
        result: Value,
    },
    /// Responds with this protocol error.
    Error {
        /// The error code.
        code: i64,
        /// The error message.
        message: String,
    },
    /// Responds on a CDP session that the caller does not have.
    ForeignSession {
        /// The id of that session.
        session_id: String,
    },
    /// Emits events on the caller's CDP session, then responds.
    Events {
        /// The events' method.
        event: String,
        /// The number of events.
        count: u32,
        /// Length of the filler in each event.
        bytes: usize,
    },
    /// Responds with a message of this length.
    Large {
        /// Length of the filler in the result.
        bytes: usize,
    },
    /// Sends a frame that is not UTF-8, then responds.
    InvalidUtf8,
    /// Writes half of the response and exits.
    ExitMidFrame,
    /// Stops reading for a time, then responds. Without a time it never reads again.
    StallReads {
        /// The time.
        milliseconds: Option<u64>,
    },
    /// Responds to `Browser.close` and keeps running.
    IgnoreClose,
    /// Ignores SIGTERM.
    IgnoreTerminate,
}

#[derive(Clone, Debug, Deserialize)]
struct Line {
    method: Option<String>,
    times: Option<u32>,
    #[serde(flatten)]
    fault: Fault,
}

/// A whole script.
#[derive(Clone, Debug, Default)]
pub struct Script {
    lines: Vec<Line>,
}

impl Script {
    /// Parses a script. An error contains the line number.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut script = Self::default();
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let line =
                serde_json::from_str::<Line>(line).map_err(|error| format!("line {}: {error}", index + 1))?;
            if line.method.is_none() && !line.fault.is_global() {
                return Err(format!("line {}: this fault needs a method", index + 1));
            }
            if line.fault.scripted_bytes() > SCRIPTED_MESSAGE_BYTES {
                return Err(format!("line {}: more bytes than a fake browser may make up", index + 1));
            }
            script.lines.push(line);
        }
        Ok(script)
    }

    /// Takes the next fault for a call of this method, if any.
    pub(crate) fn take(&mut self, method: &str) -> Option<Fault> {
        let line = self
            .lines
            .iter_mut()
            .find(|line| line.method.as_deref() == Some(method) && line.times != Some(0))?;
        line.times = line.times.map(|left| left - 1);
        Some(line.fault.clone())
    }

    /// Whether the script contains a fault without a method.
    #[must_use]
    pub fn has(&self, fault: &Fault) -> bool {
        self.lines.iter().any(|line| line.fault == *fault)
    }
}

impl Fault {
    fn is_global(&self) -> bool {
        matches!(self, Self::IgnoreClose | Self::IgnoreTerminate)
    }

    fn scripted_bytes(&self) -> usize {
        match self {
            Self::Large { bytes } => *bytes,
            Self::Events { count, bytes, .. } => {
                // Counts an envelope for every event, so that the number of events is bounded too.
                usize::try_from(*count).unwrap_or(usize::MAX).saturating_mul(bytes.saturating_add(100))
            }
            _ => 0,
        }
    }
}

/// The duration of a script's milliseconds. Default: the fake browser's whole life.
pub(crate) fn duration(milliseconds: Option<u64>) -> Duration {
    milliseconds.map_or(limits::FAKE_BROWSER_LIFE, Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_with_times_applies_that_often_then_the_next() {
        let text =
            "{\"method\":\"A.b\",\"do\":\"never\",\"times\":1}\n\n{\"method\":\"A.b\",\"do\":\"twice\"}";
        let mut script = Script::parse(text).expect("valid");
        assert_eq!(script.take("A.b"), Some(Fault::Never));
        assert_eq!(script.take("A.b"), Some(Fault::Twice));
        assert_eq!(script.take("A.b"), Some(Fault::Twice));
        assert_eq!(script.take("A.c"), None);
    }

    #[test]
    fn invalid_line_is_reported_with_its_number() {
        let error =
            Script::parse("{\"do\":\"ignore_close\"}\n{\"do\":\"dance\"}").expect_err("unknown fault");
        assert!(error.starts_with("line 2"), "{error}");
        assert!(Script::parse("{\"do\":\"never\"}").is_err());
    }

    #[test]
    fn generated_messages_are_bounded() {
        let large = r#"{"method":"A.b","do":"large","bytes":99999999999}"#;
        assert!(Script::parse(large).is_err());
        let events = r#"{"method":"A.b","do":"events","event":"A.c","count":4000000000,"bytes":0}"#;
        assert!(Script::parse(events).is_err());
        assert!(Script::parse(r#"{"method":"A.b","do":"large","bytes":104857600}"#).is_ok());
    }
}
