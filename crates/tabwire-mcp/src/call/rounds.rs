//! Calls that take several requests. From protocol revision 2026-07-28 on, a server may not send a request during a
//! call. It returns its question as the result, and the client sends the call again with the user's answer.
//!
//! The call keeps running here meanwhile, so that no effect happens twice. The client returns only a random
//! `requestState` that identifies the call.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, Implementation, InputRequiredResult,
    InputResponses, JsonObject, ProtocolVersion,
};
use rmcp::service::RequestContext;
use serde_json::json;
use tabwire_api::{ErrorCode, Failure};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::backend::{ApprovalQuestion, Approver, Permission};
use crate::call::callable::Callable;
use crate::call::progress::{panicked, returns_structured};
use crate::connection::Connection;
use crate::limits::{QUESTION_TIMEOUT, WAITING_CALLS};
use crate::result::error_result;

/// How long such a call is kept after the question's deadline, so that its client can read the result.
const WAITING_GRACE: Duration = Duration::from_secs(60);

/// What a client must send again to continue its call.
#[derive(Clone, Debug, PartialEq)]
struct CallIdentity {
    tool: String,
    arguments: Option<JsonObject>,
    /// The client's `clientInfo`, present in every request.
    client: Option<Implementation>,
}

/// A question that was sent to the client.
#[derive(Clone, Debug)]
struct OpenQuestion {
    question: ApprovalQuestion,
    until: Instant,
}

/// A running call and the receiver of its questions.
struct WaitingCall {
    identity: CallIdentity,
    work: JoinHandle<Result<CallToolResult, ErrorData>>,
    approver: Box<dyn Approver>,
}

impl Drop for WaitingCall {
    fn drop(&mut self) {
        // Dropping the call cancels it.
        self.work.abort();
    }
}

/// The next event of a call.
enum Step {
    Finished(Result<CallToolResult, ErrorData>),
    Question(ApprovalQuestion),
}

impl WaitingCall {
    /// Starts a call.
    #[expect(
        clippy::disallowed_methods,
        reason = "ended when the call is dropped, which its connection does"
    )]
    fn begin(
        connection: &Arc<Connection>,
        called: &Callable,
        identity: CallIdentity,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Self {
        let approver = called.approver(connection);
        let is_data = returns_structured(connection, called, context);
        let (connection, called, number) = (Arc::clone(connection), called.clone(), approver.call());
        let context = context.clone();
        let work = async move { called.run(&connection, request, &context, is_data, number).await };
        Self { identity, work: tokio::task::spawn(work), approver }
    }

    /// Waits for the call's result or its next question.
    async fn next(&mut self) -> Step {
        let tool = &self.identity.tool;
        let (work, approver) = (&mut self.work, &self.approver);
        tokio::select! {
            biased;
            // A panic ends only this call (F43).
            result = work => Step::Finished(result.unwrap_or_else(|_| Ok(error_result(&panicked(tool))))),
            question = approver.next() => Step::Question(question),
        }
    }

    /// Passes the user's answer to the call. Returns the question if there is no answer, to send it again.
    fn receive_answer(&self, open: OpenQuestion, responses: Option<&InputResponses>) -> Option<OpenQuestion> {
        if Instant::now() >= open.until {
            self.approver.answer(&open.question.id, Permission::No);
            return None;
        }
        // A client that returns in time without an answer gets the question again, with the same deadline.
        let is_answered = responses.is_some_and(|said| self.approver.accept(&open.question, said));
        (!is_answered).then_some(open)
    }
}

/// A call that waits for the user's answer.
struct StoredCall {
    call: WaitingCall,
    open: OpenQuestion,
}

/// Calls that wait for a user's answer, by `requestState`: a random text that is valid once.
#[derive(Default)]
pub(crate) struct WaitingCalls(Mutex<HashMap<String, StoredCall>>);

impl std::fmt::Debug for WaitingCalls {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("WaitingCalls").field("count", &self.calls().len()).finish()
    }
}

impl WaitingCalls {
    fn calls(&self) -> MutexGuard<'_, HashMap<String, StoredCall>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The calls that have not expired. Ends the others.
    fn fresh_calls(&self) -> MutexGuard<'_, HashMap<String, StoredCall>> {
        let (mut calls, now) = (self.calls(), Instant::now());
        calls.retain(|_, kept| now < kept.open.until + WAITING_GRACE);
        calls
    }

    /// Stores a call until the client sends it again. Returns the result with the question.
    fn keep(&self, call: WaitingCall, open: OpenQuestion) -> Result<InputRequiredResult, Failure> {
        let refused = |what: &str| Failure::new(ErrorCode::Backpressure, what);
        let requests = call.approver.encode(&open.question);
        let state = state().ok_or_else(|| refused("The system provides no random bytes."))?;
        let mut calls = self.fresh_calls();
        if calls.len() >= WAITING_CALLS {
            let message = format!("{WAITING_CALLS} questions of this client are unanswered.");
            return Err(refused(&message).with_remedy("Answer some of them first."));
        }
        calls.insert(state.clone(), StoredCall { call, open });
        Ok(InputRequiredResult::new(Some(requests), Some(state)))
    }

    /// Takes a stored call if the same client sends it with the same arguments.
    fn take(&self, state: &str, identity: &CallIdentity) -> Option<StoredCall> {
        let mut calls = self.fresh_calls();
        let is_meant = calls.get(state).is_some_and(|kept| kept.call.identity == *identity);
        is_meant.then(|| calls.remove(state)).flatten()
    }

    /// Ends all stored calls.
    pub(crate) fn clear(&self) {
        self.calls().clear();
    }
}

/// Starts or continues a call until it has a result or a question.
///
/// # Errors
/// When `requestState` belongs to no call, or to a call of another client.
pub(crate) async fn call_in_rounds(
    connection: &Arc<Connection>,
    called: &Callable,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let (tool, arguments) = (called.name().to_owned(), request.arguments.clone());
    let identity = CallIdentity { tool, arguments, client: context.client_info() };
    let (mut call, again) = match &request.request_state {
        Some(state) => {
            let StoredCall { call, open } =
                connection.waiting.take(state, &identity).ok_or_else(|| unknown_call(called.name()))?;
            let again = call.receive_answer(open, request.input_responses.as_ref());
            (call, again)
        }
        None => (WaitingCall::begin(connection, called, identity, request, context), None),
    };
    let open = match again {
        Some(open) => open,
        None => match call.next().await {
            Step::Finished(result) => return Ok(result?.into()),
            Step::Question(question) => OpenQuestion { question, until: Instant::now() + QUESTION_TIMEOUT },
        },
    };
    Ok(match connection.waiting.keep(call, open) {
        Ok(result) => result.into(),
        Err(failure) => error_result(&failure).into(),
    })
}

/// Whether the client's protocol revision returns questions as results.
pub(crate) fn has_rounds(context: &RequestContext<RoleServer>) -> bool {
    let since = ProtocolVersion::V_2026_07_28;
    context.protocol_version().is_some_and(|version| version.as_str() >= since.as_str())
}

/// The error for a `requestState` that is unknown, used, expired, or of another client or call.
fn unknown_call(tool: &str) -> ErrorData {
    let message =
        format!("No call of `{tool}` waits for this `requestState`. Nothing was done for this request.");
    let hint = "It was answered already, or too late. Call the tool again, without `requestState`.";
    ErrorData::invalid_params(message, Some(json!({"code": ErrorCode::BadArgs, "hint": hint})))
}

/// A random `requestState` of 128 bits.
fn state() -> Option<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
