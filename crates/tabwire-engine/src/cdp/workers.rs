//! The workers of a page: paused at their start until they have the page's settings, then only observed.

use std::sync::Arc;

use serde_json::json;
use tabwire_cdp::{CdpError, CdpSession, Event, EventFilter};

use super::events::{Attached, PAGE_EVENTS, REQUESTS};
use super::process_settings::accept_refusal;
use super::session::{EventObserver, PageSession};
use crate::limits::SETUP_DEADLINE;
use crate::network::WorkerFence;

/// Reports a worker that a worker started.
const ATTACHED: &str = "Target.attachedToTarget";

impl PageSession {
    /// Starts a worker and reads its request events until it is gone.
    ///
    /// Chromium 156 pauses workers at their start even when the auto-attach filter excludes them, and then no client
    /// can resume them. So the filter includes them.
    pub(super) fn worker_attached(&self, worker: CdpSession, url: &str, observer: &Arc<dyn EventObserver>) {
        let methods = REQUESTS.iter().copied().chain([ATTACHED]);
        let mut events = worker.events_bounded(EventFilter::methods(methods), PAGE_EVENTS);
        observer.joined(&worker);
        self.start_worker(&worker, url);
        let mut sync_requests = self.readers().add();
        let (page, observer) = (self.clone(), Arc::clone(observer));
        self.tasks().start("worker-watch", async move {
            loop {
                let next = tokio::select! {
                    biased;
                    next = events.next() => next,
                    Some(request) = sync_requests.recv() => {
                        // The requester may have stopped waiting.
                        let _: Result<(), ()> = request.send(());
                        continue;
                    }
                };
                match next {
                    Ok(event) if event.method() == ATTACHED => {
                        page.nested_worker_attached(&worker, &event, &observer);
                    }
                    Ok(event) => observer.observe(&worker, &event),
                    Err(CdpError::Missed { count }) => tracing::warn!(count, "events of a worker were lost"),
                    Err(_) => return,
                }
            }
        });
    }

    /// Applies the page's settings to a worker and resumes it.
    fn start_worker(&self, worker: &CdpSession, url: &str) {
        let enabled = worker.begin("Network.enable", &json!({}), SETUP_DEADLINE);
        let settings = self.settings().begin(worker);
        let fence = self.egress().map(|egress| egress.begin_in_worker(worker));
        let resume =
            |worker: &CdpSession| worker.begin("Runtime.runIfWaitingForDebugger", &json!({}), SETUP_DEADLINE);
        // Without an egress policy nothing must hold before the first request, so the worker need not wait.
        let resumed = fence.is_none().then(|| resume(worker));
        self.settings().add_worker(worker);
        let (page, worker) = (self.clone(), worker.clone());
        let is_data_url = url.starts_with("data:");
        self.tasks().start("worker-setup", async move {
            // A worker that is gone, or refuses a setting, does not concern the page.
            let _ = accept_refusal(enabled).await;
            for setting in settings {
                let _ = page.finish_setting(setting).await;
            }
            if let Some(fence) = fence
                && !is_fenced(fence, is_data_url).await
            {
                tracing::warn!("a worker stays paused: the egress policy could not be applied to it");
                return;
            }
            let _ = accept_refusal(resumed.unwrap_or_else(|| resume(&worker))).await;
        });
    }

    fn nested_worker_attached(&self, worker: &CdpSession, event: &Event, observer: &Arc<dyn EventObserver>) {
        if let Ok(attached) = event.to::<Attached>() {
            let child = worker.connection().session(&attached.session_id);
            self.worker_attached(child, attached.url(), observer);
        }
    }
}

/// Whether the egress policy applies in a worker. The script that removes its sockets is refused in the worker of a
/// frame that may not be read; such a worker starts all the same, because its server was reached already. A `data:`
/// worker came from no server, so there the script must have run.
async fn is_fenced(fence: WorkerFence, is_data_url: bool) -> bool {
    let blocked = matches!(accept_refusal(fence.blocked).await, Ok(Some(_)));
    let fenced = matches!(accept_refusal(fence.fenced).await, Ok(Some(_)));
    let attaching = matches!(accept_refusal(fence.attaching).await, Ok(Some(_)));
    blocked && attaching && (fenced || !is_data_url)
}
