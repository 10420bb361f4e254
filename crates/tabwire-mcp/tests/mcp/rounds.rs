//! Approval questions to clients of protocol revision 2026-07-28: a call returns its question, and the client sends the
//! call again with the answer. The server and a client of JSON lines run in one process, with a fake backend.
#![expect(clippy::disallowed_methods, reason = "each test waits for the tasks it starts")]

use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tabwire_api::api::{ActionRequest, ActionResponse, McpOpening, ResultForm};
use tabwire_api::{CallNumber, ClientName, ErrorCode, Failure, Progress};
use tabwire_mcp::{ApprovalQuestion, Approver, Backend, BackendFuture, Connection, Permission, serve};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::sync::{Notify, oneshot};

/// An unanswered question.
struct Open {
    id: String,
    call: Option<CallNumber>,
    message: String,
    reply: oneshot::Sender<Permission>,
}

/// The unanswered questions, and counters of calls.
#[derive(Default)]
struct QuestionQueue {
    open: Mutex<VecDeque<Open>>,
    changed: Notify,
    next: AtomicU64,
    /// Calls that started, finished and were cancelled.
    started: AtomicUsize,
    finished: AtomicUsize,
    cancelled: AtomicUsize,
}

/// A backend whose calls send one question per `?` in the expression, and finish if each was approved.
#[derive(Clone, Default)]
struct ApprovalBackend(Arc<QuestionQueue>);

impl std::fmt::Debug for ApprovalBackend {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("ApprovalBackend")
    }
}

/// Counts a call as finished or cancelled when dropped.
struct CallCounter(Arc<QuestionQueue>, bool);

impl Drop for CallCounter {
    fn drop(&mut self) {
        let count = if self.1 { &self.0.finished } else { &self.0.cancelled };
        count.fetch_add(1, Ordering::SeqCst);
    }
}

impl ApprovalBackend {
    async fn run(&self, request: ActionRequest) -> Result<ActionResponse, Failure> {
        self.0.started.fetch_add(1, Ordering::SeqCst);
        let mut counter = CallCounter(Arc::clone(&self.0), false);
        let script = request.params["expression"].as_str().unwrap_or_default().to_owned();
        let refused = |why: &str| Failure::new(ErrorCode::PolicyDenied, why.to_owned());
        let mut permissions = Vec::new();
        for round in 0..script.matches('?').count() {
            let (reply, replied) = oneshot::channel();
            let id = format!("a{}", self.0.next.fetch_add(1, Ordering::SeqCst));
            let call = request.call.ok_or_else(|| refused("No approver."))?;
            let message = format!("May {script} go on, {round}?");
            self.0.open.lock().expect("not poisoned").push_back(Open {
                id,
                call: Some(call),
                message,
                reply,
            });
            self.0.changed.notify_waiters();
            let permission = replied.await.map_err(|_| refused("No answer."))?;
            if permission == Permission::No {
                counter.1 = true;
                return Err(refused("The user said no."));
            }
            permissions.push(format!("{permission:?}"));
        }
        counter.1 = true;
        let text = format!("finished after {}", permissions.join(", "));
        Ok(ActionResponse {
            session: request.session,
            project: request.project,
            tab: None,
            base_url: None,
            recovered: false,
            recovery: None,
            result: Value::Null,
            text: Some(text),
            notices: Vec::new(),
        })
    }
}

/// Receives the questions of one call.
struct QueueApprover {
    queue: Arc<QuestionQueue>,
    call: CallNumber,
}

impl QueueApprover {
    fn find(&self) -> Option<ApprovalQuestion> {
        let open = self.queue.open.lock().expect("not poisoned");
        let one = open.iter().find(|one| one.call == Some(self.call))?;
        Some(ApprovalQuestion { id: one.id.clone(), message: one.message.clone() })
    }
}

impl Approver for QueueApprover {
    fn call(&self) -> Option<CallNumber> {
        Some(self.call)
    }

