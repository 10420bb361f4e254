//! What the user does in the dashboard to agents: drives a tab, pauses agents, or stops them.
//!
//! A tab that the user drives is leased to one dashboard. Actions of agents on it wait to their deadline; CDP clients
//! may not send input to it or navigate it. Nothing of this outlives the daemon.

mod running;
mod used;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::{ErrorCode, Failure, SessionKey, TargetId};
use tabwire_cdp::{Deadline, TaskGroup};
use tabwire_engine::taken_over;
use tokio::sync::watch;

pub(crate) use self::running::{ActionGuard, RunningAction};
pub(crate) use self::used::Driver;
use self::used::UsedTabs;

/// How long a tab stays leased to a dashboard whose connection is lost.
pub(crate) const LEFT_DEADLINE: Duration = Duration::from_secs(5);

/// Tabs and agents that are remembered.
const REMEMBERED: usize = 256;

/// The notice in a client's first result after the user has driven the tab.
const GIVEN_BACK: &str = "The user took over this tab and gave it back. The page may have changed: take a new snapshot before you use refs.";

/// Commands of CDP clients that act on a page, beside `Input.*` and navigations.
const ACTING: &[&str] = &[
    "Page.navigate",
    "Page.navigateToHistoryEntry",
    "Page.reload",
    "Page.close",
    "Page.handleJavaScriptDialog",
    "DOM.setFileInputFiles",
];

/// A dashboard, by the number of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Holder(pub(crate) u64);

/// Whose actions are paused or stopped.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Scope {
    /// Every agent in every session.
    All,
    /// Every agent in one session, as its key names it.
    Session(String),
    /// One agent in every session.
    Agent(String),
}

/// What happens to new actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Hold {
    /// They wait.
    Paused,
    /// They fail at once.
    Stopped,
}

#[derive(Debug)]
struct TakeOver {
    holder: Holder,
    /// Counts the times that its dashboard lost the connection. A later one makes an earlier deadline void.
    losses: u64,
    is_left: bool,
}

#[derive(Debug, Default)]
struct State {
    taken: HashMap<TargetId, TakeOver>,
    holds: BTreeMap<Scope, Hold>,
    /// Tabs that were given back, with the clients that know.
    returned: HashMap<TargetId, BTreeSet<String>>,
    running: HashMap<u64, RunningAction>,
    used: UsedTabs,
}

/// The state of one daemon.
#[derive(Debug, Default)]
pub(crate) struct UserControl {
    state: Mutex<State>,
    /// Whether a tab is taken or an agent is held, so that guards are fast.
    is_active: AtomicBool,
    next: AtomicU64,
    changes: watch::Sender<u64>,
}

/// Why an action waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Obstacle {
    Taken,
    Held(Hold),
}

impl UserControl {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self, state: &State) {
        self.is_active.store(!state.taken.is_empty() || !state.holds.is_empty(), Ordering::Release);
        self.changes.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Follows every change.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Whether a tab is taken or an agent is held.
    pub(crate) fn is_active(&self) -> bool {
        self.is_active.load(Ordering::Acquire)
    }

    /// Leases a tab to a dashboard.
    pub(crate) fn take(&self, target: &TargetId, holder: Holder) -> Result<(), Failure> {
        let mut state = self.state();
        match state.taken.get(target) {
            Some(taken) if taken.holder != holder => {
                return Err(Failure::new(ErrorCode::Busy, "Another dashboard has taken over this tab.")
                    .with_remedy("Give it back there first."));
            }
            None if state.taken.len() >= REMEMBERED => {
                return Err(Failure::new(ErrorCode::Busy, "Too many tabs are taken over.")
                    .with_remedy("Give one of them back first."));
            }
            _ => {}
        }
        let taken = TakeOver { holder, losses: 0, is_left: false };
        state.taken.insert(target.clone(), taken);
        self.changed(&state);
        Ok(())
    }

    /// Ends a lease of this dashboard; whether there was one.
    pub(crate) fn give(&self, target: &TargetId, holder: Holder) -> bool {
        let mut state = self.state();
        if state.taken.get(target).is_none_or(|taken| taken.holder != holder) {
            return false;
        }
        state.taken.remove(target);
        if state.returned.len() >= REMEMBERED {
            state.returned.clear();
        }
        state.returned.insert(target.clone(), BTreeSet::new());
        self.changed(&state);
        true
    }

    /// The dashboard that drives a tab.
    pub(crate) fn holder_of(&self, target: &TargetId) -> Option<Holder> {
        self.state().taken.get(target).map(|taken| taken.holder)
    }

    /// A dashboard shows a tab again that it has taken: its lease goes on.
    pub(crate) fn rejoin(&self, target: &TargetId, holder: Holder) -> bool {
        let mut state = self.state();
        let Some(taken) = state.taken.get_mut(target).filter(|taken| taken.holder == holder) else {
            return false;
        };
        taken.is_left = false;
        true
    }

    /// A dashboard has lost its connection: the lease ends after [`LEFT_DEADLINE`], and then `ended` is called.
    pub(crate) fn leave(
        self: &Arc<Self>,
        target: &TargetId,
        holder: Holder,
        tasks: &TaskGroup,
        ended: impl FnOnce() + Send + 'static,
    ) {
        let loss = {
            let mut state = self.state();
            let Some(taken) = state.taken.get_mut(target).filter(|taken| taken.holder == holder) else {
                return;
            };
            (taken.losses, taken.is_left) = (taken.losses + 1, true);
            taken.losses
        };
        let (control, target, stopping) = (Arc::clone(self), target.clone(), tasks.clone());
        tasks.start("give-back", async move {
            tokio::select! {
                () = tokio::time::sleep(LEFT_DEADLINE) => {}
                () = stopping.stopping() => return,
            }
            let is_left = {
                let state = control.state();
                state.taken.get(&target).is_some_and(|taken| taken.is_left && taken.losses == loss)
            };
            if is_left && control.give(&target, holder) {
                ended();
            }
        });
    }

