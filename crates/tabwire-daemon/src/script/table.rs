//! The processes of scripts, by client, and the turns of their runs.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tabwire_api::api::ActionRequest;
use tabwire_api::{ClientName, ErrorCode, Failure, SessionKey};
use tabwire_cdp::TaskGroup;
use tabwire_script::limits::{CHILDREN, IDLE, KEPT_STATES, QUEUED_RUNS};
use tokio::sync::watch;

use crate::config::DaemonConfig;
use crate::daemon::Daemon;
use crate::endpoint::connections::{ClientKind, ListedClient};
use crate::script::process::ScriptProcess;

/// How often idle processes are looked for.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60);

/// Whose process it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ChildKey {
    /// Of a client of a session.
    Client(SessionKey, Option<ClientName>),
    /// Of one run of a file.
    File(u64),
}

impl ChildKey {
    pub(crate) fn of(request: &ActionRequest) -> Self {
        Self::Client(request.key(), request.client.clone())
    }
}

/// The processes of all clients.
#[derive(Debug, Default)]
pub(crate) struct Scripts {
    slots: Mutex<HashMap<ChildKey, Arc<Slot>>>,
    /// What is left of processes that were ended for another one or after a long idle time, the oldest first.
    ended: Mutex<VecDeque<(ChildKey, Ended)>>,
    runs: AtomicU64,
    is_swept: AtomicBool,
}

/// What is left of a process that was ended between two runs.
#[derive(Clone, Debug)]
struct Ended {
    reason: &'static str,
    state: Option<Value>,
}

/// The place of one process.
#[derive(Debug)]
pub(crate) struct Slot {
    process: tokio::sync::Mutex<Option<ScriptProcess>>,
    /// Runs that wait or run.
    runs: AtomicUsize,
    state: Mutex<Option<Value>>,
    last_used: Mutex<Instant>,
    /// Why the process of the same client was ended before, until the client has the notice.
    ended: Mutex<Option<&'static str>>,
    /// Whether the slot was removed, which ends its run.
    removed: watch::Sender<bool>,
    /// Counts runs that want the process.
    wanted: watch::Sender<u64>,
    /// Whether the script listens to events between its runs.
    is_listening: AtomicBool,
}

/// The right to run in a slot, until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    process: tokio::sync::MutexGuard<'a, Option<ScriptProcess>>,
    /// Whether a run is under way. A process whose run was dropped is killed.
    is_running: bool,
    _waiting: Waiting<'a>,
}

