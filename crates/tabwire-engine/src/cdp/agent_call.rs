//! Calls of the page agent: finding or making its isolated world in a frame, running a function, cancelling a wait.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_api::{Failure, FrameId};
use tabwire_cdp::{CdpError, CdpSession, Deadline, PendingResponse, Response};
use tokio::time::Instant;

use super::errors::{document_gone, frame_gone, is_context_missing, is_document_gone, is_frame_elsewhere};
use super::frame_access::capability_of;
use super::session::{PageSession, ResponseFuture};
use crate::agent::page_agent;
use crate::frames::tree::ContextId;
use crate::page::evaluate::EvaluateResponse;

/// The value of a call in a context in which the agent has not been installed.
const NOT_INSTALLED: i64 = -1;

/// Agent functions that wait until a timeout of their own and can be cancelled.
const WAITING: &[&str] = &["waitFor", "prepare", "waitForChecked", "query", "expect"];

/// Agent functions that are called often and never return a promise, so that `awaitPromise` can be left out.
const SYNCHRONOUS: &[&str] = &["find", "snapshot"];

/// Agent functions that only read the document that is shown. They are called again when another document replaces it
/// meanwhile: Chrome holds calls during a commit, Firefox does not.
const REPEATED: &[&str] = &["location", "snapshot", "find", "focusedElement"];

/// How long the cancellation of a wait may take.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a call waits for the event that a frame moved to another process.
const PROCESS_SWAP_TIMEOUT: Duration = Duration::from_secs(5);

/// The id by which a wait is cancelled; unique in the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WaitId(u64);

impl WaitId {
    fn next() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

/// A call as an expression for `Runtime.evaluate`.
#[derive(Clone, Debug)]
struct AgentCall {
    expression: String,
    awaits_promise: bool,
    /// Whether it may run in the next document.
    repeats: bool,
    wait: Option<WaitId>,
}

impl AgentCall {
    fn new(function: &'static str, argument: &Value) -> Self {
        let wait = WAITING.contains(&function).then(WaitId::next);
        let id = wait.map(|WaitId(number)| format!(", {number}")).unwrap_or_default();
        let expression =
            format!("globalThis.tabwire ? tabwire.run(\"{function}\", {argument}{id}) : {NOT_INSTALLED}");
        let repeats = REPEATED.contains(&function);
        Self { expression, awaits_promise: !SYNCHRONOUS.contains(&function), repeats, wait }
    }
}

/// A call that has been sent. Dropping it before the response cancels the wait in the page.
#[derive(Debug)]
struct PendingAgentCall {
    session: CdpSession,
    context: ContextId,
    response: PendingResponse,
    wait: Option<WaitId>,
}

impl PendingAgentCall {
    fn send(
        session: &CdpSession,
        context: ContextId,
        call: &AgentCall,
        deadline: Deadline,
    ) -> Result<Self, Failure> {
        let params = evaluate_params(context, &call.expression, call.awaits_promise);
        let response =
            session.begin("Runtime.evaluate", &params, deadline).map_err(CdpError::into_failure)?;
        Ok(Self { session: session.clone(), context, response, wait: call.wait })
    }

    async fn response(&mut self) -> Result<Response, CdpError> {
        self.response.wait().await
    }
}

impl Drop for PendingAgentCall {
    fn drop(&mut self) {
        let Some(WaitId(number)) = self.wait.filter(|_| self.response.is_open()) else { return };
        let expression = format!("globalThis.tabwire && tabwire.cancelWait({{ wait: {number} }})");
        // When this does not arrive, the wait ends at its own timeout.
        self.session.post(
            "Runtime.evaluate",
            &evaluate_params(self.context, &expression, true),
            Deadline::after(CANCEL_TIMEOUT),
        );
    }
}

fn evaluate_params(context: ContextId, expression: &str, awaits_promise: bool) -> Value {
    json!({
        // By value: a handle would keep its object alive until it is released (docs/cdp/evaluate-modes.md).
        "expression": expression, "contextId": context.number(), "returnByValue": true,
        "awaitPromise": awaits_promise,
    })
}

impl PageSession {
    /// Calls a function of the page agent in a frame. Resolves to the function's result or its failure.
    pub(crate) fn call(
        &self,
        frame: &FrameId,
        function: &'static str,
        argument: &Value,
        deadline: Deadline,
    ) -> ResponseFuture<Value> {
        if let Err(failure) = self.check(frame, capability_of(function)) {
            return Box::pin(async { Err(failure) });
        }
        if function != "snapshot" {
            self.count_activity();
        }
        let call = AgentCall::new(function, argument);
        let known = self.tree().find(frame);
        // Sent before the first poll, so that commands that follow arrive after the call.
        let sent = match known {
            Some((session, Some(context))) => {
                match PendingAgentCall::send(&session, context, &call, deadline) {
                    Ok(sent) => Some(sent),
                    Err(failure) => return Box::pin(async { Err(failure) }),
                }
            }
            _ => None,
        };
        Box::pin(self.clone().finish_call(frame.clone(), call, sent, deadline))
    }

