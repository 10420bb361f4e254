//! Which page is in which tab, for tabs that were there before the link.
//!
//! New tabs come with their page. Old ones are listed in no order, and nothing in the list tells which is whose;
//! where realms share a context that must be known, so the house attaches to the tab, which names its page.

use std::time::Instant;

use serde_json::{Value, json};
use tabwire_wire::{CdpSessionId, TargetId};

use crate::mux::Mux;
use crate::pending::Errand;
use crate::session_table::Session;
use crate::target_entry::{Owner, TargetEntry};

impl Mux {
    /// Asks every tab without a known page for it; until it is known the tab is kept from all.
    pub(crate) fn learn_partners(&mut self, now: Instant) {
        let shared = self.realms.shares_default_context();
        let Some(house) = self.house.clone().filter(|_| shared) else { return };
        let lonely = |target: &&mut TargetEntry| {
            target.is_tab() && target.partner.is_none() && matches!(target.owner, Owner::Nobody { .. })
        };
        let mut tabs = Vec::new();
        for tab in self.targets.iter_mut().filter(lonely) {
            tab.owner = Owner::Unlinked;
            tabs.push(tab.id.clone());
        }
        for tab in tabs {
            let params = json!({"targetId": tab.as_str(), "flatten": true});
            self.send(Some(&house), "Target.attachToTarget", params, Errand::LearnTab, now);
        }
    }

    /// The house is attached to a tab: it has itself attached to the page in it.
    pub(crate) fn tab_attached(&mut self, session: Option<&str>, now: Instant) {
        let Some(session) = session.map(CdpSessionId::new) else { return };
        let params = json!({"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true});
        self.send(Some(&session), "Target.setAutoAttach", params, Errand::LearnPage(session.clone()), now);
    }

    /// A tab named what is in it, on the house's cdp session on the tab.
    pub(crate) fn tab_names_page(&mut self, session: &CdpSessionId, params: &Value, now: Instant) {
        let tab = self.sessions.find(session.as_str()).and_then(Session::target).cloned();
        let page = params.pointer("/targetInfo/targetId").and_then(Value::as_str).map(TargetId::new);
        let (Some(tab), Some(page)) = (tab, page) else { return };
        let fits = |entry: &&TargetEntry| entry.fills_a_tab() && entry.partner.is_none();
        let Some(owner) = self.targets.find(page.as_str()).filter(fits).map(|page| page.owner.clone()) else {
            return;
        };
        self.targets.link(&tab, &page);
        self.decide(&tab, owner, now);
        self.show_again(&tab, now);
    }

    /// The tab has named its page; the house lets go of it.
    pub(crate) fn tab_learnt(&mut self, session: &CdpSessionId, now: Instant) {
        self.house_command("Target.detachFromTarget", json!({"sessionId": session.as_str()}), now);
    }
}
