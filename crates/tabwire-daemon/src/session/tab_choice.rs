//! Chooses the tab of an action when several clients share a session: each client has its own tab.

use std::sync::Arc;

use tabwire_api::api::ActionRequest;
use tabwire_api::{Failure, TabId};

use crate::limits::LEASE;
use crate::session::Session;
use crate::session::leases::name_of;
use crate::session::live::LiveSession;

/// The chosen tab, and the current tab to restore after the action.
#[derive(Debug, Default)]
pub(crate) struct TabChoice {
    /// The tab the action is for; the session's current one if absent.
    pub(crate) tab: Option<TabId>,
    /// The session's current tab before the action of a named client.
    before: Option<TabId>,
}

impl TabChoice {
    /// Chooses a tab. Opens one if other clients use all tabs.
    pub(crate) async fn make(
        session: &Arc<Session>,
        live: &Arc<LiveSession>,
        request: &ActionRequest,
        named: Option<TabId>,
    ) -> Result<Self, Failure> {
        let client = request.client.as_ref();
        // Two concurrent clients must not get the same free tab.
        let _choosing = session.choosing.lock().await;
        if request.tab.is_none() {
            live.ensure_tab().await?;
        }
        let named = request.tab.or(named);
        if client.is_none() && !request.pin_tab && session.leases.is_empty() {
            return Ok(Self { tab: request.tab, before: None });
        }
        let tabs = live.engine.list_tabs();
        let open: Vec<TabId> = tabs.iter().map(|info| info.tab).collect();
        for (opener, popup) in tabs.iter().filter_map(|info| Some((info.opener?, info.tab))) {
            session.leases.follow(opener, popup);
        }
        session.leases.retain(|tab| open.contains(&tab));
        if let Some(named) = named {
            session.leases.check(named, client)?;
        }
        let current = tabs.iter().find(|info| info.current).map(|info| info.tab);
        let tab = match request.tab.or_else(|| session.leases.tab_for(client, current, &open)) {
            Some(tab) => tab,
            None => {
                let opened = live.engine.tab_id(&live.open_empty_tab().await?);
                if let Some(current) = current {
                    // The tab may be closed by now.
                    let _ = live.engine.select_tab(current).await;
                }
                opened
            }
        };
        let is_new_tab = client.is_some_and(|client| session.leases.set_tab(client, tab));
        if request.pin_tab {
            session.leases.lease(tab, &name_of(client), LEASE)?;
        }
        if is_new_tab || request.pin_tab {
            session.remember(live);
        }
        Ok(Self { tab: Some(tab), before: current.filter(|_| client.is_some()) })
    }

    /// Restores the session's current tab after the action of a named client.
    pub(crate) async fn restore(&self, live: &LiveSession) {
        let Some(before) = self.before else { return };
        if live.engine.current_tab().is_some_and(|now| now != before) {
            // The tab may be closed by now.
            let _ = live.engine.select_tab(before).await;
        }
    }
}
