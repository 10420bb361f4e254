//! What Chrome's debugger is attached to: a tab, or a frame or worker below it (a child target).
//!
//! Chrome has one session per debuggee for all clients and reports contexts and children once. They are stored here for
//! sessions that are attached later.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tabwire_api::CdpSessionId;

use crate::link::message::ChromeTab;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DebuggeeId {
    pub(crate) tab: ChromeTab,
    /// Chrome's session id of a child target; absent for the page.
    pub(crate) child: Option<String>,
}

impl DebuggeeId {
    pub(crate) fn page(tab: ChromeTab) -> Self {
        Self { tab, child: None }
    }

    pub(crate) fn child(tab: ChromeTab, session: &str) -> Self {
        Self { tab, child: Some(session.to_owned()) }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Debuggee {
    /// Parameters of `Runtime.executionContextCreated`, by context id.
    pub(crate) contexts: BTreeMap<i64, String>,
    /// Whether `Runtime` is enabled in Chrome.
    pub(crate) reports_contexts: bool,
    /// Child targets, by Chrome's session id.
    pub(crate) children: BTreeMap<String, Child>,
    /// The `Target.setAutoAttach` that is in force in Chrome.
    pub(crate) auto_attach: Option<AutoAttach>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AutoAttach {
    pub(crate) wait: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Child {
    /// Chrome's `TargetInfo`.
    pub(crate) info: Value,
    /// Sessions that have yet to send `Runtime.runIfWaitingForDebugger`; Chrome gets it with the last one.
    pub(crate) paused_for: BTreeSet<CdpSessionId>,
    /// Sessions whose clients have not finished attaching. Their last command is `Runtime.runIfWaitingForDebugger`.
    pub(crate) initializing: BTreeSet<CdpSessionId>,
}

/// All debuggees of a browser.
#[derive(Debug, Default)]
pub(crate) struct DebuggeeTable(BTreeMap<DebuggeeId, Debuggee>);

impl DebuggeeTable {
    pub(crate) fn insert(&mut self, id: DebuggeeId) {
        self.0.insert(id, Debuggee::default());
    }

    pub(crate) fn get(&self, id: &DebuggeeId) -> Option<&Debuggee> {
        self.0.get(id)
    }

    pub(crate) fn get_mut(&mut self, id: &DebuggeeId) -> Option<&mut Debuggee> {
        self.0.get_mut(id)
    }

    pub(crate) fn contains(&self, id: &DebuggeeId) -> bool {
        self.0.contains_key(id)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn remove(&mut self, id: &DebuggeeId) {
        self.0.remove(id);
    }

    pub(crate) fn remove_tab(&mut self, tab: ChromeTab) {
        self.0.retain(|id, _| id.tab != tab);
    }

    /// All child targets in a tab, at any depth.
    pub(crate) fn children_in(&self, tab: ChromeTab) -> impl Iterator<Item = &Child> {
        self.0
            .iter()
            .filter(move |(id, _)| id.tab == tab)
            .flat_map(|(_, debuggee)| debuggee.children.values())
    }

    /// The child target that an id names; none when the id names a page.
    pub(crate) fn find_child(&self, id: &DebuggeeId) -> Option<&Child> {
        let session = id.child.as_ref()?;
        let in_tab = self.0.iter().filter(|(other, _)| other.tab == id.tab);
        in_tab.map(|(_, debuggee)| debuggee).find_map(|debuggee| debuggee.children.get(session))
    }

    pub(crate) fn find_child_mut(&mut self, id: &DebuggeeId) -> Option<&mut Child> {
        let session = id.child.as_ref()?;
        let in_tab = self.0.iter_mut().filter(|(other, _)| other.tab == id.tab);
        in_tab.map(|(_, debuggee)| debuggee).find_map(|debuggee| debuggee.children.get_mut(session))
    }
}
