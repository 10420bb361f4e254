//! The interface between the MCP server and the daemon, which runs the calls.

use std::path::Path;
use std::pin::Pin;

use rmcp::model::{InputRequests, InputResponses};
use tabwire_api::api::{ActionRequest, ActionResponse, ExecuteLine, ExecuteRequest, ExecuteResult};
use tabwire_api::{CallNumber, ClientName, ErrorCode, Failure, Progress};
use tokio::sync::mpsc;

use crate::call::approval;

/// A boxed future.
pub type BackendFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A question that the client's user must answer before a call continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalQuestion {
    /// The id for the answer.
    pub id: String,
    /// The text: which client requests what, where, and why approval is needed.
    pub message: String,
}

/// The user's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// Allow this time.
    Once,
    /// Allow until the session ends.
    Session,
    /// Allow this agent permanently.
    Agent,
    /// Allow every agent permanently.
    Always,
    /// Refuse.
    No,
}

/// Receives the questions of one call for the client's user. Dropping it unregisters it.
pub trait Approver: Send + Sync {
    /// The number that the call's requests carry, so that its questions arrive here.
    fn call(&self) -> Option<CallNumber>;

    /// The next question.
    fn next(&self) -> BackendFuture<'_, ApprovalQuestion>;

    /// Answers a question. A late answer has no effect.
    fn answer(&self, id: &str, permission: Permission);

    /// Encodes the question for the client. Default: an approval form.
    fn encode(&self, question: &ApprovalQuestion) -> InputRequests {
        approval::encode(question)
    }

    /// Passes on the client's answer. False if there is none, so that the question is sent again.
    fn accept(&self, question: &ApprovalQuestion, responses: &InputResponses) -> bool {
        let permission = approval::decode(responses);
        permission.map(|permission| self.answer(&question.id, permission)).is_some()
    }
}

/// Runs the actions of one client.
pub trait Backend: std::fmt::Debug + Send + Sync + 'static {
    /// Runs an action. Dropping the future cancels only this call.
    fn act<'a>(
        &'a self,
        name: &'a str,
        request: ActionRequest,
    ) -> BackendFuture<'a, Result<ActionResponse, Failure>>;

    /// Runs a script. Lines of its console go to `lines`. Dropping the future cancels the run.
    fn execute<'a>(
        &'a self,
        _request: ExecuteRequest,
        _lines: mpsc::Sender<ExecuteLine>,
    ) -> BackendFuture<'a, Result<ExecuteResult, Failure>> {
        let failure = Failure::new(ErrorCode::UnknownMethod, "Scripts are not available here.");
        Box::pin(std::future::ready(Err(failure)))
    }

    /// Ends the process of the client's scripts. Whether there was one.
    fn reset(&self) -> bool {
        false
    }

    /// Reads an image that an action wrote.
    fn read_image<'a>(&'a self, path: &'a Path) -> BackendFuture<'a, Result<Vec<u8>, Failure>>;

    /// The last rows of the session's audit log, as text.
    fn audit_rows<'a>(
        &'a self,
        request: &'a ActionRequest,
        rows: usize,
    ) -> BackendFuture<'a, Result<String, Failure>>;

    /// What a tool's action cannot do in the browser of the session, in a sentence; empty if nothing is known.
    fn gap_of(&self, _action: &str) -> String {
        String::new()
    }

    /// A number that changes with every grant, denial or revocation.
    fn policy_revision(&self) -> u64 {
        0
    }

    /// The state of the extension in the user's browser and the reason, if the session uses it.
    fn extension_state(&self) -> BackendFuture<'_, Option<String>> {
        Box::pin(async { None })
    }

    /// The current activity of the session.
    fn progress(&self, request: &ActionRequest) -> Progress;

    /// The request with the defaults of every call.
    fn request(&self) -> ActionRequest;

    /// Registers to receive the questions of one call for the client's user.
    fn approver(&self) -> Box<dyn Approver>;

    /// Sets the client's name.
    fn set_client_name(&self, name: &ClientName);

    /// A backend for another client of the same endpoint.
    fn another(&self) -> Result<std::sync::Arc<dyn Backend>, Failure>;

    /// Cleans up after this client: closes its tabs, leases and own browser.
    fn leave(&self) -> BackendFuture<'_, ()>;
}
