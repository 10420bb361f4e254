//! One CDP session as the hub sees it. Chrome has one debugger session per tab; all virtual sessions on the tab share it.

use std::collections::{BTreeMap, BTreeSet};

use tabwire_api::CdpSessionId;
use tabwire_cdp::TargetFilter;

use crate::browser::page_command::QueuedCommand;
use crate::link::message::ChromeTab;
use crate::session::setup_replay::SetupReplay;
use crate::session::synthetic_context::SyntheticContexts;
use crate::target::debuggee::{AutoAttach, DebuggeeId};

/// What a CDP session is attached to.
#[derive(Clone, Debug)]
pub(crate) enum SessionTarget {
    Browser {
        discover: Discovery,
        /// Whether it is attached to every page.
        auto_attach: bool,
        /// Whether it receives download events.
        downloads: bool,
    },
    /// The tab target above a page.
    Tab(ChromeTab),
    /// A page, or a frame or worker below it.
    Page(DebuggeeId),
}

/// Which targets a session discovers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Discovery {
    Nothing,
    Pages,
    /// Pages, and the tab targets above them.
    PagesAndTabs,
}

#[derive(Debug)]
pub(crate) struct VirtualSession {
    pub(crate) parent: Option<CdpSessionId>,
    pub(crate) target: SessionTarget,
    /// Whether it ever needed the page. The debugger stays attached only for sessions that did.
    pub(crate) used: bool,
    /// Domains that it enabled.
    pub(crate) domains: BTreeSet<String>,
    /// Setup commands, to replay when the debugger attaches.
    pub(crate) setup_replay: SetupReplay,
    /// Execution contexts that were reported before the debugger was attached.
    pub(crate) contexts: SyntheticContexts,
    /// Commands that name a context which Chrome has not reported yet, and all later commands.
    pub(crate) blocked: Vec<QueuedCommand>,
    /// Whether it got the frame tree of an unattached tab, which has the main frame only.
    pub(crate) has_synthetic_tree: bool,
    pub(crate) auto_attach: Option<AutoAttach>,
    /// The `filter` of its `Target.setAutoAttach`.
    pub(crate) child_filter: TargetFilter,
    /// Scripts for new documents: the id that the client has, and Chrome's id once it is known.
    pub(crate) scripts: BTreeMap<String, Option<String>>,
    pub(crate) bindings: BTreeSet<String>,
    /// Methods with which it overrode page state; each has an undo command.
    pub(crate) overrides: BTreeSet<String>,
}

impl VirtualSession {
    pub(crate) fn new(parent: Option<CdpSessionId>, target: SessionTarget) -> Self {
        Self {
            parent,
            target,
            used: false,
            domains: BTreeSet::new(),
            setup_replay: SetupReplay::default(),
            contexts: SyntheticContexts::default(),
            blocked: Vec::new(),
            has_synthetic_tree: false,
            auto_attach: None,
            child_filter: TargetFilter::default(),
            scripts: BTreeMap::new(),
            bindings: BTreeSet::new(),
            overrides: BTreeSet::new(),
        }
    }

    pub(crate) fn on_browser(parent: Option<CdpSessionId>) -> Self {
        Self::new(
            parent,
            SessionTarget::Browser { discover: Discovery::Nothing, auto_attach: false, downloads: false },
        )
    }

    pub(crate) fn debuggee(&self) -> Option<&DebuggeeId> {
        match &self.target {
            SessionTarget::Page(debuggee) => Some(debuggee),
            SessionTarget::Browser { .. } | SessionTarget::Tab(_) => None,
        }
    }

    pub(crate) fn tab(&self) -> Option<ChromeTab> {
        match &self.target {
            SessionTarget::Page(debuggee) => Some(debuggee.tab),
            SessionTarget::Tab(tab) => Some(*tab),
            SessionTarget::Browser { .. } => None,
        }
    }

    /// Whether the client receives an event.
    pub(crate) fn receives(&self, method: &str) -> bool {
        let domain = method.split('.').next().unwrap_or_default();
        match domain {
            "Inspector" => true,
            "Target" => self.auto_attach.is_some(),
            _ if method.starts_with(SCREENCAST) => self.domains.contains(SCREENCAST),
            _ => self.domains.contains(domain),
        }
    }
}

/// Entry in `domains` of a session that started a screencast, and prefix of the screencast events. Screencast frames go
/// only to the session that started the screencast, although they are events of `Page`.
pub(crate) const SCREENCAST: &str = "Page.screencast";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_go_to_sessions_that_enabled_the_domain() {
        let mut session = VirtualSession::on_browser(None);
        assert!(session.receives("Inspector.detached"));
        assert!(!session.receives("Page.frameNavigated"));
        session.domains.insert("Page".to_owned());
        assert!(session.receives("Page.frameNavigated"));
        assert!(!session.receives("Page.screencastFrame"), "the screencast of another session");
        session.domains.insert(SCREENCAST.to_owned());
        assert!(session.receives("Page.screencastFrame"));
        assert!(!session.receives("Target.targetInfoChanged"));
        session.auto_attach = Some(AutoAttach { wait: false });
        assert!(session.receives("Target.targetInfoChanged"));
    }
}
