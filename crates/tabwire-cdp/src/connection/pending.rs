//! Commands that wait for their responses.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use tabwire_api::CdpSessionId;
use tokio::sync::oneshot;

use crate::connection::close_reason::CloseReason;
use crate::error::{CdpError, Method};
use crate::protocol::response::Response;

/// The id of a command; unique on its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct CommandId(u64);

impl CommandId {
    pub(crate) fn new(id: u64) -> Self {
        Self(id)
    }
}

/// How a command ended.
pub(crate) type Outcome = Result<Response, CdpError>;

/// A pending command.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) session: Option<CdpSessionId>,
    pub(crate) method: Method,
    pub(crate) outcome: oneshot::Sender<Outcome>,
}

/// The command that a response belongs to.
#[derive(Debug)]
pub(crate) enum Lookup {
    /// The command was sent on the session that the response names.
    Owned(Pending),
    /// The command was sent on another session; it stays pending.
    Misrouted,
    /// No such command: the response is late, repeated or invented.
    Unknown,
}

/// All pending commands of one connection.
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

    /// Takes the command that a response belongs to; an empty session is the browser itself.
    pub(crate) fn take(&mut self, id: CommandId, session: &str) -> Lookup {
        match self.commands.get(&id) {
            None => Lookup::Unknown,
            Some(pending) if pending.session.as_ref().map_or("", CdpSessionId::as_str) != session => {
                Lookup::Misrouted
            }
            Some(_) => self.commands.remove(&id).map_or(Lookup::Unknown, Lookup::Owned),
        }
    }

    /// Removes a command whose caller dropped it. Returns whether it was pending.
    pub(crate) fn forget(&mut self, id: CommandId) -> bool {
        self.commands.remove(&id).is_some()
    }

    /// Fails every command of a detached CDP session.
    pub(crate) fn fail_session(&mut self, session: &CdpSessionId) {
        let failed = self.commands.extract_if(|_, pending| pending.session.as_ref() == Some(session));
        for (_, pending) in failed {
            let _ = pending.outcome.send(Err(CdpError::SessionGone { session: session.clone() }));
        }
    }

    /// Fails all commands: unsent ones with `Closed`, the others with `OutcomeUnknown`.
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
