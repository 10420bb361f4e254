//! CDP sessions, with their owners and parents.

use std::collections::BTreeMap;

use serde_json::Value;
use tabwire_api::{CdpSessionId, ClientId, TargetId};
use tabwire_cdp::TargetFilter;

use crate::guard::session_watch::SessionWatch;
use crate::session::page_settings::PageSettings;

/// The owner of a CDP session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionOwner {
    /// The mux itself.
    Control,
    /// A client.
    Client(ClientId),
}

/// A client's options of browser-level `Target.setAutoAttach`.
#[derive(Clone, Debug)]
pub(crate) struct AutoAttach {
    pub(crate) wait: bool,
    pub(crate) filter: TargetFilter,
}

/// The target of a CDP session.
#[derive(Clone, Debug)]
pub(crate) enum SessionKind {
    /// The browser, with the client's auto-attach options.
    Browser { auto_attach: Option<AutoAttach> },
    /// One target.
    Target {
        target: TargetId,
        /// Whether the mux attached it for `setAutoAttach`.
        auto: bool,
        settings: PageSettings,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) owner: SessionOwner,
    pub(crate) parent: Option<CdpSessionId>,
    pub(crate) kind: SessionKind,
    /// The targets that its client discovers on it.
    pub(crate) discover: Option<TargetFilter>,
    /// The contexts, requests and streams that it has received, for a guarded client.
    pub(crate) watch: Box<SessionWatch>,
    /// Whether its client has enabled the Page domain, and so handles dialogs.
    pub(crate) has_page_on: bool,
    /// Whether the browser attached it through the control session, and the mux gave it to its client.
    pub(crate) is_handed_over: bool,
}

impl Session {
    /// A session on the browser target.
    pub(crate) fn on_browser(owner: SessionOwner, parent: Option<CdpSessionId>) -> Self {
        Self::new(owner, parent, SessionKind::Browser { auto_attach: None })
    }

    /// A session on one target.
    pub(crate) fn on_target(
        owner: SessionOwner,
        parent: Option<CdpSessionId>,
        target: TargetId,
        auto: bool,
    ) -> Self {
        let kind = SessionKind::Target { target, auto, settings: PageSettings::default() };
        Self::new(owner, parent, kind)
    }

    /// A session of the mux on one target that becomes a client's. In the browser its parent stays the control
    /// session.
    pub(crate) fn handed_over(client: ClientId, browser_session: CdpSessionId, target: TargetId) -> Self {
        let owner = SessionOwner::Client(client);
        Self { is_handed_over: true, ..Self::on_target(owner, Some(browser_session), target, true) }
    }

    fn new(owner: SessionOwner, parent: Option<CdpSessionId>, kind: SessionKind) -> Self {
        Self {
            owner,
            parent,
            kind,
            discover: None,
            watch: Box::default(),
            has_page_on: false,
            is_handed_over: false,
        }
    }

    pub(crate) fn target(&self) -> Option<&TargetId> {
        match &self.kind {
            SessionKind::Target { target, .. } => Some(target),
            SessionKind::Browser { .. } => None,
        }
    }

    pub(crate) fn is_browser(&self) -> bool {
        matches!(self.kind, SessionKind::Browser { .. })
    }

    /// Whether the mux attached it for `setAutoAttach`.
    pub(crate) fn is_auto(&self) -> bool {
        matches!(self.kind, SessionKind::Target { auto: true, .. })
    }

    /// The auto-attach options of its client.
    pub(crate) fn auto_attach(&self) -> Option<&AutoAttach> {
        match &self.kind {
            SessionKind::Browser { auto_attach } => auto_attach.as_ref(),
            SessionKind::Target { .. } => None,
        }
    }

    pub(crate) fn client(&self) -> Option<ClientId> {
        match self.owner {
            SessionOwner::Client(client) => Some(client),
            SessionOwner::Control => None,
        }
    }
}

/// Ordered maps, so that the mux is deterministic.
#[derive(Debug, Default)]
pub(crate) struct SessionTable {
    sessions: BTreeMap<CdpSessionId, Session>,
    /// The `TargetInfo` of the browser target that each browser-level session is attached to.
    browser_targets: BTreeMap<CdpSessionId, Value>,
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
        self.browser_targets.clear();
    }

    /// A browser-level session is attached to this browser target.
    pub(crate) fn set_browser_target(&mut self, session: CdpSessionId, info: Value) {
        self.browser_targets.insert(session, info);
    }

    pub(crate) fn browser_target(&self, session: &CdpSessionId) -> Option<&Value> {
        self.browser_targets.get(session)
    }

    /// Removes a session and all sessions attached through it, parents before children.
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
        for (session, _) in &taken {
            self.browser_targets.remove(session);
        }
        taken
    }

    /// Clients' sessions with auto-attach on.
    pub(crate) fn auto_attaching(&self) -> Vec<(CdpSessionId, ClientId)> {
        let wanting = |(id, session): (&CdpSessionId, &Session)| {
            let client = session.client().filter(|_| session.auto_attach().is_some())?;
            Some((id.clone(), client))
        };
        self.sessions.iter().filter_map(wanting).collect()
    }

    /// The mux's own sessions on targets.
    pub(crate) fn internal_target_sessions(&self) -> Vec<CdpSessionId> {
        let is_internal =
            |session: &Session| session.owner == SessionOwner::Control && session.target().is_some();
        self.iter().filter(|(_, session)| is_internal(session)).map(|(id, _)| id.clone()).collect()
    }

    /// The browser-level session through which a session was attached; itself if it is one.
    pub(crate) fn browser_session_of(&self, session: &CdpSessionId) -> Option<&CdpSessionId> {
        let mut at = self.sessions.get_key_value(session)?;
        // The bound ends a cycle, which a broken browser could announce.
        for _ in 0..64 {
            if at.1.is_browser() {
                return Some(at.0);
            }
            at = self.sessions.get_key_value(at.1.parent.as_ref()?)?;
        }
        None
    }

    /// The number of sessions above a session.
    pub(crate) fn depth(&self, session: &CdpSessionId) -> usize {
        let parent = |id: &CdpSessionId| self.sessions.get(id)?.parent.clone();
        // The bound ends a cycle, which a broken browser could announce.
        std::iter::successors(parent(session), parent).take(64).count()
    }

    /// The execution contexts of a target's previous document are gone.
    pub(crate) fn forget_contexts(&mut self, target: &TargetId) {
        for session in self.sessions.values_mut().filter(|session| session.target() == Some(target)) {
            session.watch.forget_contexts();
        }
    }

    /// Whether a client handles the dialogs of a target.
    pub(crate) fn has_page_on(&self, target: &TargetId) -> bool {
        self.sessions.values().any(|session| session.has_page_on && session.target() == Some(target))
    }

    /// Whether some client is attached to a target.
    pub(crate) fn is_entered(&self, target: &str) -> bool {
        let is_it = |session: &Session| session.target().is_some_and(|attached| attached.as_str() == target);
        self.sessions.values().any(|session| session.client().is_some() && is_it(session))
    }

    /// Whether a client is attached to a target.
    pub(crate) fn is_attached(&self, client: ClientId, target: &str) -> bool {
        self.sessions.values().any(|session| {
            session.owner == SessionOwner::Client(client)
                && session.target().is_some_and(|attached| attached.as_str() == target)
        })
    }
}
