//! Questions to clients of revision 2026-07-28: a call's question is its response, and the client comes back with what
//! was said. Lines of JSON against the server, in one process, with a backend whose calls have to be allowed.
#![expect(clippy::disallowed_methods, reason = "each test waits for the tasks it starts")]

use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tabwire_api::api::{ActionRequest, ActionResponse, McpOpening, ResultForm};
use tabwire_api::{CallNumber, ClientName, ErrorCode, Failure, Progress};
use tabwire_mcp::{Answering, Asking, Attendant, Backend, Connection, Permission, serve};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::sync::{Notify, oneshot};

/// A question that waits.
struct Open {
    id: String,
    call: Option<CallNumber>,
    message: String,
    answer: oneshot::Sender<Permission>,
}

/// Where questions wait.
#[derive(Default)]
struct Desk {
    open: Mutex<VecDeque<Open>>,
    news: Notify,
    next: AtomicU64,
    /// Calls that were begun, were done, and were given up.
    begun: AtomicUsize,
    done: AtomicUsize,
    given_up: AtomicUsize,
}

/// A backend whose calls ask as often as the expression says; done only when each was allowed.
#[derive(Clone, Default)]
struct Careful(Arc<Desk>);

impl std::fmt::Debug for Careful {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Careful")
    }
}

/// Counts a call that ends before its time.
struct Under(Arc<Desk>, bool);

impl Drop for Under {
    fn drop(&mut self) {
        let count = if self.1 { &self.0.done } else { &self.0.given_up };
        count.fetch_add(1, Ordering::SeqCst);
    }
}

impl Careful {
    async fn run(&self, request: ActionRequest) -> Result<ActionResponse, Failure> {
        self.0.begun.fetch_add(1, Ordering::SeqCst);
        let mut under = Under(Arc::clone(&self.0), false);
        let script = request.params["expression"].as_str().unwrap_or_default().to_owned();
        let refused = |why: &str| Failure::new(ErrorCode::PolicyDenied, why.to_owned());
        let mut heard = Vec::new();
        for round in 0..script.matches('?').count() {
            let (answer, answered) = oneshot::channel();
            let id = format!("a{}", self.0.next.fetch_add(1, Ordering::SeqCst));
            let call = request.call.ok_or_else(|| refused("Nobody is there."))?;
            let message = format!("May {script} go on, {round}?");
            self.0.open.lock().expect("not poisoned").push_back(Open {
                id,
                call: Some(call),
                message,
                answer,
            });
            self.0.news.notify_waiters();
            let permission = answered.await.map_err(|_| refused("Nobody answered."))?;
            if permission == Permission::No {
                under.1 = true;
                return Err(refused("Somebody said no."));
            }
            heard.push(format!("{permission:?}"));
        }
        under.1 = true;
        let text = format!("done after {}", heard.join(", "));
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

/// Somebody at the client of one call.
struct Somebody {
    desk: Arc<Desk>,
    call: CallNumber,
}

impl Somebody {
    fn find(&self) -> Option<Asking> {
        let open = self.desk.open.lock().expect("not poisoned");
        let one = open.iter().find(|one| one.call == Some(self.call))?;
        Some(Asking { id: one.id.clone(), message: one.message.clone() })
    }
}

impl Attendant for Somebody {
    fn call(&self) -> Option<CallNumber> {
        Some(self.call)
    }

    fn next(&self) -> Answering<'_, Asking> {
        Box::pin(async move {
            loop {
                let news = self.desk.news.notified();
                if let Some(asking) = self.find() {
                    return asking;
                }
                news.await;
            }
        })
    }

    fn answer(&self, id: &str, permission: Permission) {
        let mut open = self.desk.open.lock().expect("not poisoned");
        if let Some(place) = open.iter().position(|one| one.id == id) {
            let one = open.remove(place).expect("it is there");
            // Whoever asked may have gone.
            let _ = one.answer.send(permission);
        }
    }
}

impl Backend for Careful {
    fn act<'a>(
        &'a self,
        _name: &'a str,
        request: ActionRequest,
    ) -> Answering<'a, Result<ActionResponse, Failure>> {
        Box::pin(self.run(request))
    }

    fn picture<'a>(&'a self, _path: &'a Path) -> Answering<'a, Result<Vec<u8>, Failure>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn journal<'a>(
        &'a self,
        _request: &'a ActionRequest,
        _rows: usize,
    ) -> Answering<'a, Result<String, Failure>> {
        Box::pin(async { Ok(String::new()) })
    }

    fn progress(&self, _request: &ActionRequest) -> Progress {
        Progress::default()
    }

    fn request(&self) -> ActionRequest {
        ActionRequest::default()
    }

    fn attend(&self) -> Box<dyn Attendant> {
        let call = CallNumber(self.0.next.fetch_add(1, Ordering::SeqCst));
        Box::new(Somebody { desk: Arc::clone(&self.0), call })
    }

    fn introduce(&self, name: &ClientName) {
        assert_eq!(name.as_str(), "person");
    }

    fn another(&self) -> Result<Arc<dyn Backend>, Failure> {
        Ok(Arc::new(self.clone()))
    }

    fn leave(&self) -> Answering<'_, ()> {
        Box::pin(async {})
    }
}

