//! The workers of a page: paused at their start until they have the page's settings, then observed. Scripts may run code
//! in them.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use tabwire_api::{ErrorCode, Failure};
use tabwire_cdp::{CdpError, CdpSession, Deadline, Event, EventFilter};
use tabwire_policy::Capability;
use tokio::sync::watch;

use super::events::{AttachedToTarget, PAGE_EVENTS, REQUESTS};
use super::process_settings::accept_refusal;
use super::session::{EventObserver, PageSession};
use crate::limits::SETUP_DEADLINE;
use crate::network::WorkerFence;

/// Reports a worker that a worker started.
const ATTACHED: &str = "Target.attachedToTarget";

/// Console lines and exceptions of a worker, for scripts.
const MESSAGES: [&str; 2] = ["Runtime.consoleAPICalled", "Runtime.exceptionThrown"];

/// A worker of a page.
#[derive(Clone, Debug)]
pub(crate) struct Worker {
    pub(crate) session: CdpSession,
    pub(crate) url: String,
    /// The URL by which the policy judges it: its own, or that of the document or worker that started it when its own has
    /// no site.
    pub(crate) judged: Option<String>,
    start: Arc<watch::Sender<Start>>,
}

/// How far the start of a worker is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// It waits for the page's settings.
    Paused,
    Running,
    /// The egress policy could not be applied to it, so it never runs.
    Refused,
}

impl Worker {
    fn new(session: CdpSession, url: &str, starter: Option<String>) -> Self {
        let own = url.strip_prefix("blob:").unwrap_or(url);
        let judged = if own.starts_with("http") { Some(own.to_owned()) } else { starter };
        Self { session, url: url.to_owned(), judged, start: Arc::new(watch::Sender::new(Start::Paused)) }
    }

    /// Waits until it runs. Chromium 156 crashes the process of a worker in which a function with promises runs while it
    /// is paused at its start.
    async fn wait_until_running(&self, deadline: Deadline) -> Result<(), Failure> {
        let mut start = self.start.subscribe();
        let begun = start.wait_for(|start| *start != Start::Paused);
        match tokio::time::timeout_at(deadline.instant(), begun).await {
            _ if self.session.is_gone() => Err(worker_gone()),
            Ok(Ok(start)) if *start == Start::Running => Ok(()),
            Ok(_) => Err(Failure::new(ErrorCode::PolicyDenied, "The worker was not started.")
                .with_remedy("The session's policy could not be applied to it. Use a page instead.")),
            Err(_) => Err(Failure::new(ErrorCode::Timeout, "The worker did not start in time.")
                .with_remedy("Its page may be busy. Retry.")),
        }
    }
}

/// The workers of one page that scripts can name.
#[derive(Debug, Default)]
pub(super) struct Workers(Mutex<Vec<Worker>>);

impl Workers {
    fn add(&self, worker: Worker) {
        let mut workers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        workers.retain(|worker| !worker.session.is_gone());
        workers.push(worker);
    }

    fn find(&self, id: &str) -> Option<Worker> {
        let workers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_meant = |worker: &&Worker| worker.session.id().is_some_and(|own| own.as_str() == id);
        workers.iter().find(is_meant).filter(|worker| !worker.session.is_gone()).cloned()
    }
}

impl PageSession {
    /// The worker with this id once it runs, if the policy allows code in it.
    pub(crate) async fn worker_for_code(&self, id: &str, deadline: Deadline) -> Result<Worker, Failure> {
        let worker = self.workers().find(id).ok_or_else(worker_gone)?;
        match &worker.judged {
            Some(url) if !self.policy().is_idle() => self.policy().check(url, Capability::Eval)?,
            _ => {}
        }
        worker.wait_until_running(deadline).await?;
        Ok(worker)
    }

    /// A worker that a document of this process started.
    pub(super) fn worker_of_document(
        &self,
        parent: &CdpSession,
        child: CdpSession,
        url: &str,
        observer: &Arc<dyn EventObserver>,
    ) {
        let starter = self.frame_urls().find_by_session(parent);
        self.worker_attached(Worker::new(child, url, starter), observer);
    }

    /// Starts a worker and reads its events until it is gone.
    ///
    /// Chromium 156 pauses workers at their start even when the auto-attach filter excludes them, and then no client
    /// can resume them. So the filter includes them.
    fn worker_attached(&self, worker: Worker, observer: &Arc<dyn EventObserver>) {
        let methods = REQUESTS.iter().copied().chain([ATTACHED]).chain(MESSAGES);
        let mut events = worker.session.events_bounded(EventFilter::methods(methods), PAGE_EVENTS);
        observer.joined(&worker.session);
        self.workers().add(worker.clone());
        self.start_worker(&worker);
        observer.worker(&worker, true);
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
                    Ok(event) if MESSAGES.contains(&event.method()) => {
                        observer.observe_worker(&worker, &event);
                    }
                    Ok(event) => observer.observe(&worker.session, &event),
                    Err(CdpError::Missed { count }) => tracing::warn!(count, "events of a worker were lost"),
                    Err(_) => return observer.worker(&worker, false),
                }
            }
        });
    }

    /// Applies the page's settings to a worker and resumes it.
    fn start_worker(&self, started: &Worker) {
        let worker = &started.session;
        // Sent back to back with the resume: the worker handles them in order, so its first request is reported.
        let enabled = worker.begin("Network.enable", &json!({}), SETUP_DEADLINE);
        let reporting = worker.begin("Runtime.enable", &json!({}), SETUP_DEADLINE);
        let settings = self.settings().begin(worker);
        let fence = self.egress().map(|egress| egress.begin_in_worker(worker));
        let resume =
            |worker: &CdpSession| worker.begin("Runtime.runIfWaitingForDebugger", &json!({}), SETUP_DEADLINE);
        // Without an egress policy nothing must hold before the first request, so the worker need not wait.
        let resumed = fence.is_none().then(|| resume(worker));
        self.settings().add_worker(worker);
        let (page, worker, start) = (self.clone(), worker.clone(), Arc::clone(&started.start));
        let is_data_url = started.url.starts_with("data:");
        self.tasks().start("worker-setup", async move {
            // A worker that is gone, or refuses a setting, does not concern the page.
            let _ = accept_refusal(enabled).await;
            let _ = accept_refusal(reporting).await;
            for setting in settings {
                let _ = page.finish_setting(setting).await;
            }
            if let Some(fence) = fence
                && !is_fenced(fence, is_data_url).await
            {
                tracing::warn!("a worker stays paused: the egress policy could not be applied to it");
                start.send_replace(Start::Refused);
                return;
            }
            let _ = accept_refusal(resumed.unwrap_or_else(|| resume(&worker))).await;
            start.send_replace(Start::Running);
        });
    }

    fn nested_worker_attached(&self, worker: &Worker, event: &Event, observer: &Arc<dyn EventObserver>) {
        if let Ok(attached) = event.to::<AttachedToTarget>() {
            let child = worker.session.connection().session(&attached.session_id);
            self.worker_attached(Worker::new(child, attached.url(), worker.judged.clone()), observer);
        }
    }
}

/// The failure of code for a worker that has ended.
pub(super) fn worker_gone() -> Failure {
    let message = "Target page, context or browser has been closed";
    Failure::new(ErrorCode::TargetGone, message).with_remedy("The worker has ended. Use another one.")
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