#[derive(Debug)]
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Scripts {
    fn slots(&self) -> MutexGuard<'_, HashMap<ChildKey, Arc<Slot>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn next_run(&self) -> u64 {
        self.runs.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// The key of a process for one run.
    pub(crate) fn unique_key(&self) -> ChildKey {
        ChildKey::File(self.next_run())
    }

    /// The slot of a client. The slot that was idle longest makes room for a new one.
    pub(crate) fn obtain(&self, key: &ChildKey) -> Result<Arc<Slot>, Failure> {
        let mut slots = self.slots();
        if let Some(slot) = slots.get(key) {
            return Ok(Arc::clone(slot));
        }
        if slots.len() >= CHILDREN {
            let idle = slots.iter().filter(|(_, slot)| slot.is_idle());
            let oldest = idle.min_by_key(|(_, slot)| slot.last_used()).map(|(key, _)| key.clone());
            let oldest = oldest.ok_or_else(|| {
                Failure::new(
                    ErrorCode::Backpressure,
                    format!("{CHILDREN} scripts run at once; no more are started."),
                )
                .with_remedy("Wait until one of them has ended.")
            })?;
            if let Some(slot) = slots.remove(&oldest) {
                self.keep(oldest, &slot, "because other clients needed the room");
            }
        }
        let ended = self.take_ended(key);
        let slot = Arc::new(Slot {
            process: tokio::sync::Mutex::default(),
            runs: AtomicUsize::new(0),
            state: Mutex::new(ended.as_ref().and_then(|ended| ended.state.clone())),
            last_used: Mutex::new(Instant::now()),
            ended: Mutex::new(ended.map(|ended| ended.reason)),
            removed: watch::Sender::new(false),
            wanted: watch::Sender::new(0),
            is_listening: AtomicBool::new(false),
        });
        slots.insert(key.clone(), Arc::clone(&slot));
        Ok(slot)
    }

    /// The processes, for the dashboard.
    pub(crate) fn list(&self) -> Vec<ListedClient> {
        let mut listed: Vec<ListedClient> =
            self.slots().iter().map(|(key, slot)| describe(key, slot)).collect();
        listed.sort_by(|one, other| one.id.cmp(&other.id));
        listed
    }

    /// Ends the process with an id of that list; returns what it was.
    pub(crate) fn disconnect(&self, id: &str) -> Option<(ListedClient, SessionKey)> {
        let (key, listed) = self.slots().iter().find_map(|(key, slot)| {
            let listed = describe(key, slot);
            (listed.id == id).then(|| (key.clone(), listed))
        })?;
        self.remove(&key);
        let session = match key {
            ChildKey::Client(session, _) => session,
            ChildKey::File(_) => SessionKey::default(),
        };
        Some((listed, session))
    }

    /// Ends a process and forgets its state. Whether there was one.
    pub(crate) fn remove(&self, key: &ChildKey) -> bool {
        let had_ended = self.take_ended(key).is_some();
        let removed = self.slots().remove(key);
        removed.inspect(|slot| slot.end()).is_some() || had_ended
    }

    fn ended(&self) -> MutexGuard<'_, VecDeque<(ChildKey, Ended)>> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the state of a client whose process ends, and why it ended.
    fn keep(&self, key: ChildKey, slot: &Slot, reason: &'static str) {
        if matches!(key, ChildKey::File(_)) {
            return;
        }
        let mut ended = self.ended();
        ended.push_back((key, Ended { reason, state: slot.state() }));
        if ended.len() > KEPT_STATES {
            ended.pop_front();
        }
    }

    fn take_ended(&self, key: &ChildKey) -> Option<Ended> {
        let mut ended = self.ended();
        let at = ended.iter().position(|(of, _)| of == key)?;
        ended.remove(at).map(|(_, ended)| ended)
    }

    /// Ends the processes of a session, or of one of its clients.
    pub(crate) fn end(&self, session: &SessionKey, client: Option<&ClientName>) {
        let is_kept = |key: &ChildKey| {
            let ChildKey::Client(of, by) = key else { return true };
            of != session || client.is_some_and(|client| by.as_ref() != Some(client))
        };
        self.ended().retain(|(key, _)| is_kept(key));
        self.slots().retain(|key, slot| {
            if !is_kept(key) {
                slot.end();
            }
            is_kept(key)
        });
    }

    fn end_idle(&self, slots: &mut HashMap<ChildKey, Arc<Slot>>, now: Instant) {
        slots.retain(|key, slot| {
            let is_kept = !slot.is_idle()
                || slot.is_listening()
                || now.saturating_duration_since(slot.last_used()) < IDLE;
            if !is_kept {
                self.keep(key.clone(), slot, "after 30 minutes without a run");
            }
            is_kept
        });
    }

    /// Ends processes that were idle for long, as long as there are processes.
    pub(crate) fn start_sweep(&self, daemon: &Arc<Daemon>) {
        if self.is_swept.swap(true, Ordering::SeqCst) {
            return;
        }
        let daemon_of_task = Arc::clone(daemon);
        daemon.tasks.start("script-idle", async move {
            let scripts = &daemon_of_task.scripts;
            loop {
                tokio::select! {
                    () = tokio::time::sleep(SWEEP_INTERVAL) => {}
                    () = daemon_of_task.tasks.stopping() => return,
                }
                let mut slots = scripts.slots();
                scripts.end_idle(&mut slots, Instant::now());
                if slots.is_empty() {
                    // Under the lock, so that a new slot starts the next task.
                    scripts.is_swept.store(false, Ordering::SeqCst);
                    return;
                }
            }
        });
    }
}

