//! Finds the elements of a document that have click listeners, and registers them with the document's agent.
//!
//! A script cannot list listeners of other scripts. Chrome lists them as nodes without the page noticing; each node is
//! resolved once in the agent's context.

pub(super) mod table;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, FrameId};
use tabwire_cdp::{CdpError, CdpSession, Deadline, PendingResponse, TaskGroup};
use tokio::runtime::Handle;
use tokio::sync::{OwnedMutexGuard, oneshot};
use tokio::time::Instant;

use self::table::{FAST_LISTENERS, Fingerprint, Listener, ListenerTable, NodeNumber};
use crate::cdp::element_object::{RemoteObjectResponse, ResolveNodeResponse};
use crate::cdp::session::{PageSession, ResponseFuture};
use crate::frames::tree::{ContextId, ListenerScope};

/// The object group of resolved elements, released together.
const GROUP: &str = "tabwire-listeners";

/// How long a snapshot waits for an update; most take a few milliseconds.
const SNAPSHOT_WAIT: Duration = Duration::from_millis(500);

/// How long one update may take.
const UPDATE_TIMEOUT: Duration = Duration::from_secs(10);

/// Elements that are registered with the agent in one call.
const BATCH: usize = 250;

/// The update of one document's listener table.
struct ListenerUpdate {
    session: CdpSession,
    /// The agent's context.
    context: ContextId,
    main_context: ContextId,
    table: OwnedMutexGuard<ListenerTable>,
    /// The query, when it could be sent with the snapshot's own commands.
    query: Option<Result<PendingResponse, CdpError>>,
    /// The listener count, requested before the query.
    counters: Option<PendingResponse>,
    activity: u64,
    /// Set when the agent learned something that changes a snapshot.
    is_changed: Arc<AtomicBool>,
    deadline: Deadline,
}

/// The response to `Memory.getDOMCounters`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DomCounters {
    js_event_listeners: u64,
}

/// The response to `DOMDebugger.getEventListeners`.
#[derive(Deserialize)]
struct EventListeners {
    #[serde(default)]
    listeners: Vec<Listener>,
}

/// Whether the agent's new nodes change a snapshot; no value when the agent is not installed.
#[derive(Deserialize)]
struct AgentReply {
    result: AgentReplyValue,
}

#[derive(Deserialize)]
struct AgentReplyValue {
    value: Option<bool>,
}

impl PageSession {
    /// Updates the agent's knowledge of click listeners in a frame's document. The query is sent before this returns.
    /// Resolves within a bounded time to whether a snapshot changes; a longer update continues in the background.
    pub(crate) fn update_click_listeners(&self, frame: &FrameId) -> ResponseFuture<bool> {
        let unchanged: ResponseFuture<bool> = Box::pin(async { Ok(false) });
        let found = self.tree().listener_scope(frame);
        let Some(ListenerScope { session, context, main_context, listeners }) = found else {
            return unchanged;
        };
        let Some(table) = listeners.try_lock() else { return unchanged };
        if !table.is_due(Instant::now()) {
            return unchanged;
        }
        let is_fast = table.is_fast();
        let deadline = Deadline::after(UPDATE_TIMEOUT);
        let activity = self.activity();
        let has_counters = table.document.is_some() && !table.has_no_counters;
        let counters =
            has_counters.then(|| session.begin("Memory.getDOMCounters", &json!({}), deadline).ok()).flatten();
        let is_count_enough = counters.is_some() && table.is_fresh(activity, Instant::now());
        let document = table.document.as_deref().filter(|_| !is_count_enough);
        let query = document.map(|document| query_listeners(&session, document, deadline));
        let is_sent = query.is_some() || is_count_enough;
        let is_changed = Arc::new(AtomicBool::new(false));
        let update = ListenerUpdate {
            session,
            context,
            main_context,
            table,
            query,
            counters,
            activity,
            is_changed: Arc::clone(&is_changed),
            deadline,
        };
        let (done, enough) = oneshot::channel::<()>();
        let mut running =
            RunningUpdate { update: Some(Box::pin(update.run(done))), tasks: self.tasks().clone() };
        if !is_sent {
            running.continue_in_background();
        }
        if !is_fast {
            return unchanged;
        }
        Box::pin(async move {
            let enough = tokio::time::timeout(SNAPSHOT_WAIT, enough);
            tokio::select! {
                biased;
                () = running.finish() => {}
                _ = enough => {}
            }
            Ok(is_changed.load(Ordering::Acquire))
        })
    }
}

