//! The page's workers: held at their start until they are told what holds for the page, then only listened to.

use std::sync::Arc;

use serde_json::json;
use tabwire_cdp::{CdpError, CdpSession, Event, EventFilter, TaskGroup};

use super::process_settings::finish_in_frame;
use super::watch::{Attached, REQUESTS};
use super::{CdpDriver, Observer};
use crate::limits::{PAGE_EVENTS, SETUP_DEADLINE};
use crate::network::WorkerFence;

/// Tells of a worker's own workers.
const ATTACHED: &str = "Target.attachedToTarget";

impl CdpDriver {
    /// Lets a worker start, and follows its requests for as long as it is there.
    ///
    /// Chromium 156 holds workers at their start even if they are left out of what is attached to, and then nobody
    /// can let them go. So they are attached to.
    pub(super) fn take_worker(
        &self,
        worker: CdpSession,
        url: &str,
        tasks: &TaskGroup,
        observer: &Arc<dyn Observer>,
    ) {
        let methods = REQUESTS.iter().copied().chain([ATTACHED]);
        let mut events = worker.events_bounded(EventFilter::methods(methods), PAGE_EVENTS);
        observer.joined(&worker);
        self.start_worker(&worker, url, tasks);
        let (driver, observer, group) = (self.clone(), Arc::clone(observer), tasks.clone());
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
                    Ok(event) if event.method() == ATTACHED => {
                        driver.take_nested(&worker, &event, &group, &observer);
                    }
                    Ok(event) => observer.observe(&worker, &event),
                    Err(CdpError::Missed { count }) => tracing::warn!(count, "a worker's events were missed"),
                    Err(_) => return,
                }
            }
        });
    }

    /// Tells a worker what holds for the page, and lets it go.
    fn start_worker(&self, worker: &CdpSession, url: &str, tasks: &TaskGroup) {
        let enabled = worker.begin("Network.enable", &json!({}), SETUP_DEADLINE);
        let settings = self.settings().begin(worker);
        let fence = self.inner.containment.as_ref().map(|containment| containment.begin_in_worker(worker));
        let release =
            |worker: &CdpSession| worker.begin("Runtime.runIfWaitingForDebugger", &json!({}), SETUP_DEADLINE);
        // Where nothing has to be certain, it need not wait for what it is told.
        let released = fence.is_none().then(|| release(worker));
        self.settings().add_worker(worker);
        let (driver, worker) = (self.clone(), worker.clone());
        // Nothing can be taken from it: it is nobody's page.
        let is_strange = url.starts_with("data:");
        tasks.start("worker-setup", async move {
            // A worker that is gone, or takes no setting, is not the page's trouble.
            let _ = finish_in_frame(enabled).await;
            for setting in settings {
                let _ = driver.finish_setting(setting).await;
            }
            if let Some(fence) = fence
                && !is_fenced(fence, is_strange).await
            {
                tracing::warn!("a worker could not be kept from reaching others; it does not start");
                return;
            }
            let _ = finish_in_frame(released.unwrap_or_else(|| release(&worker))).await;
        });
    }

    /// A worker started a worker.
    fn take_nested(
        &self,
        worker: &CdpSession,
        event: &Event,
        tasks: &TaskGroup,
        observer: &Arc<dyn Observer>,
    ) {
        if let Ok(attached) = event.to::<Attached>() {
            let child = worker.connection().session(&attached.session_id);
            self.take_worker(child, attached.url(), tasks, observer);
        }
    }
}

/// Whether a worker has taken everything that keeps it in. A frame that may not be read may keep its sockets: whoever
/// wrote it has been reached already.
async fn is_fenced(fence: WorkerFence, is_strange: bool) -> bool {
    let blocked = matches!(finish_in_frame(fence.blocked).await, Ok(Some(_)));
    let fenced = matches!(finish_in_frame(fence.fenced).await, Ok(Some(_)));
    let attaching = matches!(finish_in_frame(fence.attaching).await, Ok(Some(_)));
    blocked && attaching && (fenced || !is_strange)
}
