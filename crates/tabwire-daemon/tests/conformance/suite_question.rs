//! The questions (elicitation and sampling) of the suite's tools, and their responses.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use rmcp::model::{InputRequests, InputResponses};
use serde_json::Value;
use tabwire_api::CallNumber;
use tabwire_mcp::{ApprovalQuestion, Approver, BackendFuture, Permission};
use tokio::sync::{mpsc, oneshot};

/// A question that waits for its response.
#[derive(Debug)]
struct Question {
    requests: InputRequests,
    response: oneshot::Sender<InputResponses>,
}

/// Routes the questions of calls to their clients.
#[derive(Debug, Default)]
pub(crate) struct QuestionQueue {
    numbers: AtomicU64,
    calls: Mutex<HashMap<CallNumber, mpsc::Sender<Question>>>,
}

impl QuestionQueue {
    fn calls(&self) -> MutexGuard<'_, HashMap<CallNumber, mpsc::Sender<Question>>> {
        self.calls.lock().expect("not poisoned")
    }

    /// The approver of one call.
    pub(crate) fn approver(self: &Arc<Self>) -> Box<dyn Approver> {
        let call = CallNumber(self.numbers.fetch_add(1, Ordering::SeqCst));
        let (sender, questions) = mpsc::channel(1);
        self.calls().insert(call, sender);
        let questions = tokio::sync::Mutex::new(questions);
        Box::new(SuiteApprover { queue: Arc::clone(self), call, questions, open: Mutex::default() })
    }

    /// Sends a question; `None` when the call is unknown or gets no response.
    pub(crate) async fn ask(
        &self,
        call: Option<CallNumber>,
        requests: InputRequests,
    ) -> Option<InputResponses> {
        let sender = self.calls().get(&call?).cloned()?;
        let (response, received) = oneshot::channel();
        sender.send(Question { requests, response }).await.ok()?;
        received.await.ok()
    }
}

/// Passes the questions of one call to its client.
struct SuiteApprover {
    queue: Arc<QuestionQueue>,
    call: CallNumber,
    questions: tokio::sync::Mutex<mpsc::Receiver<Question>>,
    open: Mutex<Option<Question>>,
}

impl Drop for SuiteApprover {
    fn drop(&mut self) {
        self.queue.calls().remove(&self.call);
    }
}

impl Approver for SuiteApprover {
    fn call(&self) -> Option<CallNumber> {
        Some(self.call)
    }

    fn next(&self) -> BackendFuture<'_, ApprovalQuestion> {
        Box::pin(async move {
            let question = self.questions.lock().await.recv().await;
            let Some(question) = question else { return std::future::pending().await };
            *self.open.lock().expect("not poisoned") = Some(question);
            ApprovalQuestion { id: "open".to_owned(), message: String::new() }
        })
    }

    fn answer(&self, _id: &str, permission: Permission) {
        assert_eq!(permission, Permission::No, "these are not approval questions");
        // The waiting call then gets no response.
        drop(self.open.lock().expect("not poisoned").take());
    }

    fn encode(&self, _question: &ApprovalQuestion) -> InputRequests {
        let open = self.open.lock().expect("not poisoned");
        open.as_ref().map(|question| question.requests.clone()).unwrap_or_default()
    }

    fn accept(&self, _question: &ApprovalQuestion, responses: &InputResponses) -> bool {
        let mut open = self.open.lock().expect("not poisoned");
        let is_complete = open.as_ref().is_some_and(|question| is_response(&question.requests, responses));
        if let Some(question) = open.take_if(|_| is_complete) {
            // The call may have been cancelled.
            let _ = question.response.send(responses.clone());
        }
        is_complete
    }
}

/// Whether each question has a well-formed response.
pub(crate) fn is_response(requests: &InputRequests, responses: &InputResponses) -> bool {
    let is_one =
        |response: &Value| ["action", "content", "roots"].iter().any(|name| response.get(name).is_some());
    requests.keys().all(|name| responses.get(name).is_some_and(is_one))
}