    fn next(&self) -> BackendFuture<'_, ApprovalQuestion> {
        Box::pin(async move {
            loop {
                let changed = self.queue.changed.notified();
                if let Some(question) = self.find() {
                    return question;
                }
                changed.await;
            }
        })
    }

    fn answer(&self, id: &str, permission: Permission) {
        let mut open = self.queue.open.lock().expect("not poisoned");
        if let Some(place) = open.iter().position(|one| one.id == id) {
            let one = open.remove(place).expect("the position is valid");
            // The call may have been cancelled.
            let _ = one.reply.send(permission);
        }
    }
}

impl Backend for ApprovalBackend {
    fn act<'a>(
        &'a self,
        _name: &'a str,
        request: ActionRequest,
    ) -> BackendFuture<'a, Result<ActionResponse, Failure>> {
        Box::pin(self.run(request))
    }

    fn read_image<'a>(&'a self, _path: &'a Path) -> BackendFuture<'a, Result<Vec<u8>, Failure>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn audit_rows<'a>(
        &'a self,
        _request: &'a ActionRequest,
        _rows: usize,
    ) -> BackendFuture<'a, Result<String, Failure>> {
        Box::pin(async { Ok(String::new()) })
    }

    fn progress(&self, _request: &ActionRequest) -> Progress {
        Progress::default()
    }

    fn request(&self) -> ActionRequest {
        ActionRequest::default()
    }

    fn approver(&self) -> Box<dyn Approver> {
        let call = CallNumber(self.0.next.fetch_add(1, Ordering::SeqCst));
        Box::new(QueueApprover { queue: Arc::clone(&self.0), call })
    }

    fn set_client_name(&self, name: &ClientName) {
        assert_eq!(name.as_str(), "person");
    }

    fn another(&self) -> Result<Arc<dyn Backend>, Failure> {
        Ok(Arc::new(self.clone()))
    }

    fn leave(&self) -> BackendFuture<'_, ()> {
        Box::pin(async {})
    }
}

/// A client that writes and reads JSON lines.
struct Client {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
    serving: tokio::task::JoinHandle<()>,
    name: &'static str,
    capabilities: Value,
    next: u64,
}

impl Client {
    fn start(backend: &ApprovalBackend) -> Self {
        let opening = McpOpening { results: ResultForm::Text, ..McpOpening::default() };
        let connection = Arc::new(Connection::new(Arc::new(backend.clone()), &opening).expect("tools"));
        let (client, server) = tokio::io::duplex(64 * 1024);
        let (reader, writer) = tokio::io::split(server);
        let serving = tokio::task::spawn(async move { serve(connection, reader, writer).await });
        let (reader, writer) = tokio::io::split(client);
        let capabilities = json!({"elicitation": {}});
        Self { reader: BufReader::new(reader), writer, serving, name: "person", capabilities, next: 0 }
    }

    async fn begin(&mut self, params: Value) {
        self.begin_as("tools/call", params).await;
    }

    async fn begin_as(&mut self, method: &str, mut params: Value) {
        self.next += 1;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": self.name, "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": self.capabilities,
        });
        let request = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        self.writer.write_all(format!("{request}\n").as_bytes()).await.expect("it reads");
    }

    async fn response(&mut self) -> Value {
        let mut line = String::new();
        let reading = self.reader.read_line(&mut line);
        tokio::time::timeout(Duration::from_secs(10), reading).await.expect("in time").expect("a line");
        serde_json::from_str(&line).expect("JSON")
    }

    async fn ask(&mut self, params: Value) -> Value {
        self.begin(params).await;
        self.response().await
    }

    /// Starts a call and returns its question and `requestState`.
    async fn question(&mut self, script: &str) -> (String, String) {
        let response = self.ask(call(script)).await;
        open_question(&response)
    }
}

fn call(script: &str) -> Value {
    json!({"name": "eval", "arguments": {"expression": script}})
}

