//! The questions (elicitation and sampling) of the suite's tools, and their responses.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use rmcp::model::{InputRequests, InputResponses};
use serde_json::Value;
use tabwire_api::CallNumber;
use tabwire_mcp::{Answering, Asking, Attendant, Permission};
use tokio::sync::{mpsc, oneshot};

/// A question under way.
#[derive(Debug)]
struct Question {
    requests: InputRequests,
    answer: oneshot::Sender<InputResponses>,
}

/// Where calls find whoever sits at their client.
#[derive(Debug, Default)]
pub(crate) struct QuestionDesk {
    numbers: AtomicU64,
    calls: Mutex<HashMap<CallNumber, mpsc::Sender<Question>>>,
}

impl QuestionDesk {
    fn calls(&self) -> MutexGuard<'_, HashMap<CallNumber, mpsc::Sender<Question>>> {
        self.calls.lock().expect("not poisoned")
    }

    /// Somebody to ask, for one call.
    pub(crate) fn attend(self: &Arc<Self>) -> Box<dyn Attendant> {
        let call = CallNumber(self.numbers.fetch_add(1, Ordering::SeqCst));
        let (sender, questions) = mpsc::channel(1);
        self.calls().insert(call, sender);
        let questions = tokio::sync::Mutex::new(questions);
        Box::new(Somebody { desk: Arc::clone(self), call, questions, open: Mutex::default() })
    }

    /// Asks; nothing when nobody is there or nothing was said.
    pub(crate) async fn ask(
        &self,
        call: Option<CallNumber>,
        requests: InputRequests,
    ) -> Option<InputResponses> {
        let sender = self.calls().get(&call?).cloned()?;
        let (answer, answered) = oneshot::channel();
        sender.send(Question { requests, answer }).await.ok()?;
        answered.await.ok()
    }
}

/// Whoever sits at the client of one call.
struct Somebody {
    desk: Arc<QuestionDesk>,
    call: CallNumber,
    questions: tokio::sync::Mutex<mpsc::Receiver<Question>>,
    open: Mutex<Option<Question>>,
}

impl Drop for Somebody {
    fn drop(&mut self) {
        self.desk.calls().remove(&self.call);
    }
}

impl Attendant for Somebody {
    fn call(&self) -> Option<CallNumber> {
        Some(self.call)
    }

    fn next(&self) -> Answering<'_, Asking> {
        Box::pin(async move {
            let question = self.questions.lock().await.recv().await;
            let Some(question) = question else { return std::future::pending().await };
            *self.open.lock().expect("not poisoned") = Some(question);
            Asking { id: "open".to_owned(), message: String::new() }
        })
    }

    fn answer(&self, _id: &str, permission: Permission) {
        assert_eq!(permission, Permission::No, "these are no questions of leave");
        // Whoever asked hears that nothing was said.
        drop(self.open.lock().expect("not poisoned").take());
    }

    fn put(&self, _asking: &Asking) -> Option<InputRequests> {
        self.open.lock().expect("not poisoned").as_ref().map(|question| question.requests.clone())
    }

    fn hear(&self, _asking: &Asking, said: &InputResponses) -> bool {
        let mut open = self.open.lock().expect("not poisoned");
        let is_whole = open.as_ref().is_some_and(|question| is_answer(&question.requests, said));
        if let Some(question) = open.take_if(|_| is_whole) {
            // Whoever asked may have gone.
            let _ = question.answer.send(said.clone());
        }
        is_whole
    }
}

/// Whether everything that was asked is answered in the form that it has.
pub(crate) fn is_answer(requests: &InputRequests, said: &InputResponses) -> bool {
    let is_one =
        |answer: &Value| ["action", "content", "roots"].iter().any(|name| answer.get(name).is_some());
    requests.keys().all(|name| said.get(name).is_some_and(is_one))
}
