//! Which tab an action is for, when several clients share a session: each keeps to its own.

use std::sync::Arc;

use tabwire_api::api::ActionRequest;
use tabwire_api::{Failure, TabId};

use crate::limits::LEASE;
use crate::session::Session;
use crate::session::leases::name_of;
use crate::session::live::LiveSession;

/// The tab that was chosen, and what has to be as before when the action is done.
#[derive(Debug, Default)]
pub(crate) struct TabChoice {
    /// The tab the action is for; the session's current one if absent.
    pub(crate) tab: Option<TabId>,
    /// The session's current tab before a client with a name of its own acted.
    before: Option<TabId>,
}

impl TabChoice {
    /// Chooses a tab, and opens one when every tab is another client's.
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
        let is_new_place = client.is_some_and(|client| session.leases.set_tab(client, tab));
        if request.pin_tab {
            session.leases.lease(tab, &name_of(client), LEASE)?;
        }
        if is_new_place || request.pin_tab {
            session.remember(live);
        }
        Ok(Self { tab: Some(tab), before: current.filter(|_| client.is_some()) })
    }

    /// The session's current tab stays what it was, for others than the client that acted.
    pub(crate) async fn settle(&self, live: &LiveSession) {
        let Some(before) = self.before else { return };
        if live.engine.current_tab().is_some_and(|now| now != before) {
            // The tab may be closed by now.
            let _ = live.engine.select_tab(before).await;
        }
    }
}
