//! The processes of scripts, by client, and the turns of their runs.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tabwire_api::api::ActionRequest;
use tabwire_api::{ClientName, ErrorCode, Failure, SessionKey};
use tabwire_script::limits::{CHILDREN, IDLE, QUEUED_RUNS};
use tokio::sync::watch;

use crate::config::DaemonConfig;
use crate::daemon::Daemon;
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
    runs: AtomicU64,
    is_swept: AtomicBool,
}

/// The place of one process.
#[derive(Debug)]
pub(crate) struct Slot {
    process: tokio::sync::Mutex<Option<ScriptProcess>>,
    /// Runs that wait or run.
    runs: AtomicUsize,
    state: Mutex<Option<Value>>,
    last_used: Mutex<Instant>,
    /// Whether the slot was removed, which ends its run.
    removed: watch::Sender<bool>,
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
            slots.remove(&oldest);
        }
        let slot = Arc::new(Slot {
            process: tokio::sync::Mutex::default(),
            runs: AtomicUsize::new(0),
            state: Mutex::default(),
            last_used: Mutex::new(Instant::now()),
            removed: watch::Sender::new(false),
        });
        slots.insert(key.clone(), Arc::clone(&slot));
        Ok(slot)
    }

    /// Ends a process and forgets its state. Whether there was one.
    pub(crate) fn remove(&self, key: &ChildKey) -> bool {
        let removed = self.slots().remove(key);
        removed.inspect(|slot| slot.end()).is_some()
    }

    /// Ends the processes of a session, or of one of its clients.
    pub(crate) fn end(&self, session: &SessionKey, client: Option<&ClientName>) {
        self.slots().retain(|key, slot| {
            let ChildKey::Client(of, by) = key else { return true };
            let is_kept = of != session || client.is_some_and(|client| by.as_ref() != Some(client));
            if !is_kept {
                slot.end();
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
                slots.retain(|_, slot| !slot.is_idle() || slot.last_used().elapsed() < IDLE);
                if slots.is_empty() {
                    // Under the lock, so that a new slot starts the next task.
                    scripts.is_swept.store(false, Ordering::SeqCst);
                    return;
                }
            }
        });
    }
}

impl Slot {
    fn is_idle(&self) -> bool {
        self.runs.load(Ordering::SeqCst) == 0
    }

    fn last_used(&self) -> Instant {
        *self.last_used.lock().unwrap_or_else(PoisonError::into_inner)
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
        Ok(Turn { process: self.process.lock().await, is_running: false, _waiting: waiting })
    }
}

impl Turn<'_> {
    /// The process, and whether it was started now.
    pub(crate) fn process(&mut self, config: &DaemonConfig) -> Result<(&mut ScriptProcess, bool), Failure> {
        let is_lost = self.process.as_mut().is_none_or(ScriptProcess::has_ended);
        if is_lost {
            *self.process = Some(ScriptProcess::start(config)?);
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
