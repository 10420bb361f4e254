//! The page's workers: held at their start until they are told what holds for the page, then only listened to.

use std::sync::Arc;

use serde_json::json;
use tabwire_cdp::{CdpError, CdpSession, EventFilter, TaskGroup};

use super::process_settings::finish_in_frame;
use super::watch::REQUESTS;
use super::{CdpDriver, Observer};
use crate::limits::{PAGE_EVENTS, SETUP_DEADLINE};

impl CdpDriver {
    /// Lets a worker start, and follows its requests for as long as it is there.
    ///
    /// Chromium 156 holds workers at their start even if they are left out of what is attached to, and then nobody
    /// can let them go. So they are attached to.
    pub(super) fn take_worker(&self, worker: CdpSession, tasks: &TaskGroup, observer: &Arc<dyn Observer>) {
        let mut events = worker.events_bounded(EventFilter::methods(REQUESTS.iter().copied()), PAGE_EVENTS);
        observer.joined(&worker);
        let enabled = worker.begin("Network.enable", &json!({}), SETUP_DEADLINE);
        let settings = self.settings().begin(&worker);
        let released = worker.begin("Runtime.runIfWaitingForDebugger", &json!({}), SETUP_DEADLINE);
        self.settings().add_worker(&worker);
        let driver = self.clone();
        tasks.start("worker-setup", async move {
            // A worker that is gone, or takes no setting, is not the page's trouble.
            let _ = finish_in_frame(enabled).await;
            for setting in settings {
                let _ = driver.finish_setting(setting).await;
            }
            let _ = finish_in_frame(released).await;
        });
        let observer = Arc::clone(observer);
        let mut waiting = self.add_watcher();
        tasks.start("worker-watch", async move {
            loop {
                let next = tokio::select! {
                    biased;
                    next = events.next() => next,
                    Some(waiter) = waiting.recv() => {
                        // One that does not wait any more needs no answer.
                        let _: Result<(), ()> = waiter.send(());
                        continue;
                    }
                };
                match next {
                    Ok(event) => observer.observe(&worker, &event),
                    Err(CdpError::Missed { count }) => tracing::warn!(count, "a worker's events were missed"),
                    Err(_) => return,
                }
            }
        });
    }
}