/// An update that runs in its caller's task, and moves to a task of its own when the caller stops waiting. Usually one
/// response is left to come, which is not worth a task.
struct RunningUpdate {
    /// `None` when it is done or runs in the background.
    update: Option<BoxFuture<'static, ()>>,
    tasks: TaskGroup,
}

impl RunningUpdate {
    /// Waits for the end; forever when the update runs in the background.
    async fn finish(&mut self) {
        let Some(update) = &mut self.update else { return std::future::pending().await };
        update.await;
        self.update = None;
    }

    fn continue_in_background(&mut self) {
        if let Some(update) = self.update.take() {
            self.tasks.start("listeners", update);
        }
    }
}

impl Drop for RunningUpdate {
    fn drop(&mut self) {
        // During shutdown there is no runtime to continue in.
        if Handle::try_current().is_ok() {
            self.continue_in_background();
        }
    }
}

/// Whether the browser never lists listeners.
fn is_unsupported(error: &CdpError) -> bool {
    let CdpError::Protocol { data: Some(data), .. } = error else { return false };
    matches!(serde_json::from_str(data), Ok(ErrorCode::UnsupportedHere))
}

fn query_listeners(
    session: &CdpSession,
    document: &str,
    deadline: Deadline,
) -> Result<PendingResponse, CdpError> {
    let params = json!({"objectId": document, "depth": -1, "pierce": true});
    session.begin("DOMDebugger.getEventListeners", &params, deadline)
}

impl ListenerUpdate {
    /// Runs the update. `done` is dropped when all is known, or so much that the rest would take long.
    async fn run(self, done: oneshot::Sender<()>) {
        if let Err(error) = self.try_run(done).await {
            // The document is gone or busy. The next snapshot queries again.
            tracing::debug!(%error, "click listeners of a document are unknown");
        }
    }

    async fn try_run(mut self, done: oneshot::Sender<()>) -> Result<(), CdpError> {
        let mut done = Some(done);
        // Taken before the list: a listener that is added in between makes it outdated, and the next
        // snapshot queries again.
        let fingerprint = self.fingerprint().await;
        let query = match self.query.take() {
            Some(query) => query?,
            None if self.table.is_complete(fingerprint) => return Ok(()),
            None => {
                let document = match self.table.document.clone() {
                    Some(document) => document,
                    None => self.resolve_document().await?,
                };
                query_listeners(&self.session, &document, self.deadline)?
            }
        };
        self.table.set_fingerprint(None, Instant::now());
        let response = match query.response().await {
            Ok(response) => response,
            Err(error) => {
                self.table.document = None;
                self.table.has_no_listeners = is_unsupported(&error);
                return Err(error);
            }
        };
        if self.table.is_unchanged(response.bytes(), Instant::now()) {
            self.table.set_fingerprint(fingerprint, Instant::now());
            return Ok(());
        }
        let changes = self.table.compare(&response.to::<EventListeners>()?.listeners, Instant::now());
        if !changes.removed.is_empty() && !self.forget_nodes(&changes.removed).await? {
            return Ok(());
        }
        let mut registered = 0;
        for nodes in changes.added.chunks(BATCH) {
            self.register_nodes(nodes).await?;
            registered += nodes.len();
            done.take_if(|_| registered >= FAST_LISTENERS);
        }
        self.table.set_last_response(response.bytes());
        self.table.set_fingerprint(fingerprint, Instant::now());
        Ok(())
    }