    async fn finish_call(
        self,
        frame: FrameId,
        call: AgentCall,
        mut sent: Option<PendingAgentCall>,
        deadline: Deadline,
    ) -> Result<Value, Failure> {
        let mut is_installed = false;
        loop {
            let mut pending = match sent.take() {
                Some(sent) => sent,
                None => {
                    let (session, context) = self.agent_context(&frame, deadline).await?;
                    PendingAgentCall::send(&session, context, &call, deadline)?
                }
            };
            let response = pending.response().await;
            match response {
                Ok(response) => {
                    let response: EvaluateResponse = response.to().map_err(CdpError::into_failure)?;
                    if !response.is_number(NOT_INSTALLED) || is_installed {
                        return response.into_agent_result();
                    }
                    // In a frame without scripts of its own, the isolated world exists but nothing has run in it yet.
                    is_installed = true;
                    self.install_agent(&pending.session, pending.context, deadline).await?;
                }
                // The call did not run, because the context was gone before, or it only read. Retry in the new one.
                Err(error) if is_context_missing(&error) || call.repeats && is_document_gone(&error) => {
                    self.tree().remove_context(pending.context, &pending.session);
                }
                Err(error) if is_document_gone(&error) => return Err(document_gone()),
                Err(error) => return Err(self.failure_in(&frame, error)),
            }
        }
    }

    /// The session of a frame and the execution context of its agent, made if there is none.
    pub(super) async fn agent_context(
        &self,
        frame: &FrameId,
        deadline: Deadline,
    ) -> Result<(CdpSession, ContextId), Failure> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct IsolatedWorld {
            execution_context_id: ContextId,
        }
        self.wait_ready(deadline).await?;
        let swap_deadline = deadline.instant().min(Instant::now() + PROCESS_SWAP_TIMEOUT);
        loop {
            let found = self.tree().find(frame);
            let (session, context) = found.ok_or_else(|| frame_gone(frame))?;
            if let Some(context) = context {
                return Ok((session, context));
            }
            // Worlds of the same name in a frame are one world, so a second call returns the existing context
            // (docs/cdp/isolated-worlds.md).
            let params = json!({"frameId": frame, "worldName": self.world_name()});
            let created = session.send("Page.createIsolatedWorld", &params, deadline).await;
            match created.and_then(|created| created.to::<IsolatedWorld>()) {
                Ok(IsolatedWorld { execution_context_id: context }) => {
                    self.install_agent(&session, context, deadline).await?;
                    self.tree().set_agent_context(frame, context, &session);
                    return Ok((session, context));
                }
                // The event that names the frame's new process comes after this response.
                Err(error) if Instant::now() < swap_deadline && is_frame_elsewhere(&error) => {
                    self.wait_for_swap(frame, &session, swap_deadline).await;
                }
                // Chrome reports no end for some frames of a document that another process replaced.
                Err(error) if is_frame_elsewhere(&error) && frame != self.main_frame() => {
                    self.tree().detached(frame, &session);
                    return Err(frame_gone(frame));
                }
                Err(error) => return Err(self.failure_in(frame, error)),
            }
        }
    }

    /// Waits until a frame is gone from this session.
    async fn wait_for_swap(&self, frame: &FrameId, from: &CdpSession, until: Instant) {
        let swapped = self.frames_satisfy(|page| {
            page.tree().find(frame).is_none_or(|(session, _)| session.id() != from.id())
        });
        let _ = tokio::time::timeout_at(until, swapped).await;
    }

    async fn install_agent(
        &self,
        session: &CdpSession,
        context: ContextId,
        deadline: Deadline,
    ) -> Result<(), Failure> {
        let params = json!({"expression": page_agent(), "contextId": context.number()});
        let installed = session.send("Runtime.evaluate", &params, deadline).await;
        // In a new tab of Firefox, the first document can replace the empty one at any moment.
        installed.map(drop).map_err(|error| self.failure(error))
    }
}