/// A process of a script, for the dashboard.
fn describe(key: &ChildKey, slot: &Slot) -> ListedClient {
    let (id, name, session) = match key {
        ChildKey::Client(session, client) => {
            let client = client.as_ref().map(|client| client.as_str().to_owned());
            let id = format!("script-{session}-{}", client.as_deref().unwrap_or_default());
            (id, client, session.to_string())
        }
        ChildKey::File(run) => (format!("script-run-{run}"), None, String::new()),
    };
    ListedClient {
        id,
        kind: ClientKind::Script,
        name,
        program: None,
        pid: None,
        since: None,
        session,
        pending: slot.runs.load(Ordering::SeqCst),
        disconnects: true,
    }
}

impl Slot {
    fn is_idle(&self) -> bool {
        self.runs.load(Ordering::SeqCst) == 0
    }

    fn last_used(&self) -> Instant {
        *self.last_used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_listening(&self) -> bool {
        self.is_listening.load(Ordering::SeqCst)
    }

    /// Notes whether the script listens to events between its runs.
    pub(crate) fn set_listening(&self, is_listening: bool) {
        self.is_listening.store(is_listening, Ordering::SeqCst);
    }

    /// The place of the process, unless a run uses it.
    pub(crate) fn try_lock(&self) -> Option<tokio::sync::MutexGuard<'_, Option<ScriptProcess>>> {
        self.process.try_lock().ok()
    }

    /// A mark for `is_wanted`.
    pub(crate) fn wanted(&self) -> watch::Receiver<u64> {
        self.wanted.subscribe()
    }

    /// Resolves when a run wants the process.
    pub(crate) async fn is_wanted(&self, mut since: watch::Receiver<u64>) {
        if self.is_idle() {
            // The sender is a part of this slot, so the channel is open.
            let _ = since.changed().await;
        }
    }

    fn end(&self) {
        self.removed.send_replace(true);
    }

    /// Resolves when the slot is removed.
    pub(crate) async fn removed(&self) {
        // The sender is a part of this slot, so the channel is open.
        let _ = self.removed.subscribe().wait_for(|removed| *removed).await;
    }

    pub(crate) fn used(&self, at: Instant) {
        *self.last_used.lock().unwrap_or_else(PoisonError::into_inner) = at;
    }

    /// Reports once that the process of an earlier run was ended, and what is left of it.
    pub(crate) fn take_notice(&self) -> Option<String> {
        let reason = self.ended.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let kept = if self.state().is_some() { "; the part of `state` that is JSON is kept" } else { "" };
        Some(format!("The script's process was ended {reason}: its variables are lost{kept}."))
    }

    /// The part of `state` that is JSON, as of the last run.
    pub(crate) fn state(&self) -> Option<Value> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps the state; one that was too large or not JSON leaves the one before.
    pub(crate) fn set_state(&self, state: Option<Value>) {
        if state.is_some() {
            *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
        }
    }

    /// Waits for the runs before this one.
    pub(crate) async fn take_turn(&self) -> Result<Turn<'_>, Failure> {
        if self.runs.fetch_add(1, Ordering::SeqCst) >= QUEUED_RUNS {
            self.runs.fetch_sub(1, Ordering::SeqCst);
            let message = format!("{QUEUED_RUNS} runs of this client are waiting.");
            return Err(Failure::new(ErrorCode::Backpressure, message)
                .with_remedy("Wait for some of them to finish."));
        }
        let waiting = Waiting(&self.runs);
        self.wanted.send_modify(|count| *count += 1);
        Ok(Turn { process: self.process.lock().await, is_running: false, _waiting: waiting })
    }
}

