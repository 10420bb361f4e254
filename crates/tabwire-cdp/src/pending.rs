//! Commands that wait for their answers. Knows nothing of sockets.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use tabwire_wire::CdpSessionId;
use tokio::sync::oneshot;

use crate::answer::Answer;
use crate::close_reason::CloseReason;
use crate::error::{CdpError, Method};

/// The number a command carries on one connection; never used twice on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct CommandId(u64);

impl CommandId {
    pub(crate) fn new(id: u64) -> Self {
        Self(id)
    }
}

/// How one command ended.
pub(crate) type Outcome = Result<Answer, CdpError>;

/// One command under way.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) session: Option<CdpSessionId>,
    pub(crate) method: Method,
    pub(crate) outcome: oneshot::Sender<Outcome>,
}

/// What became of an attempt to find an answer's owner.
#[derive(Debug)]
pub(crate) enum Claim {
    /// The command waited on that very cdp session.
    Owned(Pending),
    /// The command was asked on another cdp session; it goes on waiting.
    Misrouted,
    /// Nobody waits: late, doubled or invented.
    Unknown,
}

/// All commands under way on one connection.
#[derive(Debug, Default)]
pub(crate) struct PendingCommands {
    commands: HashMap<CommandId, Pending>,
}

impl PendingCommands {
    pub(crate) fn insert(&mut self, id: CommandId, pending: Pending) {
        self.commands.insert(id, pending);
    }

    pub(crate) fn len(&self) -> usize {
        self.commands.len()
    }

    /// Takes the command an answer belongs to; an empty session text is the browser itself.
    pub(crate) fn take_answered(&mut self, id: CommandId, session: &str) -> Claim {
        match self.commands.get(&id) {
            None => Claim::Unknown,
            Some(pending) if pending.session.as_ref().map_or("", CdpSessionId::as_str) != session => {
                Claim::Misrouted
            }
            Some(_) => self.commands.remove(&id).map_or(Claim::Unknown, Claim::Owned),
        }
    }

    /// Removes a command whose caller left; says whether it was still waiting.
    pub(crate) fn forget(&mut self, id: CommandId) -> bool {
        self.commands.remove(&id).is_some()
    }

    /// Fails every command asked on a cdp session that is gone.
    pub(crate) fn fail_session(&mut self, session: &CdpSessionId) {
        let of_session = self.commands.extract_if(|_, pending| pending.session.as_ref() == Some(session));
        for (_, pending) in of_session {
            let _ = pending.outcome.send(Err(CdpError::SessionGone { session: session.clone() }));
        }
    }

    /// Fails everything: what was never sent as `Closed`, the rest as `OutcomeUnknown`.
    pub(crate) fn fail_all(&mut self, reason: &CloseReason, unsent: &HashSet<CommandId>) {
        for (id, pending) in self.commands.drain() {
            let reason = reason.clone();
            let error = if unsent.contains(&id) {
                CdpError::Closed { reason }
            } else {
                CdpError::OutcomeUnknown { method: pending.method, reason }
            };
            let _ = pending.outcome.send(Err(error));
        }
    }
}
