//! One request, as the audit log stores it. Every field has a type that cannot hold a secret by mistake.

pub(crate) mod origin;
pub(crate) mod safe_message;
pub(crate) mod summary;
pub(crate) mod visibility;

use std::time::{Duration, SystemTime};

use serde::Serialize;
use tabwire_api::{ErrorCode, SessionName, TabId};

use crate::entry::origin::Origin;
use crate::entry::safe_message::SafeMessage;
use crate::entry::summary::Summary;

/// One request.
#[derive(Clone, Debug)]
pub struct Entry {
    /// When it was received.
    pub time: SystemTime,
    /// How long it took.
    pub duration: Duration,
    /// The project its session belongs to.
    pub project: Option<String>,
    /// Its session.
    pub session: SessionName,
    /// The client that sent it.
    pub client: ClientInfo,
    /// The action's name.
    pub action: &'static str,
    /// The effect class of the action.
    pub effect: &'static str,
    /// The tab it was for.
    pub tab: Option<TabId>,
    /// The origin of the tab's page.
    pub origin: Option<Origin>,
    /// The policy decision.
    pub ruling: Ruling,
    /// How it ended.
    pub outcome: Outcome,
    /// The parameters, without secrets.
    pub parameters: Summary,
    /// The result, without secrets.
    pub changes: Summary,
    /// The run of a script that it is, or that it is a call of.
    pub run: Option<String>,
}

/// A client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientInfo {
    /// The name it gives itself.
    pub name: Option<String>,
    /// Its process id.
    pub pid: Option<i32>,
    /// The program that process runs.
    pub program: Option<String>,
    /// How it is connected.
    pub transport: Transport,
}

/// How a client is connected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// The daemon's unix socket.
    #[default]
    Socket,
    /// The loopback port.
    Port,
}

impl Transport {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Socket => "socket",
            Self::Port => "port",
        }
    }
}

/// A decision of the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Allowed.
    Allow,
    /// Denied.
    Deny,
    /// The user was asked.
    Ask,
}

impl Verdict {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Ask => "ask",
        }
    }
}

/// A verdict, its source and its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// The verdict.
    pub verdict: Verdict,
    /// The rule or profile that decided.
    pub by: &'static str,
    /// Why.
    pub reason: Option<&'static str>,
}

impl Ruling {
    /// The ruling of the `open` profile, which allows everything.
    #[must_use]
    pub const fn open() -> Self {
        Self { verdict: Verdict::Allow, by: "policy open", reason: None }
    }
}

/// How a request ended.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It succeeded.
    Done,
    /// It failed.
    Failed {
        /// The error code.
        code: ErrorCode,
        /// The message, without secrets.
        message: SafeMessage,
    },
}

impl Outcome {
    /// `ok`, or the error code.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Done => "ok",
            Self::Failed { code, .. } => code.as_str(),
        }
    }
}
