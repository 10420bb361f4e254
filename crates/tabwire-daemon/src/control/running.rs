//! The actions that run now. The dashboard shows them, and the user can stop them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use tabwire_api::{Failure, SessionKey};
use tokio::sync::watch;

use super::{Scope, UserControl, stopped};

/// One action that runs.
#[derive(Clone, Debug)]
pub(crate) struct RunningAction {
    /// Its session, as its key names it.
    pub(super) session: String,
    /// The name of its agent.
    pub(crate) agent: String,
    pub(crate) action: &'static str,
    pub(crate) since: Instant,
    is_waiting: Arc<AtomicBool>,
    stop: watch::Sender<bool>,
}

impl RunningAction {
    pub(super) fn is_in(&self, scope: &Scope) -> bool {
        match scope {
            Scope::All => true,
            Scope::Session(session) => *session == self.session,
            Scope::Agent(agent) => *agent == self.agent,
        }
    }

    pub(super) fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Whether it waits for the user.
    pub(crate) fn is_waiting(&self) -> bool {
        self.is_waiting.load(Ordering::Relaxed)
    }
}

/// An action until it is dropped.
#[derive(Debug)]
pub(crate) struct ActionGuard {
    control: Arc<UserControl>,
    pub(super) number: u64,
    is_waiting: Arc<AtomicBool>,
    stopped: watch::Receiver<bool>,
}

impl UserControl {
    /// Records an action that begins.
    pub(crate) fn begin(
        self: &Arc<Self>,
        session: &SessionKey,
        agent: String,
        action: &'static str,
    ) -> ActionGuard {
        let (stop, is_stopped) = watch::channel(false);
        let is_waiting = Arc::<AtomicBool>::default();
        let entry = RunningAction {
            session: session.to_string(),
            agent,
            action,
            since: Instant::now(),
            is_waiting: Arc::clone(&is_waiting),
            stop,
        };
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.state().running.insert(number, entry);
        ActionGuard { control: Arc::clone(self), number, is_waiting, stopped: is_stopped }
    }

    /// The actions that run in a session, the oldest first.
    pub(crate) fn running_in(&self, session: &SessionKey) -> Vec<RunningAction> {
        let name = session.to_string();
        let state = self.state();
        let mut running: Vec<_> =
            state.running.values().filter(|action| action.session == name).cloned().collect();
        running.sort_unstable_by_key(|action| action.since);
        running
    }
}

impl ActionGuard {
    pub(super) fn set_waiting(&self, is_waiting: bool) {
        if self.is_waiting.swap(is_waiting, Ordering::Relaxed) != is_waiting {
            self.control.changes.send_modify(|count| *count = count.wrapping_add(1));
        }
    }

    /// Runs a future until it ends or the user stops the action.
    pub(crate) async fn unless_stopped<T>(
        &self,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let mut is_stopped = self.stopped.clone();
        tokio::select! {
            done = work => done,
            Ok(_) = is_stopped.wait_for(|stopped| *stopped) => Err(stopped()),
        }
    }
}

impl Drop for ActionGuard {
    fn drop(&mut self) {
        let mut state = self.control.state();
        if let Some(action) = state.running.remove(&self.number) {
            state.used.action_ended(action.session, self.number, Instant::now());
        }
        self.control.changed(&state);
    }
}