/// A client that speaks the protocol by hand.
struct Client {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
    serving: tokio::task::JoinHandle<()>,
    name: &'static str,
    capabilities: Value,
    next: u64,
}

impl Client {
    fn start(backend: &Careful) -> Self {
        let opening = McpOpening { answers: ResultForm::Text, ..McpOpening::default() };
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

    async fn answer(&mut self) -> Value {
        let mut line = String::new();
        let reading = self.reader.read_line(&mut line);
        tokio::time::timeout(Duration::from_secs(10), reading).await.expect("in time").expect("a line");
        serde_json::from_str(&line).expect("JSON")
    }

    async fn ask(&mut self, params: Value) -> Value {
        self.begin(params).await;
        self.answer().await
    }

    /// Begins a call that asks, and takes the question.
    async fn question(&mut self, script: &str) -> (String, String) {
        let answer = self.ask(call(script)).await;
        told(&answer)
    }
}

fn call(script: &str) -> Value {
    json!({"name": "eval", "arguments": {"expression": script}})
}

/// A call that goes on, with what was said.
fn again(script: &str, state: &str, said: Value) -> Value {
    let mut params = call(script);
    params["requestState"] = json!(state);
    params["inputResponses"] = said;
    params
}

fn said(answer: &str) -> Value {
    json!({"approval": {"action": "accept", "content": {"answer": answer}}})
}

/// What was asked, and the word to go on with.
fn told(answer: &Value) -> (String, String) {
    let result = &answer["result"];
    assert_eq!(result["resultType"], "input_required", "{answer}");
    let request = &result["inputRequests"]["approval"];
    assert_eq!(request["method"], "elicitation/create", "{answer}");
    let message = request["params"]["message"].as_str().expect("a message").to_owned();
    (message, result["requestState"].as_str().expect("a word").to_owned())
}

fn text(answer: &Value) -> String {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}")).to_owned()
}

fn is_unknown(answer: &Value) {
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert!(answer["error"]["data"]["hint"].as_str().is_some_and(|hint| hint.contains("anew")), "{answer}");
}

#[tokio::test]
async fn every_answer_is_heard_and_whatever_is_no_clear_yes_is_no() {
    let backend = Careful::default();
    let mut client = Client::start(&backend);
    for (response, expected) in [
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
        let answer = client.ask(again("?", &state, response.clone())).await;
        assert!(text(&answer).contains(expected), "{response}: {answer}");
        assert_eq!(answer["result"]["isError"], expected == "said no", "{response}: {answer}");
    }
    // Two questions of one call, each with a word of its own; what else is in the response is not looked at.
    let (_, first) = client.question("??").await;
    let more = json!({"approval": said("once")["approval"], "other": {"action": "accept"}});
    let (message, second) = told(&client.ask(again("??", &first, more)).await);
    assert_eq!((message.as_str(), first == second), ("May ?? go on, 1?", false));
    let answer = client.ask(again("??", &second, said("always"))).await;
    assert!(text(&answer).contains("Once, Always"), "{answer}");
    assert_eq!(backend.0.begun.load(Ordering::SeqCst), 9, "each call was begun once, however many rounds");
}

