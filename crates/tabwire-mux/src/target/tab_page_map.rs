//! Finds the page in each tab that existed before the link.
//!
//! New tabs are announced with their page. Old ones are listed in no order, without a field that links a tab
//! to its page. Where partitions share a context the page must be known, so the mux attaches to the tab, which
//! announces its page.

use std::time::Instant;

use serde_json::{Value, json};
use tabwire_api::{CdpSessionId, TargetId};

use crate::mux::Mux;
use crate::routing::pending::InternalCommand;
use crate::session::table::Session;
use crate::target::entry::{Owner, TargetEntry};

impl Mux {
    /// Attaches to every tab without a known page; until the page is known, no client sees the tab.
    pub(crate) fn map_tabs(&mut self, now: Instant) {
        let shared = self.state.partitions.shares_default_context();
        let Some(control) = self.control.session().filter(|_| shared) else { return };
        let lonely = |target: &&mut TargetEntry| {
            target.is_tab() && target.counterpart.is_none() && matches!(target.owner, Owner::Unowned { .. })
        };
        let mut tabs = Vec::new();
        for tab in self.state.targets.iter_mut().filter(lonely) {
            tab.owner = Owner::Unlinked;
            tabs.push(tab.id.clone());
        }
        for tab in tabs {
            let params = json!({"targetId": tab.as_str(), "flatten": true});
            self.router.send(
                Some(&control),
                "Target.attachToTarget",
                params,
                InternalCommand::AttachTab,
                now,
            );
        }
    }

    /// The mux is attached to a tab: it auto-attaches to the page in it.
    pub(crate) fn tab_attached(&mut self, session: Option<&str>, now: Instant) {
        let Some(session) = session.map(CdpSessionId::new) else { return };
        let params = json!({"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true});
        self.router.send(
            Some(&session),
            "Target.setAutoAttach",
            params,
            InternalCommand::AutoAttachTab(session.clone()),
            now,
        );
    }

    /// A tab announced its page, on the mux's CDP session on the tab.
    pub(crate) fn tab_page_found(&mut self, session: &CdpSessionId, params: &Value, now: Instant) {
        let tab = self.state.sessions.find(session.as_str()).and_then(Session::target).cloned();
        let page = params.pointer("/targetInfo/targetId").and_then(Value::as_str).map(TargetId::new);
        let (Some(tab), Some(page)) = (tab, page) else { return };
        let fits = |entry: &&TargetEntry| entry.is_tab_content() && entry.counterpart.is_none();
        let Some(owner) = self.state.targets.find(page.as_str()).filter(fits).map(|page| page.owner.clone())
        else {
            return;
        };
        self.state.targets.link(&tab, &page);
        self.set_owner(&tab, owner, now);
        self.refresh_visibility(&tab, now);
    }

    /// The tab has announced its page; the mux detaches from it.
    pub(crate) fn tab_mapped(&mut self, session: &CdpSessionId, now: Instant) {
        self.control_command("Target.detachFromTarget", json!({"sessionId": session.as_str()}), now);
    }
}
