//! The messages on a keeper's socket: one JSON object per line.

use serde::{Deserialize, Serialize};
use tabwire_api::{Failure, InstanceId};

use crate::process::identity::ProcessIdentity;

/// The WebDriver session of a Firefox that its keeper holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BidiSession {
    /// The websocket of the session. A process that knows it can drive the browser.
    pub url: String,
    /// The first tab, which keeps the browser open.
    pub anchor: Option<String>,
    /// `Firefox/153.0`.
    pub product: String,
    /// Its user agent.
    pub user_agent: String,
}

/// A request to a keeper.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ControlRequest {
    /// Requests the keeper's identity and the browser's state.
    Hello {},
    /// Claims the browser's pipe for as long as this connection is open.
    Claim {
        /// The client that claims. Shown to other clients whose claim is refused.
        holder: InstanceId,
    },
    /// Stores a note for the next holder. Only the holder may send it.
    Note {
        /// The holder's browser-level CDP session, if any.
        control_session: Option<String>,
    },
    /// Ends the browser. The response comes when it is verified gone.
    Stop {
        /// How long the browser may take to close before it is killed. Default: the value of the launch.
        #[serde(default)]
        grace_ms: Option<u64>,
    },
    /// Requests the latest stderr output of the browser.
    Stderr {},
}

/// A response of a keeper.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ControlResponse {
    /// The keeper's identity and the browser's state.
    Hello {
        /// The keeper's run, to compare with the descriptor.
        instance: InstanceId,
        /// The browser's pid, for display.
        browser_pid: i32,
        /// The browser's process, for signals.
        browser: ProcessIdentity,
        /// The state of the browser.
        state: KeeperState,
        /// The note of the last holder.
        control_session: Option<String>,
    },
    /// The pipe's two ends arrive with this line: first the write end, then the read end.
    Claimed {
        /// The keeper's run.
        instance: InstanceId,
        /// The browser.
        browser: ProcessIdentity,
        /// The note of the last holder.
        control_session: Option<String>,
        /// The session of a Firefox, which is driven by it instead of the pipe.
        #[serde(default)]
        bidi: Option<BidiSession>,
    },
    /// The note is stored.
    Noted {},
    /// The browser is verified gone and its files are removed.
    Stopped {},
    /// The latest stderr output of the browser.
    Stderr {
        /// As text. Invalid UTF-8 is replaced.
        text: String,
    },
    /// The request failed.
    Refused(Failure),
}

/// The state of a kept browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeeperState {
    /// It has not responded yet.
    Starting,
    /// It runs without a holder.
    Unclaimed,
    /// It runs with a holder.
    Claimed,
    /// It is being ended.
    Stopping,
}
