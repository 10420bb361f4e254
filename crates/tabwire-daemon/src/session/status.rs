//! The status of a session. Starts and changes nothing.

use std::time::{Duration, UNIX_EPOCH};

use tabwire_api::UpstreamKind;
use tabwire_api::api::{SessionStatus, SessionTab};
use tabwire_browser::memory_of_group;
use tabwire_engine::TabInfo;

use crate::session::live::LiveSession;
use crate::session::record::SessionRecord;
use crate::session::{Session, Starting};

/// The state of a session that has no browser.
pub(crate) const STOPPED: &str = "stopped";

/// The state of a session whose browser's extension is not connected.
const AWAY: &str = "its extension is not connected; the browser may be closed";

impl Session {
    /// The status of the session; `thorough` also measures the memory of its browser.
    pub(crate) async fn status(&self, thorough: bool) -> SessionStatus {
        // Only a session without a browser reads its file: lists are requested often.
        let recorded = || self.outline(self.store.find(&self.key).as_ref());
        match self.peek_live() {
            Err(Starting) => SessionStatus { state: "starting".to_owned(), ..recorded() },
            Ok(None) => recorded(),
            Ok(Some(live)) => {
                let mut status = self.outline(None);
                self.describe(&live, &mut status).await;
                if let Some(pid) = status.browser_pid.filter(|_| thorough && status.active) {
                    let measured = tokio::task::spawn_blocking(move || memory_of_group(pid)).await;
                    status.memory_bytes = measured.ok().flatten();
                }
                status
            }
        }
    }

    /// The status without a browser.
    fn outline(&self, record: Option<&SessionRecord>) -> SessionStatus {
        let lost = record.is_some_and(|record| record.running.is_some());
        let options = record.map(|record| &record.options);
        SessionStatus {
            name: self.key.name.clone(),
            project: self.key.project.clone(),
            state: if lost { "its browser is gone; the next command starts it again" } else { STOPPED }
                .to_owned(),
            isolation: options.map(|options| options.isolation()).unwrap_or_default().as_str().to_owned(),
            policy: options.map(|options| options.policy()).unwrap_or_default().as_str().to_owned(),
            headed: options.is_some_and(tabwire_api::api::SessionOptions::is_headed),
            saves_state: options.is_some_and(|options| options.save_state == Some(true)),
            hides_automation: options.is_some_and(|options| options.hide_automation == Some(true)),
            record: record.is_some().then(|| self.store.file(&self.key)),
            ..SessionStatus::default()
        }
    }

    async fn describe(&self, live: &LiveSession, status: &mut SessionStatus) {
        let facts = live.browser.hub.facts().await;
        let descriptor = live.browser.descriptor.as_ref();
        match &facts {
            Err(gone) => {
                let loss = live.browser.rental.as_ref().and_then(|rental| rental.known_loss());
                status.state =
                    loss.map_or_else(|| gone.to_string(), |loss| format!("the browser is gone: {loss}"));
            }
            Ok(_) if live.browser.is_away() => AWAY.clone_into(&mut status.state),
            Ok(facts) => {
                let (held, counted) = (facts.leftovers, facts.counters);
                (status.active, status.state) = (true, "active".to_owned());
                (status.clients, status.pending) = (facts.clients, facts.pending);
                status.held = held.sessions + held.contexts + held.holds + held.pending;
                status.astray = counted.responses_unknown + counted.events_unowned;
                status.misrouted = counted.responses_misrouted;
                status.events_dropped = facts.events_dropped;
            }
        }
        status.ownership = live.browser.ownership.as_str().to_owned();
        if let Some(rental) = &live.browser.rental {
            status.remote = Some(rental.describe());
            status.browser_version = Some(rental.product.clone()).filter(|product| !product.is_empty());
        }
        status.upstream = live.browser.upstream.to_string();
        status.isolation = live.isolation().as_str().to_owned();
        status.policy = live.options.policy().as_str().to_owned();
        // The user's own browser has windows, whatever the options of a launch say.
        status.headed = live.options.is_headed() || live.browser.upstream == UpstreamKind::Extension;
        status.saves_state = live.options.save_state == Some(true) && !self.saver.is_paused();
        status.hides_automation = live.options.hide_automation == Some(true);
        status.endpoint = Some(self.endpoint());
        status.open_port = self.open_port().as_ref().map(|port| port.number);
        status.browser_pid = descriptor.map(|descriptor| descriptor.browser.pid());
        status.keeper_pid = descriptor.map(|descriptor| descriptor.keeper.pid());
        let version = descriptor.and_then(|descriptor| descriptor.version.clone());
        status.browser_version = version.or(status.browser_version.take());
        status.profile = descriptor.map(|descriptor| descriptor.profile.display().to_string());
        if live.browser.is_firefox() {
            status.gaps = tabwire_bidi::gaps::sentences().map(str::to_owned).collect();
        }
        status.record = Some(self.store.file(&self.key));
        let tabs = live.engine.list_tabs();
        status.shared_tabs = tabs.iter().filter(|info| info.shared).count();
        status.tabs = tabs.len() - status.shared_tabs;
        status.tab_list = tabs.iter().map(|info| self.describe_tab(info)).collect();
        status.crashed_tabs = live.engine.crashed_tabs().iter().map(ToString::to_string).collect();
        status.uptime_seconds = uptime(live).as_secs();
    }

    /// A tab without its title and URL, which not every client of the session may read.
    fn describe_tab(&self, info: &TabInfo) -> SessionTab {
        SessionTab {
            tab: info.tab,
            shared: info.shared,
            current: info.current,
            client: self.leases.find_owner(info.tab),
        }
    }
}

/// How long the session has its browser.
fn uptime(live: &LiveSession) -> Duration {
    (UNIX_EPOCH + Duration::from_millis(live.started_at)).elapsed().unwrap_or_default()
}
