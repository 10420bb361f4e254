//! Chooses the tab of an action. Every client has tabs of its own; a tab that another client or the user opened is used
//! only when it was selected or is named.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tabwire_api::api::ActionRequest;
use tabwire_api::{ClientName, Failure, TabId};
use tabwire_cdp::Deadline;
use tabwire_engine::{TabInfo, TabUse};

use crate::limits::LEASE;
use crate::session::Session;
use crate::session::leases::name_of;
use crate::session::live::LiveSession;

/// How long a tab may take to be detached.
const DETACH_DEADLINE: Duration = Duration::from_secs(1);

/// What an action does when its client has no tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WithoutTab {
    /// Opens an empty one.
    Open,
    /// Opens an empty one, even if the client has tabs.
    OpenAnother,
    /// Runs without one.
    Leave,
}

/// The chosen tab.
#[derive(Debug, Default)]
pub(crate) struct TabChoice {
    /// The tab the action is for; the session's current one if absent.
    pub(crate) tab: Option<TabId>,
    /// The tabs of a named client, the newest last.
    pub(crate) client_tabs: Option<Vec<TabId>>,
}

impl TabChoice {
    /// Chooses a tab.
    pub(crate) async fn make(
        session: &Arc<Session>,
        live: &Arc<LiveSession>,
        request: &ActionRequest,
        named: Option<TabId>,
        missing: WithoutTab,
    ) -> Result<Self, Failure> {
        let client = request.client.as_ref();
        // Two concurrent clients must not get the same free tab.
        let _choosing = session.choosing.lock().await;
        live.sync_tabs().await?;
        if client.is_none() && !request.pin_tab && session.leases.is_empty() {
            if request.tab.is_none() && missing == WithoutTab::Open {
                live.ensure_tab().await?;
            }
            return Ok(Self { tab: request.tab, client_tabs: None });
        }
        let tabs = live.engine.list_tabs();
        session.update_tabs(live, &tabs);
        if let Some(named) = request.tab.or(named) {
            session.leases.check(named, client)?;
        }
        let open: Vec<TabId> = tabs.iter().map(|info| info.tab).collect();
        let own: Vec<TabId> = tabs.iter().filter(|info| !info.shared).map(|info| info.tab).collect();
        let selected = live.engine.selected_tab();
        let found = request.tab.or_else(|| session.leases.tab_for(client, selected, &open, &own));
        let tab = match (found, missing) {
            (None, WithoutTab::Open) | (_, WithoutTab::OpenAnother) => {
                Some(session.open_tab_for(live, client).await?)
            }
            (found, _) => found,
        };
        let is_new_place = match (client, tab.filter(|_| request.tab.is_none())) {
            (Some(client), Some(tab)) => session.leases.set_tab(client, tab),
            _ => false,
        };
        if let Some(tab) = tab.filter(|_| request.pin_tab) {
            session.leases.lease(tab, &name_of(client), LEASE)?;
        }
        if is_new_place || request.pin_tab {
            session.remember(live);
        }
        if let (Some(client), Some(tab)) = (client, tab) {
            live.label_tab(tab, client);
        }
        Ok(Self { tab, client_tabs: client.map(|client| session.leases.owned_by(client)) })
    }
}

impl Session {
    /// Removes closed tabs from the tables, and gives popups to the client of their opener.
    pub(crate) fn update_tabs(&self, live: &LiveSession, tabs: &[TabInfo]) {
        for (opener, popup) in tabs.iter().filter_map(|info| Some((info.opener?, info.tab))) {
            self.leases.follow(opener, popup);
            if let Some(owner) = self.leases.find_owner(popup) {
                live.label_tab(popup, &owner);
            }
        }
        self.leases.retain(|tab| tabs.iter().any(|info| info.tab == tab));
        live.label.retain(|target| tabs.iter().any(|info| info.target == *target));
    }

    /// Detaches from the tabs of the user that no client works in any more, so that the user sees them as free.
    pub(crate) async fn release_shared_tabs(&self, live: &LiveSession) {
        let selected = live.engine.selected_tab();
        for info in live.engine.list_tabs().into_iter().filter(|info| info.shared) {
            if Some(info.tab) != selected && !self.leases.is_used(info.tab) {
                live.engine.detach_tab(info.tab, Deadline::after(DETACH_DEADLINE)).await;
            }
        }
    }

    /// Follows a named client to the tab that its action opened or selected. Returns that tab.
    pub(crate) fn follow_client(
        &self,
        live: &LiveSession,
        client: &ClientName,
        tab_use: TabUse,
        result: &Value,
    ) -> Option<TabId> {
        let named = result.get("tab").and_then(Value::as_str).filter(|_| tab_use.changes_current());
        let tab: TabId = named?.parse().ok()?;
        if tab_use == TabUse::Opens {
            self.leases.own(client, tab);
        }
        self.leases.set_tab(client, tab);
        live.label_tab(tab, client);
        Some(tab)
    }

    /// Opens an empty tab for a client. That of a named client does not become the session's current one.
    async fn open_tab_for(&self, live: &LiveSession, client: Option<&ClientName>) -> Result<TabId, Failure> {
        let Some(client) = client else { return Ok(live.engine.tab_id(&live.open_empty_tab().await?)) };
        let tab = live.open_tab_of(client).await?;
        self.leases.own(client, tab);
        Ok(tab)
    }
}