#[tokio::test]
async fn a_word_is_good_for_one_client_one_call_and_one_time() {
    let backend = Careful::default();
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
    // Who says that it shows no questions gets no further with somebody else's.
    client.capabilities = json!({});
    is_unknown(&client.ask(again("?", &state, said("always"))).await);
    assert_eq!(backend.0.done.load(Ordering::SeqCst), 0, "nothing was done for any of them");
    (client.name, client.capabilities) = ("person", json!({"elicitation": {"form": {}}}));
    let answer = client.ask(again("?", &state, said("once"))).await;
    assert!(text(&answer).contains("Once"), "the call's own client goes on: {answer}");
    is_unknown(&client.ask(again("?", &state, said("once"))).await);
    assert_eq!(backend.0.begun.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn unanswered_for_a_minute_is_no_and_later_nothing_is_known_of_it() {
    let backend = Careful::default();
    let mut client = Client::start(&backend);
    let (_, state) = client.question("?").await;
    tokio::time::advance(Duration::from_secs(40)).await;
    // Who comes back with nothing is asked again, and has what is left of the minute.
    let (_, state) = told(&client.ask(again("?", &state, json!({}))).await);
    tokio::time::advance(Duration::from_secs(21)).await;
    let answer = client.ask(again("?", &state, said("always"))).await;
    assert!(text(&answer).starts_with("POLICY_DENIED: Somebody said no."), "too late is no: {answer}");
    let (_, state) = client.question("?").await;
    tokio::time::advance(Duration::from_secs(121)).await;
    is_unknown(&client.ask(again("?", &state, said("always"))).await);
    assert_eq!(backend.0.given_up.load(Ordering::SeqCst), 1, "a call that nobody came back for has ended");
}

#[tokio::test]
async fn calls_at_once_are_asked_each_its_own_and_end_with_their_client() {
    let backend = Careful::default();
    let mut client = Client::start(&backend);
    let (first, one) = client.question("first ?").await;
    let (second, two) = client.question("second ?").await;
    assert!(first.contains("first") && second.contains("second"), "{first} {second}");
    let answer = client.ask(again("second ?", &two, said("no"))).await;
    assert!(text(&answer).contains("said no"), "{answer}");
    let answer = client.ask(again("first ?", &one, said("once"))).await;
    assert!(text(&answer).contains("Once"), "{answer}");
    for _ in 0..tabwire_mcp::limits::WAITING_CALLS {
        client.question("?").await;
    }
    let full = client.ask(call("?")).await;
    assert!(text(&full).starts_with("BACKPRESSURE: "), "{full}");
    drop((client.reader, client.writer));
    tokio::time::timeout(Duration::from_secs(5), client.serving).await.expect("soon").expect("no panic");
    // The aborted calls are dropped by the runtime, at its next turn.
    let is_over = async {
        while backend.0.given_up.load(Ordering::SeqCst) <= tabwire_mcp::limits::WAITING_CALLS {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), is_over).await.expect("each of them was given up");
}

#[tokio::test]
async fn who_shows_no_questions_is_refused_and_not_asked() {
    let backend = Careful::default();
    let mut client = Client::start(&backend);
    for capabilities in [json!({}), json!({"sampling": {}}), json!({"elicitation": {"url": {}}})] {
        client.capabilities = capabilities;
        let answer = client.ask(call("?")).await;
        assert!(text(&answer).contains("Nobody is there."), "{answer}");
    }
    client.capabilities = json!({});
    let answer = client.ask(call("nothing to ask")).await;
    assert!(text(&answer).contains("done"), "{answer}");
}

#[tokio::test]
async fn who_listens_is_told_what_for_and_keeps_nobody_from_leaving() {
    let mut client = Client::start(&Careful::default());
    let wanted = json!({"notifications": {"toolsListChanged": true, "promptsListChanged": true}});
    client.begin_as("subscriptions/listen", wanted).await;
    let told = client.answer().await;
    assert_eq!(told["method"], "notifications/subscriptions/acknowledged", "{told}");
    let accepted = &told["params"]["notifications"];
    assert_eq!(accepted["toolsListChanged"], true, "{told}");
    assert_ne!(accepted["promptsListChanged"], true, "prompts never change: {told}");
    // Calls go on beside it.
    let answer = client.ask(call("nothing to ask")).await;
    assert!(text(&answer).contains("done"), "{answer}");
    drop((client.reader, client.writer));
    tokio::time::timeout(Duration::from_secs(5), client.serving).await.expect("soon").expect("no panic");
}