impl Turn<'_> {
    /// The process, and whether it was started now.
    pub(crate) fn process(
        &mut self,
        config: &DaemonConfig,
        tasks: &TaskGroup,
    ) -> Result<(&mut ScriptProcess, bool), Failure> {
        let is_lost = self.process.as_mut().is_none_or(ScriptProcess::has_ended);
        if is_lost {
            *self.process = Some(ScriptProcess::start(config, tasks)?);
        }
        match self.process.as_mut() {
            Some(process) => {
                self.is_running = true;
                Ok((process, is_lost))
            }
            None => Err(Failure::new(ErrorCode::Internal, "The process for scripts is gone.")),
        }
    }

    /// Ends the turn. A process that is lost is killed.
    pub(crate) fn end(mut self, has_lost_process: bool) {
        self.is_running = has_lost_process;
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if self.is_running {
            *self.process = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn key(name: &str) -> ChildKey {
        let client = name.parse().expect("a name");
        ChildKey::Client(ActionRequest::default().key(), Some(client))
    }

    #[test]
    fn an_idle_process_is_ended_and_its_client_gets_one_notice() {
        let scripts = Scripts::default();
        let slot = scripts.obtain(&key("one")).expect("a slot");
        slot.set_state(Some(json!({"n": 1})));
        assert_eq!(slot.take_notice(), None);
        scripts.end_idle(&mut scripts.slots(), Instant::now() + IDLE);
        assert!(scripts.slots().is_empty());
        let slot = scripts.obtain(&key("one")).expect("a slot");
        assert_eq!(slot.state(), Some(json!({"n": 1})));
        let notice = slot.take_notice().expect("a notice");
        assert!(notice.contains("30 minutes") && notice.contains("is kept"), "{notice}");
        assert_eq!(slot.take_notice(), None);
    }

    #[test]
    fn a_process_that_listens_is_not_ended_when_idle() {
        let scripts = Scripts::default();
        let slot = scripts.obtain(&key("one")).expect("a slot");
        slot.set_listening(true);
        let later = Instant::now() + IDLE * 2;
        scripts.end_idle(&mut scripts.slots(), later);
        assert!(Arc::ptr_eq(&slot, &scripts.obtain(&key("one")).expect("a slot")), "it is the same");
        slot.set_listening(false);
        scripts.end_idle(&mut scripts.slots(), later);
        assert!(!Arc::ptr_eq(&slot, &scripts.obtain(&key("one")).expect("a slot")), "it was ended");
    }

    #[test]
    fn processes_are_limited_and_the_longest_idle_one_makes_room() {
        let scripts = Scripts::default();
        let slots: Vec<_> =
            (0..CHILDREN).map(|at| scripts.obtain(&key(&format!("c{at}"))).expect("a slot")).collect();
        slots[5].used(Instant::now().checked_sub(Duration::from_secs(9)).expect("a time"));
        scripts.obtain(&key("new")).expect("room");
        assert_eq!(scripts.slots().len(), CHILDREN);
        assert!(!scripts.slots().contains_key(&key("c5")));
        let again = scripts.obtain(&key("c5")).expect("a slot");
        assert!(again.take_notice().expect("a notice").contains("other clients"));
        // A reset forgets what was kept.
        scripts.remove(&key("c5"));
        assert_eq!(scripts.obtain(&key("c5")).expect("a slot").take_notice(), None);
    }

    #[tokio::test]
    async fn runs_that_wait_are_limited() {
        let scripts = Scripts::default();
        let slot = scripts.obtain(&key("one")).expect("a slot");
        let turn = slot.take_turn().await.expect("a turn");
        slot.runs.store(QUEUED_RUNS, Ordering::SeqCst);
        assert_eq!(slot.take_turn().await.expect_err("refused").code, ErrorCode::Backpressure);
        drop(turn);
    }
}