/// The parameters that continue a call, with the answer.
fn again(script: &str, state: &str, said: Value) -> Value {
    let mut params = call(script);
    params["requestState"] = json!(state);
    params["inputResponses"] = said;
    params
}

fn said(answer: &str) -> Value {
    json!({"approval": {"action": "accept", "content": {"answer": answer}}})
}

/// The question and the `requestState` of a response.
fn open_question(response: &Value) -> (String, String) {
    let result = &response["result"];
    assert_eq!(result["resultType"], "input_required", "{response}");
    let request = &result["inputRequests"]["approval"];
    assert_eq!(request["method"], "elicitation/create", "{response}");
    let message = request["params"]["message"].as_str().expect("a message").to_owned();
    (message, result["requestState"].as_str().expect("a requestState").to_owned())
}

fn text(response: &Value) -> String {
    response["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("no text: {response}"))
        .to_owned()
}

fn is_unknown(response: &Value) {
    assert_eq!(response["error"]["code"], -32602, "{response}");
    assert!(
        response["error"]["data"]["hint"].as_str().is_some_and(|hint| hint.contains("again")),
        "{response}"
    );
}

#[tokio::test]
async fn every_answer_is_applied_and_unclear_ones_mean_no() {
    let backend = ApprovalBackend::default();
    let mut client = Client::start(&backend);
    for (given, expected) in [
        (said("once"), "Once"),
        (said("session"), "Session"),
        (said("always"), "Always"),
        (said("no"), "said no"),
        (json!({"approval": {"action": "decline"}}), "said no"),
        (json!({"approval": {"action": "cancel"}}), "said no"),
        (json!({"approval": {"action": "accept"}}), "said no"),
        (json!({"approval": 12345}), "said no"),
    ] {
        let (message, state) = client.question("?").await;
        assert_eq!(message, "May ? go on, 0?");
        let response = client.ask(again("?", &state, given.clone())).await;
        assert!(text(&response).contains(expected), "{given}: {response}");
        assert_eq!(response["result"]["isError"], expected == "said no", "{given}: {response}");
    }
    // Two questions of one call, each with its own `requestState`. Other keys in the responses are ignored.
    let (_, first) = client.question("??").await;
    let more = json!({"approval": said("once")["approval"], "other": {"action": "accept"}});
    let (message, second) = open_question(&client.ask(again("??", &first, more)).await);
    assert_eq!((message.as_str(), first == second), ("May ?? go on, 1?", false));
    let response = client.ask(again("??", &second, said("always"))).await;
    assert!(text(&response).contains("Once, Always"), "{response}");
    assert_eq!(
        backend.0.started.load(Ordering::SeqCst),
        9,
        "each call started once, independent of its rounds"
    );
}

#[tokio::test]
async fn request_state_is_valid_for_one_client_and_call_once() {
    let backend = ApprovalBackend::default();
    let (mut client, mut other) = (Client::start(&backend), Client::start(&backend));
    let (_, state) = client.question("?").await;
    is_unknown(&client.ask(again("?", &format!("{state}-TAMPERED"), said("always"))).await);
    is_unknown(&client.ask(again("?", "0123456789abcdef0123456789abcdef", said("always"))).await);
    is_unknown(&other.ask(again("?", &state, said("always"))).await);
    is_unknown(&client.ask(again("other ?", &state, said("always"))).await);
    let mut tool = again("?", &state, said("always"));
    tool["name"] = json!("get_text");
    is_unknown(&client.ask(tool).await);
    client.name = "impostor";
    is_unknown(&client.ask(again("?", &state, said("always"))).await);
    // A client without elicitation cannot continue the call either.
    client.capabilities = json!({});
    is_unknown(&client.ask(again("?", &state, said("always"))).await);
    assert_eq!(backend.0.finished.load(Ordering::SeqCst), 0, "none of these requests ran the call");
    (client.name, client.capabilities) = ("person", json!({"elicitation": {"form": {}}}));
    let response = client.ask(again("?", &state, said("once"))).await;
    assert!(text(&response).contains("Once"), "the call's own client can continue: {response}");
    is_unknown(&client.ask(again("?", &state, said("once"))).await);
    assert_eq!(backend.0.started.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn unanswered_question_is_refused_after_a_minute_and_then_removed() {
    let backend = ApprovalBackend::default();
    let mut client = Client::start(&backend);
    let (_, state) = client.question("?").await;
    tokio::time::advance(Duration::from_secs(40)).await;
    // A client without an answer gets the question again, with the same deadline.
    let (_, state) = open_question(&client.ask(again("?", &state, json!({}))).await);
    tokio::time::advance(Duration::from_secs(21)).await;
    let response = client.ask(again("?", &state, said("always"))).await;
    assert!(
        text(&response).starts_with("POLICY_DENIED: The user said no."),
        "a late answer means no: {response}"
    );
    let (_, state) = client.question("?").await;
    tokio::time::advance(Duration::from_secs(121)).await;
    is_unknown(&client.ask(again("?", &state, said("always"))).await);
    assert_eq!(backend.0.cancelled.load(Ordering::SeqCst), 1, "a call without an answer has ended");
}

#[tokio::test]
async fn concurrent_calls_have_own_questions_and_end_with_the_client() {
    let backend = ApprovalBackend::default();
    let mut client = Client::start(&backend);
    let (first, one) = client.question("first ?").await;
    let (second, two) = client.question("second ?").await;
    assert!(first.contains("first") && second.contains("second"), "{first} {second}");
    let response = client.ask(again("second ?", &two, said("no"))).await;
    assert!(text(&response).contains("said no"), "{response}");
    let response = client.ask(again("first ?", &one, said("once"))).await;
    assert!(text(&response).contains("Once"), "{response}");
    for _ in 0..tabwire_mcp::limits::WAITING_CALLS {
        client.question("?").await;
    }
    let full = client.ask(call("?")).await;
    assert!(text(&full).starts_with("BACKPRESSURE: "), "{full}");
    drop((client.reader, client.writer));
    tokio::time::timeout(Duration::from_secs(5), client.serving).await.expect("soon").expect("no panic");
    // The runtime drops aborted calls at its next turn.
    let is_over = async {
        while backend.0.cancelled.load(Ordering::SeqCst) <= tabwire_mcp::limits::WAITING_CALLS {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), is_over).await.expect("each of them was cancelled");
}

#[tokio::test]
async fn client_without_elicitation_gets_no_questions() {
    let backend = ApprovalBackend::default();
    let mut client = Client::start(&backend);
    for capabilities in [json!({}), json!({"sampling": {}}), json!({"elicitation": {"url": {}}})] {
        client.capabilities = capabilities;
        let response = client.ask(call("?")).await;
        assert!(text(&response).contains("No approver."), "{response}");
    }
    client.capabilities = json!({});
    let response = client.ask(call("nothing to ask")).await;
    assert!(text(&response).contains("finished"), "{response}");
}

#[tokio::test]
async fn subscription_is_acknowledged_and_does_not_block_the_end() {
    let mut client = Client::start(&ApprovalBackend::default());
    let wanted = json!({"notifications": {"toolsListChanged": true, "promptsListChanged": true}});
    client.begin_as("subscriptions/listen", wanted).await;
    let acknowledged = client.response().await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged", "{acknowledged}");
    let accepted = &acknowledged["params"]["notifications"];
    assert_eq!(accepted["toolsListChanged"], true, "{acknowledged}");
    assert_ne!(accepted["promptsListChanged"], true, "prompts never change: {acknowledged}");
    // Calls work beside the subscription.
    let response = client.ask(call("nothing to ask")).await;
    assert!(text(&response).contains("finished"), "{response}");
    drop((client.reader, client.writer));
    tokio::time::timeout(Duration::from_secs(5), client.serving).await.expect("soon").expect("no panic");
}
