//! Which tab each session's agents used last, and who uses it now.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use tabwire_api::{SessionKey, TargetId};

use super::{ActionGuard, REMEMBERED, UserControl};

/// How long an agent counts as the one that drives a tab after its action has ended. Agents think between actions.
const RECENT: Duration = Duration::from_secs(4);

/// The latest use of one tab.
#[derive(Clone, Debug)]
struct TabUse {
    agent: String,
    action: &'static str,
    /// The action that runs.
    number: u64,
    since: Instant,
    ended: Option<Instant>,
}

/// The latest uses of tabs, by session and tab. A tab that several sessions share has one for each.
#[derive(Debug, Default)]
pub(super) struct UsedTabs {
    tabs: HashMap<(String, TargetId), TabUse>,
    /// When the last action of each session ended.
    ended: HashMap<String, Instant>,
}

/// The agent that drives a tab, and what it does or has just done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Driver {
    pub(crate) agent: String,
    pub(crate) action: &'static str,
}

impl UsedTabs {
    fn record(&mut self, session: String, target: TargetId, used: TabUse) {
        if self.tabs.len() >= REMEMBERED {
            let oldest = self.tabs.iter().min_by_key(|(_, one)| one.since).map(|(key, _)| key.clone());
            oldest.map(|key| self.tabs.remove(&key));
        }
        self.tabs.insert((session, target), used);
    }

    pub(super) fn action_ended(&mut self, session: String, number: u64, now: Instant) {
        if self.ended.len() >= REMEMBERED {
            self.ended.clear();
        }
        self.ended.insert(session, now);
        let ended = self.tabs.values_mut().filter(|one| one.number == number);
        ended.for_each(|one| one.ended = Some(now));
    }
}

impl UserControl {
    /// An action that may run uses this tab.
    pub(crate) fn use_tab(&self, running: &ActionGuard, target: &TargetId) {
        let mut state = self.state();
        let Some(action) = state.running.get(&running.number) else { return };
        let used = TabUse {
            agent: action.agent.clone(),
            action: action.action,
            number: running.number,
            since: Instant::now(),
            ended: None,
        };
        let session = action.session.clone();
        state.used.record(session, target.clone(), used);
        self.changed(&state);
    }

    /// Whether an action of a session runs or has ended lately: in this tab, or in any.
    pub(crate) fn has_acted(&self, session: &SessionKey, tab: Option<&TargetId>, lately: Duration) -> bool {
        let name = session.to_string();
        let state = self.state();
        let is_recent = |ended: Option<Instant>| ended.is_none_or(|ended| ended.elapsed() < lately);
        match tab {
            Some(tab) => state.used.tabs.get(&(name, tab.clone())).is_some_and(|used| is_recent(used.ended)),
            None => {
                state.running.values().any(|action| action.session == name)
                    || state.used.ended.get(&name).is_some_and(|ended| is_recent(Some(*ended)))
            }
        }
    }

    /// The open tab that a session's agents used last.
    pub(crate) fn last_used(
        &self,
        session: &SessionKey,
        is_open: impl Fn(&TargetId) -> bool,
    ) -> Option<TargetId> {
        let name = session.to_string();
        let state = self.state();
        let of_session =
            state.used.tabs.iter().filter(|((owner, target), _)| *owner == name && is_open(target));
        of_session.max_by_key(|(_, used)| used.since).map(|((_, target), _)| target.clone())
    }

    /// The agent that drives a tab of a session now; none if no action uses it, or has lately.
    pub(crate) fn driver_of(&self, session: &SessionKey, target: &TargetId) -> Option<Driver> {
        let state = self.state();
        let used = state.used.tabs.get(&(session.to_string(), target.clone()))?;
        let is_recent = used.ended.is_none_or(|ended| ended.elapsed() < RECENT);
        is_recent.then(|| Driver { agent: used.agent.clone(), action: used.action })
    }
}
