//! Finds links that died without a word (F03). Knows nothing of reconnecting.

use std::sync::Arc;
use std::time::Duration;

use crate::close_reason::CloseReason;
use crate::connection::{Connection, Core};
use crate::deadline::Deadline;
use crate::error::CdpError;
use crate::limits::{HEARTBEAT_ANSWER, HEARTBEAT_SILENCE};
use crate::session_state::SessionState;
use crate::task_group::TaskGroup;

/// When a heartbeat is sent and how long it may stay unanswered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeartbeatTimings {
    /// Silence after which the browser is asked for a sign of life.
    pub silence: Duration,
    /// How long that sign may take.
    pub answer: Duration,
}

impl Default for HeartbeatTimings {
    fn default() -> Self {
        Self { silence: HEARTBEAT_SILENCE, answer: HEARTBEAT_ANSWER }
    }
}

impl Connection {
    /// Watches the link from now on and closes it as [`CloseReason::Silent`] when nothing comes back.
    ///
    /// For websockets; a pipe tells its own end.
    pub fn watch_heartbeat(&self, timings: HeartbeatTimings, tasks: &TaskGroup) {
        let core = Arc::clone(self.core());
        tasks.start("cdp heartbeat", async move {
            tokio::select! {
                () = beat(&core, timings) => core.close(CloseReason::Silent),
                _ = core.wait_closed() => {}
            }
        });
    }
}

/// Completes when the browser is silent for good.
async fn beat(core: &Arc<Core>, timings: HeartbeatTimings) {
    let browser = SessionState::new(None, Arc::downgrade(core));
    loop {
        let quiet = core.silence();
        if quiet < timings.silence {
            tokio::time::sleep(timings.silence - quiet).await;
            continue;
        }
        let deadline = Deadline::after(timings.answer);
        let answer = match core.begin(&browser, "Browser.getVersion".into(), &(), deadline) {
            Ok(pending) => pending.answer().await,
            Err(error) => Err(error),
        };
        // Any frame is a sign of life, and a browser that answers with an error is alive.
        let silent = core.silence() >= timings.answer;
        if matches!(answer, Err(CdpError::Timeout { .. } | CdpError::Backlogged { .. })) && silent {
            return;
        }
    }
}
