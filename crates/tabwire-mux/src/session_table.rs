//! Cdp sessions: who owns each, and which came from which.

use std::collections::HashMap;

use tabwire_wire::{CdpSessionId, ClientId, TargetId};

use crate::filter::TargetFilter;

/// Whose a cdp session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionOwner {
    /// The mux's own.
    House,
    /// A client's.
    Client(ClientId),
}

/// What a client asked for with browser-level `Target.setAutoAttach`.
#[derive(Clone, Debug)]
pub(crate) struct AutoAttach {
    pub(crate) wait: bool,
    pub(crate) filter: TargetFilter,
}

/// What a cdp session is attached to.
#[derive(Clone, Debug)]
pub(crate) enum SessionKind {
    /// The browser as a whole, with the client's wishes.
    Browser { discover: Option<TargetFilter>, auto_attach: Option<AutoAttach> },
    /// One target.
    Target {
        target: TargetId,
        /// Whether the mux attached it for `setAutoAttach`.
        auto: bool,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) owner: SessionOwner,
    pub(crate) parent: Option<CdpSessionId>,
    pub(crate) kind: SessionKind,
}

impl Session {
    pub(crate) fn target(&self) -> Option<&TargetId> {
        match &self.kind {
            SessionKind::Target { target, .. } => Some(target),
            SessionKind::Browser { .. } => None,
        }
    }

    pub(crate) fn is_browser(&self) -> bool {
        matches!(self.kind, SessionKind::Browser { .. })
    }
}

#[derive(Debug, Default)]
pub(crate) struct SessionTable {
    sessions: HashMap<CdpSessionId, Session>,
}

impl SessionTable {
    pub(crate) fn insert(&mut self, id: CdpSessionId, session: Session) {
        self.sessions.insert(id, session);
    }

    pub(crate) fn find(&self, id: &str) -> Option<&Session> {
        self.sessions.get(id)
    }

    pub(crate) fn find_entry(&self, id: &str) -> Option<(&CdpSessionId, &Session)> {
        self.sessions.get_key_value(id)
    }

    pub(crate) fn find_mut(&mut self, id: &str) -> Option<&mut Session> {
        self.sessions.get_mut(id)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&CdpSessionId, &Session)> {
        self.sessions.iter()
    }

    pub(crate) fn clear(&mut self) {
        self.sessions.clear();
    }

    /// Removes a session and everything that was attached through it.
    pub(crate) fn take_tree(&mut self, id: &CdpSessionId) -> Vec<(CdpSessionId, Session)> {
        let mut taken = Vec::new();
        if let Some(session) = self.sessions.remove(id) {
            taken.push((id.clone(), session));
        }
        let mut next = 0;
        while let Some((parent, _)) = taken.get(next) {
            let children: Vec<CdpSessionId> = self
                .sessions
                .iter()
                .filter(|(_, session)| session.parent.as_ref() == Some(parent))
                .map(|(id, _)| id.clone())
                .collect();
            for child in children {
                if let Some(session) = self.sessions.remove(&child) {
                    taken.push((child, session));
                }
            }
            next += 1;
        }
        taken
    }

    /// A client's browser-level cdp sessions.
    pub(crate) fn browser_sessions(&self) -> impl Iterator<Item = (&CdpSessionId, ClientId, &SessionKind)> {
        self.sessions.iter().filter_map(|(id, session)| match session.owner {
            SessionOwner::Client(client) if session.is_browser() => Some((id, client, &session.kind)),
            _ => None,
        })
    }
}
