//! A call that goes on over several requests: from revision 2026-07-28 on a server may not ask in the middle of a call,
//! so it answers with its question, and the client asks again with what was said.
//!
//! Decides nothing; knows what is asked no better than the attendant does. The call itself goes on here, so that
//! nothing is done twice; what the client carries back is a word that says which call is meant, and nothing else.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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

use crate::backend::{Asking, Attendant, Permission};
use crate::call::callable::Callable;
use crate::call::progress::{panicked, returns_structured};
use crate::connection::Connection;
use crate::limits::{ASKING_DEADLINE, WAITING_CALLS, WAITING_GRACE};
use crate::result::error_result;

/// What a client has to repeat to go on with a call of its own.
#[derive(Clone, Debug, PartialEq)]
struct CallIdentity {
    tool: String,
    arguments: Option<JsonObject>,
    /// What the client says it is, in every request.
    client: Option<Implementation>,
}

/// A question that a client was told.
#[derive(Clone, Debug)]
struct Told {
    asking: Asking,
    until: Instant,
}

/// A call under way, and who is asked what it needs asked.
struct WaitingCall {
    identity: CallIdentity,
    work: JoinHandle<Result<CallToolResult, ErrorData>>,
    attendant: Box<dyn Attendant>,
}

impl Drop for WaitingCall {
    fn drop(&mut self) {
        // Whoever gives a call up has it end.
        self.work.abort();
    }
}

/// What comes next of a call.
enum Step {
    Answered(Result<CallToolResult, ErrorData>),
    Asks(Asking),
}

impl WaitingCall {
    /// Begins a call, with somebody to ask.
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
        let attendant = called.attend(connection);
        let is_data = returns_structured(connection, called, context);
        let (connection, called, number) = (Arc::clone(connection), called.clone(), attendant.call());
        let context = context.clone();
        let work = async move { called.run(&connection, request, &context, is_data, number).await };
        Self { identity, work: tokio::task::spawn(work), attendant }
    }

    /// Waits until the call is answered, or something has to be asked first.
    async fn next(&mut self) -> Step {
        let tool = &self.identity.tool;
        let (work, attendant) = (&mut self.work, &self.attendant);
        tokio::select! {
            biased;
            // A panic costs this one call (F43).
            answer = work => Step::Answered(answer.unwrap_or_else(|_| Ok(error_result(&panicked(tool))))),
            asking = attendant.next() => Step::Asks(asking),
        }
    }

    /// Hands in what was said to the question; gives it back to be asked again when nothing was said.
    fn hear(&self, told: Told, responses: Option<&InputResponses>) -> Option<Told> {
        if Instant::now() >= told.until {
            self.attendant.answer(&told.asking.id, Permission::No);
            return None;
        }
        // Who came back in time with nothing is told the question again, and gets no more time for it.
        let is_heard = responses.is_some_and(|said| self.attendant.hear(&told.asking, said));
        (!is_heard).then_some(told)
    }
}

/// A call that waits for what somebody says.
struct Kept {
    call: WaitingCall,
    told: Told,
}

/// Calls that wait for what somebody says, each by a word that nobody can guess and that is good for one time.
#[derive(Default)]
pub(crate) struct WaitingCalls(Mutex<HashMap<String, Kept>>);

impl std::fmt::Debug for WaitingCalls {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("WaitingCalls").field("count", &self.calls().len()).finish()
    }
}

impl WaitingCalls {
    fn calls(&self) -> MutexGuard<'_, HashMap<String, Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those that are not too old; the others end.
    fn fresh_calls(&self) -> MutexGuard<'_, HashMap<String, Kept>> {
        let (mut calls, now) = (self.calls(), Instant::now());
        calls.retain(|_, kept| now < kept.told.until + WAITING_GRACE);
        calls
    }

    /// Keeps a call until it is asked for again; what the client is told meanwhile.
    fn keep(&self, call: WaitingCall, told: Told) -> Result<InputRequiredResult, Failure> {
        let unaskable = |what: &str| Failure::new(ErrorCode::Backpressure, what);
        let requests = call
            .attendant
            .put(&told.asking)
            .ok_or_else(|| unaskable("The question could not be put into words."))?;
        let word = word().ok_or_else(|| unaskable("The system gives no randomness."))?;
        let mut calls = self.fresh_calls();
        if calls.len() >= WAITING_CALLS {
            let message = format!("{WAITING_CALLS} questions of this client are open.");
            return Err(unaskable(&message).with_remedy("Have some of them answered first."));
        }
        calls.insert(word.clone(), Kept { call, told });
        Ok(InputRequiredResult::new(Some(requests), Some(word)))
    }

    /// Takes a call that is asked for again by who began it, with what it began it with.
    fn take(&self, word: &str, identity: &CallIdentity) -> Option<Kept> {
        let mut calls = self.fresh_calls();
        let is_meant = calls.get(word).is_some_and(|kept| kept.call.identity == *identity);
        is_meant.then(|| calls.remove(word)).flatten()
    }

    /// Ends all of them.
    pub(crate) fn clear(&self) {
        self.calls().clear();
    }
}

/// Begins a call, or goes on with one, until it is answered or has a question.
///
/// # Errors
/// When a request goes on with a call that is not there, or is not this client's.
pub(crate) async fn call_in_rounds(
    connection: &Arc<Connection>,
    called: &Callable,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let (tool, arguments) = (called.name().to_owned(), request.arguments.clone());
    let identity = CallIdentity { tool, arguments, client: context.client_info() };
    let (mut call, again) = match &request.request_state {
        Some(word) => {
            let Kept { call, told } =
                connection.waiting.take(word, &identity).ok_or_else(|| unknown_call(called.name()))?;
            let again = call.hear(told, request.input_responses.as_ref());
            (call, again)
        }
        None => (WaitingCall::begin(connection, called, identity, request, context), None),
    };
    let told = match again {
        Some(told) => told,
        None => match call.next().await {
            Step::Answered(answer) => return Ok(answer?.into()),
            Step::Asks(asking) => Told { asking, until: Instant::now() + ASKING_DEADLINE },
        },
    };
    Ok(match connection.waiting.keep(call, told) {
        Ok(question) => question.into(),
        Err(failure) => error_result(&failure).into(),
    })
}

/// Whether the client speaks a revision in which a call's question is its response.
pub(crate) fn has_rounds(context: &RequestContext<RoleServer>) -> bool {
    let since = ProtocolVersion::V_2026_07_28;
    context.protocol_version().is_some_and(|version| version.as_str() >= since.as_str())
}

/// Told for a word that was made up, was used before, is another client's or another call's, or is too old.
fn unknown_call(tool: &str) -> ErrorData {
    let message =
        format!("No call of `{tool}` waits for this `requestState`. Nothing was done for this request.");
    let hint =
        "It may have been answered already, or not in time. Call the tool anew, without `requestState`.";
    ErrorData::invalid_params(message, Some(json!({"code": ErrorCode::BadArgs, "hint": hint})))
}

/// A word of 128 random bits.
fn word() -> Option<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
