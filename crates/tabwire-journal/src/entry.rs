//! What is written down of one request. Every field is of a type that cannot hold a secret by mistake.

use std::time::{Duration, SystemTime};

use serde::Serialize;
use tabwire_wire::{ErrorCode, SessionName, TabId};

use crate::origin::Origin;
use crate::safe_message::SafeMessage;
use crate::summary::Summary;

/// One request, as it is written down.
#[derive(Clone, Debug)]
pub struct Entry {
    /// When it came.
    pub time: SystemTime,
    /// How long it took.
    pub duration: Duration,
    /// The project its session belongs to.
    pub project: Option<String>,
    /// Its session.
    pub session: SessionName,
    /// Who asked.
    pub asker: Asker,
    /// What was asked for: an action's name.
    pub action: &'static str,
    /// What that does to the world.
    pub effect: &'static str,
    /// The tab it was for.
    pub tab: Option<TabId>,
    /// Where the tab's page came from.
    pub origin: Option<Origin>,
    /// Whether it was allowed, and who said so.
    pub ruling: Ruling,
    /// How it ended.
    pub outcome: Outcome,
    /// What was asked, without secrets.
    pub parameters: Summary,
    /// What came of it, without secrets.
    pub changes: Summary,
}

/// Who asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asker {
    /// What it calls itself.
    pub name: Option<String>,
    /// Its process.
    pub pid: Option<i32>,
    /// The program that process runs.
    pub program: Option<String>,
    /// Where it came in.
    pub door: Door,
}

/// Where a request came in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Door {
    /// The daemon's socket.
    #[default]
    Socket,
    /// The loopback port.
    Port,
}

impl Door {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Socket => "socket",
            Self::Port => "port",
        }
    }
}

/// Whether a request was allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It was.
    Allow,
    /// It was not.
    Deny,
    /// Somebody was asked.
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

/// A verdict, who gave it and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// The verdict.
    pub verdict: Verdict,
    /// Who or what decided.
    pub by: &'static str,
    /// Why.
    pub reason: Option<&'static str>,
}

impl Ruling {
    /// The ruling of the profile that allows everything.
    #[must_use]
    pub const fn open() -> Self {
        Self { verdict: Verdict::Allow, by: "profile open", reason: None }
    }
}

/// How a request ended.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// As asked.
    Done,
    /// It failed.
    Failed {
        /// How.
        code: ErrorCode,
        /// In words.
        message: SafeMessage,
    },
}

impl Outcome {
    /// `ok`, or the error's code.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Done => "ok",
            Self::Failed { code, .. } => code.as_str(),
        }
    }
}
