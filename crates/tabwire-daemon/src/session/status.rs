//! The status of a session. Starts and changes nothing.

use std::time::{Duration, UNIX_EPOCH};

use tabwire_api::api::SessionStatus;
use tabwire_browser::{Ownership, memory_of_group};

use crate::session::live::LiveSession;
use crate::session::record::SessionRecord;
use crate::session::{Session, Starting};

/// The state of a session that has no browser.
pub(crate) const STOPPED: &str = "stopped";

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
            record: record.is_some().then(|| self.store.file(&self.key)),
            ..SessionStatus::default()
        }
    }

    async fn describe(&self, live: &LiveSession, status: &mut SessionStatus) {
        let facts = live.browser.hub.facts().await;
        let descriptor = live.browser.descriptor.as_ref();
        match &facts {
            Err(gone) => status.state = gone.to_string(),
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
        status.ownership = ownership_name(live.browser.ownership).to_owned();
        status.upstream = live.browser.upstream.to_string();
        status.isolation = live.options.isolation().as_str().to_owned();
        status.policy = live.options.policy().as_str().to_owned();
        status.headed = live.options.is_headed();
        status.saves_state = live.options.save_state == Some(true) && !self.saver.is_paused();
        status.endpoint = Some(self.endpoint());
        status.browser_pid = descriptor.map(|descriptor| descriptor.browser.pid());
        status.keeper_pid = descriptor.map(|descriptor| descriptor.keeper.pid());
        status.browser_version = descriptor.and_then(|descriptor| descriptor.version.clone());
        status.profile = descriptor.map(|descriptor| descriptor.profile.display().to_string());
        status.record = Some(self.store.file(&self.key));
        status.tabs = live.engine.tab_count();
        status.crashed_tabs = live.engine.crashed_tabs().iter().map(ToString::to_string).collect();
        status.uptime_seconds = uptime(live).as_secs();
    }
}

/// How long the session's browser runs. A daemon that adopts a browser counts from the start of the browser.
fn uptime(live: &LiveSession) -> Duration {
    let served = live.since.elapsed();
    let started = live.browser.descriptor.as_ref().map(|descriptor| descriptor.created_at);
    let started = started.map(|milliseconds| UNIX_EPOCH + Duration::from_millis(milliseconds));
    // A session in a browser of other sessions is younger than the browser.
    let started = started.filter(|_| live.partition.is_none());
    started.and_then(|started| started.elapsed().ok()).map_or(served, |running| running.max(served))
}

const fn ownership_name(ownership: Ownership) -> &'static str {
    if ownership.may_close() { "launched" } else { "attached" }
}
