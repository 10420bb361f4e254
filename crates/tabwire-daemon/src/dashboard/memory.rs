//! The memory of browsers, for dashboards. It is read from the list of all processes, so it is measured beside the line,
//! and not for each state.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use tabwire_api::api::SessionStatus;
use tabwire_browser::memory_of_group;
use tabwire_cdp::TaskGroup;
use tokio::sync::oneshot;

/// How often it is measured.
const EVERY: Duration = Duration::from_secs(10);

/// Smaller differences are not shown.
const STEP: u64 = 1024 * 1024;

type Measured = HashMap<i32, u64>;

/// The latest measurements.
#[derive(Debug, Default)]
pub(super) struct BrowserMemory {
    known: Measured,
    measuring: Option<oneshot::Receiver<Measured>>,
    last: Option<Instant>,
}

impl BrowserMemory {
    /// Adds the memory of each session's browser, as far as it is known.
    pub(super) fn fill(&mut self, sessions: &mut [SessionStatus], tasks: &TaskGroup) {
        if let Some(measured) = self.measuring.as_mut().and_then(|measuring| measuring.try_recv().ok()) {
            (self.known, self.measuring) = (measured, None);
        }
        let active = sessions.iter().filter(|session| session.active);
        let pids: Vec<i32> = active.filter_map(|session| session.browser_pid).collect();
        // A browser that is new is measured at once.
        let is_due = self.last.is_none_or(|last| last.elapsed() >= EVERY)
            || pids.iter().any(|pid| !self.known.contains_key(pid));
        if is_due && self.measuring.is_none() && !pids.is_empty() {
            let (sender, receiver) = oneshot::channel();
            (self.measuring, self.last) = (Some(receiver), Some(Instant::now()));
            tasks.start("browser-memory", async move {
                let measure = move || {
                    let sizes = pids.into_iter().map(|pid| (pid, memory_of_group(pid).unwrap_or_default()));
                    sizes.collect::<Measured>()
                };
                if let Ok(measured) = tokio::task::spawn_blocking(measure).await {
                    // The line may be closed.
                    let _ = sender.send(measured);
                }
            });
        }
        for session in sessions {
            let known = session.browser_pid.and_then(|pid| self.known.get(&pid));
            session.memory_bytes = known.filter(|bytes| **bytes > 0).map(|bytes| bytes / STEP * STEP);
        }
    }
}