    /// The present fingerprint; `None` where Chrome has no counters.
    async fn fingerprint(&mut self) -> Option<Fingerprint> {
        let response = self.counters.take()?.response().await;
        if let Err(CdpError::Protocol { .. }) = response {
            self.table.has_no_counters = true;
        }
        let DomCounters { js_event_listeners: listeners } = response.ok()?.to().ok()?;
        Some(Fingerprint { listeners, activity: self.activity })
    }

    /// Gets the document as a remote object that lives as long as the document. It is in no object group: the
    /// listeners would be held with it.
    ///
    /// The object is of the main world, not of the agent's: Chromium 156 crashes some time after it listed all
    /// listeners of a document of another world (the test `ten_thousand_listeners` shows it). A page cannot replace
    /// `document`.
    async fn resolve_document(&mut self) -> Result<String, CdpError> {
        let params = json!({"expression": "document", "contextId": self.main_context.number()});
        let response: RemoteObjectResponse =
            self.session.send("Runtime.evaluate", &params, self.deadline).await?.to()?;
        let document = response.result.object_id.unwrap_or_default();
        self.table.document = Some(document.clone());
        Ok(document)
    }

    /// Makes the agent forget nodes; false when it is not installed yet.
    async fn forget_nodes(&mut self, nodes: &[NodeNumber]) -> Result<bool, CdpError> {
        let params = json!({
            "functionDeclaration": "function (numbers) { return globalThis.tabwire?.forgetListeners(numbers); }",
            "executionContextId": self.context.number(), "arguments": [{"value": nodes}],
        });
        let is_installed = self.call_agent(params).await?;
        if is_installed {
            self.table.remove(nodes);
        }
        Ok(is_installed)
    }

    /// Resolves nodes in the agent's context and registers them with the agent.
    async fn register_nodes(&mut self, nodes: &[NodeNumber]) -> Result<(), CdpError> {
        let begin = |node: &NodeNumber| {
            let params = json!({
                "backendNodeId": node, "executionContextId": self.context.number(), "objectGroup": GROUP,
            });
            self.session.begin("DOM.resolveNode", &params, self.deadline)
        };
        let pending: Vec<_> = nodes.iter().map(begin).collect();
        let mut numbers = Vec::new();
        let mut elements = Vec::new();
        for (node, pending) in nodes.iter().zip(pending) {
            match pending?.response().await {
                Ok(response) => {
                    if let Some(object) = response.to::<ResolveNodeResponse>()?.object.object_id {
                        numbers.push(*node);
                        elements.push(json!({"objectId": object}));
                    }
                }
                // The node is gone, or in a frame that this agent cannot read.
                Err(CdpError::Protocol { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let arguments: Vec<Value> = std::iter::once(json!({"value": numbers})).chain(elements).collect();
        let params = json!({
            "functionDeclaration": "function (numbers, ...elements) { return globalThis.tabwire?.noteListeners(numbers, elements); }",
            "executionContextId": self.context.number(), "arguments": arguments,
        });
        let registering = self.call_agent(params);
        let params = json!({"objectGroup": GROUP});
        let released = self.session.begin("Runtime.releaseObjectGroup", &params, self.deadline);
        let is_registered = registering.await;
        released?.response().await?;
        if is_registered? {
            self.table.add(nodes);
        }
        Ok(())
    }

    /// Calls a function of the agent; false when it is not installed yet.
    fn call_agent(&self, mut params: Value) -> impl Future<Output = Result<bool, CdpError>> + use<> {
        params["returnByValue"] = json!(true);
        let pending = self.session.begin("Runtime.callFunctionOn", &params, self.deadline);
        let is_changed = Arc::clone(&self.is_changed);
        async move {
            let reply = pending?.response().await?.to::<AgentReply>()?.result.value;
            if reply == Some(true) {
                is_changed.store(true, Ordering::Release);
            }
            Ok(reply.is_some())
        }
    }
}
