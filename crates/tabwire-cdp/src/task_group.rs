//! Starts all tasks: each has a name, is counted, and is joined at shutdown.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use crate::deadline::Deadline;

/// How long aborted tasks may take to unwind at shutdown: 1 s.
const ABORT_GRACE: Duration = Duration::from_secs(1);

/// A group of tasks that end together.
///
/// A panic in one is logged once with its name and does not stop the others (F43). Clones share the group.
#[derive(Clone, Debug)]
pub struct TaskGroup {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    running: Mutex<RunningTasks>,
    count: watch::Sender<usize>,
    stopping: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct RunningTasks {
    next: u64,
    tasks: HashMap<u64, Task>,
}

#[derive(Debug)]
struct Task {
    name: Arc<str>,
    /// `None` for the instant between registration and start.
    abort: Option<AbortHandle>,
}

impl Default for TaskGroup {
    fn default() -> Self {
        Self::new()
    }
}

impl TaskGroup {
    /// Creates an empty group.
    #[must_use]
    pub fn new() -> Self {
        let shared = Shared {
            running: Mutex::default(),
            count: watch::Sender::new(0),
            stopping: watch::Sender::new(false),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Starts a task with a name for the log.
    ///
    /// Must be called within a tokio runtime.
    pub fn start<F>(&self, name: impl Into<Arc<str>>, future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.start_boxed(name.into(), Box::pin(future));
    }

    /// One type of future: tokio's task functions are compiled once and not for each kind of task.
    fn start_boxed(&self, name: Arc<str>, future: Pin<Box<dyn Future<Output = ()> + Send>>) {
        let key = self.shared.register(&name);
        let membership = Membership { shared: Arc::clone(&self.shared), key };
        let task = async move {
            let _membership = membership;
            if AssertUnwindSafe(future).catch_unwind().await.is_err() {
                tracing::error!(task = %name, "task panicked");
            }
        };
        #[expect(
            clippy::disallowed_methods,
            reason = "this is the task group every other start goes through"
        )]
        let handle = tokio::spawn(task);
        if let Some(task) = self.shared.lock().tasks.get_mut(&key) {
            task.abort = Some(handle.abort_handle());
        }
    }

    /// The number of running tasks.
    #[must_use]
    pub fn len(&self) -> usize {
        *self.shared.count.borrow()
    }

    /// Whether no task is running.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The names of the running tasks, for leak reports.
    #[must_use]
    pub fn names(&self) -> Vec<Arc<str>> {
        self.shared.lock().tasks.values().map(|task| Arc::clone(&task.name)).collect()
    }

    /// Completes when shutdown was requested.
    pub async fn stopping(&self) {
        let mut stopping = self.shared.stopping.subscribe();
        // An error means that the sender is gone, which cannot happen while `self` lives.
        let _ = stopping.wait_for(|stopping| *stopping).await;
    }

    /// Completes when no task is running; returns false at the deadline.
    pub async fn drained(&self, deadline: impl Into<Deadline>) -> bool {
        let mut count = self.shared.count.subscribe();
        let drained = count.wait_for(|count| *count == 0);
        tokio::time::timeout_at(deadline.into().instant(), drained).await.is_ok()
    }

    /// Requests all tasks to stop, joins them, and aborts those still running at the deadline.
    ///
    /// Returns the names of the aborted ones; an empty list is a clean end.
    pub async fn shutdown(&self, deadline: impl Into<Deadline>) -> Vec<Arc<str>> {
        self.shared.stopping.send_replace(true);
        if self.drained(deadline).await {
            return Vec::new();
        }
        let mut aborted = Vec::new();
        for task in self.shared.lock().tasks.values() {
            tracing::warn!(task = %task.name, "task did not stop in time and is aborted");
            aborted.push(Arc::clone(&task.name));
            if let Some(abort) = &task.abort {
                abort.abort();
            }
        }
        self.drained(ABORT_GRACE).await;
        aborted
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, RunningTasks> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn register(&self, name: &Arc<str>) -> u64 {
        let mut running = self.lock();
        let key = running.next;
        running.next += 1;
        running.tasks.insert(key, Task { name: Arc::clone(name), abort: None });
        self.count.send_replace(running.tasks.len());
        key
    }
}

/// Removes the task from the list when it is dropped.
struct Membership {
    shared: Arc<Shared>,
    key: u64,
}

impl Drop for Membership {
    fn drop(&mut self) {
        let mut running = self.shared.lock();
        running.tasks.remove(&self.key);
        self.shared.count.send_replace(running.tasks.len());
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn f43_panic_in_one_task_does_not_stop_the_others() {
        let group = TaskGroup::new();
        let (release, released) = tokio::sync::oneshot::channel::<()>();
        group.start("falls", async { panic!("on purpose") });
        group.start("stands", async move {
            let _ = released.await;
        });
        assert_eq!(group.len(), 2);
        assert!(!group.drained(Duration::from_secs(1)).await);
        assert_eq!(group.names(), [Arc::from("stands")]);
        release.send(()).expect("the other task still waits");
        assert!(group.drained(Duration::from_secs(1)).await);
    }

    #[tokio::test(start_paused = true)]
    async fn shutdown_joins_stopping_tasks_and_aborts_the_rest() {
        let group = TaskGroup::new();
        let listener = group.clone();
        group.start("willing", async move { listener.stopping().await });
        group.start("stuck", std::future::pending());
        let aborted = group.shutdown(Duration::from_secs(2)).await;
        assert_eq!(aborted, [Arc::from("stuck")]);
        assert!(group.is_empty());
    }
}