    /// Holds the actions of a scope.
    pub(crate) fn hold(&self, scope: Scope, hold: Hold) -> Result<(), Failure> {
        let mut state = self.state();
        if state.holds.len() >= REMEMBERED && !state.holds.contains_key(&scope) {
            return Err(Failure::new(ErrorCode::Busy, "Too many agents are paused.")
                .with_remedy("Resume some of them."));
        }
        if hold == Hold::Stopped {
            let concerned = state.running.values().filter(|action| action.is_in(&scope));
            concerned.for_each(RunningAction::stop);
        }
        state.holds.insert(scope, hold);
        self.changed(&state);
        Ok(())
    }

    /// Ends the hold of a scope. `All` ends every hold.
    pub(crate) fn resume(&self, scope: &Scope) {
        let mut state = self.state();
        if *scope == Scope::All {
            state.holds.clear();
        } else {
            state.holds.remove(scope);
        }
        self.changed(&state);
    }

    /// The hold that concerns all agents of a session, if there is one.
    pub(crate) fn hold_of_session(&self, session: &SessionKey) -> Option<Hold> {
        let state = self.state();
        let own = state.holds.get(&Scope::Session(session.to_string()));
        own.or_else(|| state.holds.get(&Scope::All)).copied()
    }

    /// The holds of all scopes.
    pub(crate) fn holds(&self) -> Vec<(Scope, Hold)> {
        self.state().holds.iter().map(|(scope, hold)| (scope.clone(), *hold)).collect()
    }

    /// Waits until an action may run. Fails at its deadline, or at once if its agent is stopped.
    pub(crate) async fn admit(
        &self,
        running: &ActionGuard,
        target: Option<&TargetId>,
        deadline: Deadline,
    ) -> Result<bool, Failure> {
        let mut changes = self.changes();
        let mut has_waited = false;
        loop {
            changes.mark_unchanged();
            let obstacle = self.obstacle(running, target);
            running.set_waiting(obstacle.is_some());
            match obstacle {
                None => {
                    if let Some(target) = target {
                        self.use_tab(running, target);
                    }
                    return Ok(has_waited);
                }
                Some(Obstacle::Held(Hold::Stopped)) => return Err(stopped()),
                Some(obstacle) => {
                    has_waited = true;
                    let waiting = tokio::time::timeout_at(deadline.instant(), changes.changed());
                    if waiting.await.is_err() {
                        return Err(obstacle.failure());
                    }
                }
            }
        }
    }

    fn obstacle(&self, running: &ActionGuard, target: Option<&TargetId>) -> Option<Obstacle> {
        if !self.is_active() {
            return None;
        }
        let state = self.state();
        let action = state.running.get(&running.number)?;
        let mut holds = state.holds.iter().filter(|(scope, _)| action.is_in(scope)).map(|(_, hold)| *hold);
        if let Some(first) = holds.next() {
            let is_stopped = first == Hold::Stopped || holds.any(|hold| hold == Hold::Stopped);
            return Some(Obstacle::Held(if is_stopped { Hold::Stopped } else { first }));
        }
        target.filter(|target| state.taken.contains_key(*target)).map(|_| Obstacle::Taken)
    }

    /// The notice for a client's first result after the user has driven its tab.
    pub(crate) fn take_notice(&self, target: &TargetId, client: &str) -> Option<String> {
        let mut state = self.state();
        let notified = state.returned.get_mut(target)?;
        (notified.len() < REMEMBERED && notified.insert(client.to_owned())).then(|| GIVEN_BACK.to_owned())
    }

    /// Why a command of a CDP client is refused, if it is.
    pub(crate) fn refuses(&self, session: &str, page: Option<&str>, method: &str) -> Option<&'static str> {
        let is_acting = method.starts_with("Input.") || ACTING.contains(&method);
        if !self.is_active() || !is_acting {
            return None;
        }
        let state = self.state();
        let is_held = |scope: &Scope| match scope {
            Scope::All => true,
            Scope::Session(held) => held == session,
            Scope::Agent(_) => false,
        };
        if state.holds.keys().any(is_held) {
            return Some("The user has paused automation in the dashboard.");
        }
        let is_taken = page.is_some_and(|page| state.taken.contains_key(&TargetId::new(page)));
        is_taken.then_some("The user has taken over this tab.")
    }
}

impl Obstacle {
    fn failure(self) -> Failure {
        match self {
            Self::Taken => taken_over(),
            Self::Held(Hold::Stopped) => stopped(),
            Self::Held(Hold::Paused) => {
                Failure::new(ErrorCode::Paused, "The user has paused automation in the dashboard.")
                    .with_remedy("Wait until the user presses Resume, and try again.")
            }
        }
    }
}

/// The failure of an action that the user stopped.
fn stopped() -> Failure {
    Failure::new(ErrorCode::Paused, "The user has stopped this agent in the dashboard.")
        .with_remedy("End the task and tell the user. Actions work again after the user presses Resume.")
}

#[cfg(test)]
mod tests;
