//! The table of CDP sessions: creates ids, and finds sessions by target, by parent and by what they subscribed to.

use std::collections::BTreeMap;

use tabwire_api::CdpSessionId;

use crate::link::message::ChromeTab;
use crate::session::virtual_session::{Discovery, SessionTarget, VirtualSession};
use crate::target::debuggee::DebuggeeId;

#[derive(Debug)]
pub(crate) struct SessionTable {
    /// Prefix of session ids, so that ids of two browsers never collide.
    scope: String,
    last: u64,
    /// Ids have a fixed width, so the map is in order of creation.
    by_id: BTreeMap<CdpSessionId, VirtualSession>,
}

impl SessionTable {
    pub(crate) fn new(scope: &str) -> Self {
        Self { scope: scope.to_owned(), last: 0, by_id: BTreeMap::new() }
    }

    pub(crate) fn add(&mut self, session: VirtualSession) -> CdpSessionId {
        self.last += 1;
        let id = CdpSessionId::new(&format!("{}-{:08}", self.scope, self.last));
        self.by_id.insert(id.clone(), session);
        id
    }

    pub(crate) fn get(&self, id: &CdpSessionId) -> Option<&VirtualSession> {
        self.by_id.get(id)
    }

    pub(crate) fn get_mut(&mut self, id: &CdpSessionId) -> Option<&mut VirtualSession> {
        self.by_id.get_mut(id)
    }

    pub(crate) fn contains(&self, id: &CdpSessionId) -> bool {
        self.by_id.contains_key(id)
    }

    pub(crate) fn remove(&mut self, id: &CdpSessionId) -> Option<VirtualSession> {
        self.by_id.remove(id)
    }

    pub(crate) fn clear(&mut self) {
        self.by_id.clear();
    }

    /// Sessions on pages and child targets.
    pub(crate) fn page_session_count(&self) -> usize {
        self.by_id.values().filter(|session| session.debuggee().is_some()).count()
    }

    /// Ids of the sessions that match, in order of creation.
    fn ids(&self, matches: impl Fn(&VirtualSession) -> bool) -> Vec<CdpSessionId> {
        self.by_id.iter().filter(|(_, session)| matches(session)).map(|(id, _)| id.clone()).collect()
    }

    /// Sessions on one page or child target.
    pub(crate) fn on(&self, debuggee_id: &DebuggeeId) -> Vec<CdpSessionId> {
        self.ids(|session| session.debuggee() == Some(debuggee_id))
    }

    /// Sessions on one page or child target that match.
    pub(crate) fn on_where(
        &self,
        debuggee_id: &DebuggeeId,
        matches: impl Fn(&VirtualSession) -> bool,
    ) -> Vec<CdpSessionId> {
        self.ids(|session| session.debuggee() == Some(debuggee_id) && matches(session))
    }

    /// Whether a session on a page or child target matches.
    pub(crate) fn any_on(&self, debuggee_id: &DebuggeeId, matches: impl Fn(&VirtualSession) -> bool) -> bool {
        self.by_id.values().any(|session| session.debuggee() == Some(debuggee_id) && matches(session))
    }

    /// Whether a session other than `this` on the same page or child target has enabled a domain.
    pub(crate) fn others_enabled(&self, debuggee_id: &DebuggeeId, this: &CdpSessionId, domain: &str) -> bool {
        self.by_id.iter().any(|(id, other)| {
            id != this && other.debuggee() == Some(debuggee_id) && other.domains.contains(domain)
        })
    }

    /// Sessions on a tab, on its page and on the child targets of the page.
    pub(crate) fn in_tab(
        &self,
        tab: ChromeTab,
        matches: impl Fn(&VirtualSession) -> bool,
    ) -> Vec<CdpSessionId> {
        self.ids(|session| session.tab() == Some(tab) && matches(session))
    }

    /// Sessions that were attached through `parent`.
    pub(crate) fn children_of(&self, parent: &CdpSessionId) -> Vec<CdpSessionId> {
        self.ids(|session| session.parent.as_ref() == Some(parent))
    }

    /// Whether a session has used the page of a tab, so that the debugger has to stay attached.
    pub(crate) fn uses_tab(&self, tab: ChromeTab) -> bool {
        self.by_id
            .values()
            .any(|session| session.used && session.debuggee().is_some_and(|debuggee| debuggee.tab == tab))
    }

    /// Whether a session is on the tab target of a tab.
    pub(crate) fn has_tab_target_session(&self, tab: ChromeTab) -> bool {
        self.by_id.values().any(|session| matches!(session.target, SessionTarget::Tab(on) if on == tab))
    }

    /// Browser sessions with `Target.setDiscoverTargets`.
    pub(crate) fn discovering(&self) -> Vec<(CdpSessionId, Discovery)> {
        let discovering = self.by_id.iter().filter_map(|(id, session)| match session.target {
            SessionTarget::Browser { discover, .. } if discover != Discovery::Nothing => {
                Some((id.clone(), discover))
            }
            _ => None,
        });
        discovering.collect()
    }

    /// Browser sessions with `Target.setAutoAttach`.
    pub(crate) fn auto_attaching(&self) -> Vec<CdpSessionId> {
        self.ids(|session| matches!(session.target, SessionTarget::Browser { auto_attach: true, .. }))
    }

    /// Browser sessions that receive download events.
    pub(crate) fn receiving_downloads(&self) -> Vec<CdpSessionId> {
        self.ids(|session| matches!(session.target, SessionTarget::Browser { downloads: true, .. }))
    }

    /// Whether a session is the hub's control session: the only one that discovers targets.
    pub(crate) fn is_control_session(&self, session: Option<&CdpSessionId>) -> bool {
        let target = session.and_then(|session| self.by_id.get(session)).map(|found| &found.target);
        matches!(target, Some(SessionTarget::Browser { discover, .. }) if *discover != Discovery::Nothing)
    }

    /// The subscriptions of a browser session, to change them.
    pub(crate) fn browser_target_mut(
        &mut self,
        session: Option<&CdpSessionId>,
    ) -> Option<&mut SessionTarget> {
        let target = &mut self.by_id.get_mut(session?)?.target;
        matches!(target, SessionTarget::Browser { .. }).then_some(target)
    }
}
