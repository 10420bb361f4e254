//! The CDP sessions of the hub.

use std::collections::{BTreeMap, BTreeSet};

use tabwire_api::CdpSessionId;

/// What a session is attached to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SessionTarget {
    Browser,
    /// A tab, by its context.
    Page(String),
}

/// One session.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) parent: Option<CdpSessionId>,
    pub(crate) target: SessionTarget,
    pub(crate) discovers: bool,
    /// Whether it is attached to every new tab, and whether those wait for it.
    pub(crate) auto_attach: Option<bool>,
    pub(crate) domains: BTreeSet<String>,
    pub(crate) lifecycle: bool,
    /// Whether the tab's first navigation waits for this session.
    pub(crate) is_waiting: bool,
    /// BiDi's ids of preload scripts, by the id that the client has. `None` until it is known.
    pub(crate) scripts: BTreeMap<String, Option<String>>,
    pub(crate) bindings: BTreeSet<String>,
    pub(crate) fetch: Option<FetchState>,
    pub(crate) choosers: bool,
    pub(crate) downloads: bool,
    /// Whether the client has had a response since the tab shows its document. Until then its input may be meant for the
    /// former one.
    pub(crate) knows_document: bool,
}

/// `Fetch.enable` of a session.
#[derive(Debug, Default)]
pub(crate) struct FetchState {
    pub(crate) patterns: Vec<FetchPattern>,
    pub(crate) handles_auth: bool,
    /// BiDi's ids of the intercepts.
    pub(crate) intercepts: Vec<String>,
    /// Distinguishes it from a later `Fetch.enable` of the same session.
    pub(crate) turn: u64,
}

/// A pattern of `Fetch.enable`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FetchPattern {
    pub(crate) url: String,
    pub(crate) kind: Option<String>,
    pub(crate) is_response: bool,
}

impl Session {
    pub(crate) fn new(parent: Option<CdpSessionId>, target: SessionTarget) -> Self {
        Self {
            parent,
            target,
            discovers: false,
            auto_attach: None,
            domains: BTreeSet::new(),
            lifecycle: false,
            is_waiting: false,
            scripts: BTreeMap::new(),
            bindings: BTreeSet::new(),
            fetch: None,
            choosers: false,
            downloads: false,
            knows_document: true,
        }
    }

    pub(crate) fn tab(&self) -> Option<&str> {
        match &self.target {
            SessionTarget::Page(tab) => Some(tab),
            SessionTarget::Browser => None,
        }
    }
}

/// All sessions, and the hub's own state without a session id.
#[derive(Debug)]
pub(crate) struct SessionTable {
    scope: String,
    last: u64,
    sessions: BTreeMap<CdpSessionId, Session>,
    pub(crate) root: Session,
}

impl SessionTable {
    pub(crate) fn new(scope: &str) -> Self {
        Self {
            scope: scope.to_owned(),
            last: 0,
            sessions: BTreeMap::new(),
            root: Session::new(None, SessionTarget::Browser),
        }
    }

    pub(crate) fn add(&mut self, session: Session) -> CdpSessionId {
        self.last += 1;
        let id = CdpSessionId::new(format!("{}{:012X}", self.scope, self.last).as_str());
        self.sessions.insert(id.clone(), session);
        id
    }

    pub(crate) fn find(&self, id: Option<&CdpSessionId>) -> Option<&Session> {
        match id {
            Some(id) => self.sessions.get(id),
            None => Some(&self.root),
        }
    }

    pub(crate) fn find_mut(&mut self, id: Option<&CdpSessionId>) -> Option<&mut Session> {
        match id {
            Some(id) => self.sessions.get_mut(id),
            None => Some(&mut self.root),
        }
    }

    pub(crate) fn remove(&mut self, id: &CdpSessionId) -> Option<Session> {
        self.sessions.remove(id)
    }

    /// The sessions that satisfy a test, in the order of their creation.
    pub(crate) fn ids_where(&self, test: impl Fn(&Session) -> bool) -> Vec<CdpSessionId> {
        self.sessions.iter().filter(|(_, session)| test(session)).map(|(id, _)| id.clone()).collect()
    }

    pub(crate) fn on_tab(&self, tab: &str) -> Vec<CdpSessionId> {
        self.ids_where(|session| session.tab() == Some(tab))
    }

    pub(crate) fn children_of(&self, parent: &CdpSessionId) -> Vec<CdpSessionId> {
        self.ids_where(|session| session.parent.as_ref() == Some(parent))
    }

    /// Browser sessions, with the hub's root, that satisfy a test.
    pub(crate) fn browser_sessions(&self, test: impl Fn(&Session) -> bool) -> Vec<Option<CdpSessionId>> {
        let root = test(&self.root).then_some(None);
        let is_browser = |session: &Session| session.target == SessionTarget::Browser && test(session);
        root.into_iter().chain(self.ids_where(is_browser).into_iter().map(Some)).collect()
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (&CdpSessionId, &Session)> {
        self.sessions.iter()
    }
}
