//! One cdp session as the hub sees it. The browser knows nothing of it: to the browser there is one session for each
//! tab.

use std::collections::{BTreeMap, BTreeSet};

use tabwire_wire::CdpSessionId;

use crate::debuggee::{AutoAttach, DebuggeeId};
use crate::journal::Journal;
use crate::link_message::ChromeTab;
use crate::made_up_world::MadeUpWorlds;
use crate::page_command::Waiting;
use crate::part_filter::PartFilter;

/// What a cdp session is on.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// The browser as a whole.
    Browser {
        /// Which targets it hears of.
        discover: Discovery,
        /// Whether it is attached to every page.
        auto_attach: bool,
        /// Whether it hears of downloads.
        downloads: bool,
    },
    /// A tab itself, in which the page is.
    Tab(ChromeTab),
    /// The page of a tab, or a part of it.
    Page(DebuggeeId),
}

/// Which targets a session hears of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Discovery {
    Nothing,
    Pages,
    /// Pages, and the tabs they are in.
    PagesAndTabs,
}

#[derive(Debug)]
pub(crate) struct VirtualSession {
    pub(crate) parent: Option<CdpSessionId>,
    pub(crate) place: Place,
    /// Whether it ever needed the page; one that did not keeps no debugger on.
    pub(crate) touched: bool,
    /// Domains whose events it gets.
    pub(crate) domains: BTreeSet<String>,
    /// What it has set up, in order.
    pub(crate) journal: Journal,
    /// Worlds that it was told of before the tab was attached.
    pub(crate) worlds: MadeUpWorlds,
    /// Commands that name a world which the browser has yet to tell of, and all that came after them.
    pub(crate) held: Vec<Waiting>,
    /// Whether it was given the tree of an untouched tab, and so knows the main frame only.
    pub(crate) told_tree: bool,
    pub(crate) auto_attach: Option<AutoAttach>,
    /// Which of the frames and workers below its page it hears of.
    pub(crate) parts: PartFilter,
    /// Scripts for new documents: the names it was given, and the browser's own once they are known.
    pub(crate) scripts: BTreeMap<String, Option<String>>,
    pub(crate) bindings: BTreeSet<String>,
    /// What it has overridden, by the methods it did so with.
    pub(crate) overrides: BTreeSet<String>,
}

impl VirtualSession {
    pub(crate) fn new(parent: Option<CdpSessionId>, place: Place) -> Self {
        Self {
            parent,
            place,
            touched: false,
            domains: BTreeSet::new(),
            journal: Journal::default(),
            worlds: MadeUpWorlds::default(),
            held: Vec::new(),
            told_tree: false,
            auto_attach: None,
            parts: PartFilter::default(),
            scripts: BTreeMap::new(),
            bindings: BTreeSet::new(),
            overrides: BTreeSet::new(),
        }
    }

    pub(crate) fn on_browser(parent: Option<CdpSessionId>) -> Self {
        Self::new(
            parent,
            Place::Browser { discover: Discovery::Nothing, auto_attach: false, downloads: false },
        )
    }

    pub(crate) fn debuggee(&self) -> Option<&DebuggeeId> {
        match &self.place {
            Place::Page(debuggee) => Some(debuggee),
            Place::Browser { .. } | Place::Tab(_) => None,
        }
    }

    /// The tab that it is on or in.
    pub(crate) fn tab(&self) -> Option<ChromeTab> {
        match &self.place {
            Place::Page(debuggee) => Some(debuggee.tab),
            Place::Tab(tab) => Some(*tab),
            Place::Browser { .. } => None,
        }
    }

    /// Whether it is to be told of an event.
    pub(crate) fn hears(&self, method: &str) -> bool {
        let domain = method.split('.').next().unwrap_or_default();
        match domain {
            "Inspector" => true,
            "Target" => self.auto_attach.is_some(),
            _ if method.starts_with(SCREENCAST_EVENTS) => self.domains.contains(SCREENCAST),
            _ => self.domains.contains(domain),
        }
    }
}

/// The frames of a screencast are for who asked for it, not for everybody who hears of the page.
pub(crate) const SCREENCAST: &str = "Page.screencast";
const SCREENCAST_EVENTS: &str = "Page.screencast";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_heard_by_those_who_asked_for_them() {
        let mut session = VirtualSession::on_browser(None);
        assert!(session.hears("Inspector.detached"));
        assert!(!session.hears("Page.frameNavigated"));
        session.domains.insert("Page".to_owned());
        assert!(session.hears("Page.frameNavigated"));
        assert!(!session.hears("Page.screencastFrame"), "another's screencast");
        session.domains.insert(SCREENCAST.to_owned());
        assert!(session.hears("Page.screencastFrame"));
        assert!(!session.hears("Target.targetInfoChanged"));
        session.auto_attach = Some(AutoAttach { wait: false });
        assert!(session.hears("Target.targetInfoChanged"));
    }
}
