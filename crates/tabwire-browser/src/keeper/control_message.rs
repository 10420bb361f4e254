//! What is said on a keeper's socket: one JSON object a line. Knows no sockets.

use serde::{Deserialize, Serialize};
use tabwire_api::{Failure, InstanceId};

use crate::process::identity::ProcessIdentity;

/// What a keeper can be asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ControlRequest {
    /// Who are you and how is the browser?
    Hello {},
    /// Give me the browser's pipe, for as long as this connection lives.
    Claim {
        /// Who asks; shown to others who are refused.
        holder: InstanceId,
    },
    /// Remember this for the next holder; only the holder may say it.
    Note {
        /// The holder's own browser-level cdp session, or nothing.
        control_session: Option<String>,
    },
    /// End the browser and answer when it is verified gone.
    Stop {
        /// How long it may take to close by itself; the launch's own when absent.
        #[serde(default)]
        grace_ms: Option<u64>,
    },
    /// What did the browser write to stderr lately?
    Stderr {},
}

/// What a keeper answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ControlResponse {
    /// Who the keeper is and how the browser is.
    Hello {
        /// The keeper's run; compare it with the descriptor's.
        instance: InstanceId,
        /// The browser's pid, for reading.
        browser_pid: i32,
        /// The browser, for signalling.
        browser: ProcessIdentity,
        /// What the browser is doing.
        state: KeeperState,
        /// The note of the last holder.
        control_session: Option<String>,
    },
    /// The pipe's two ends come with this line: first to the browser, then from it.
    Claimed {
        /// The keeper's run.
        instance: InstanceId,
        /// The browser.
        browser: ProcessIdentity,
        /// The note of the last holder.
        control_session: Option<String>,
    },
    /// The note is kept.
    Noted {},
    /// The browser is verified gone, and its files with it.
    Stopped {},
    /// The latest of the browser's stderr.
    Stderr {
        /// As text; what is no UTF-8 is replaced.
        text: String,
    },
    /// It cannot be done.
    Refused(Failure),
}

/// What a kept browser is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeeperState {
    /// It has not answered yet.
    Starting,
    /// It runs and nobody holds it.
    Unclaimed,
    /// It runs and somebody holds it.
    Claimed,
    /// It is being ended.
    Stopping,
}
