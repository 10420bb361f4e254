//! Tests of the server with the SDK's client in one process, with a scripted backend.
#![expect(clippy::disallowed_methods, reason = "each test waits for the tasks it starts")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rmcp::model::{CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, Implementation};
use rmcp::service::{RoleClient, RunningService};
use rmcp::{ClientHandler, ServiceExt};
use serde_json::{Value, json};
use tabwire_api::api::{ActionRequest, ActionResponse, McpOpening, ResultForm};
use tabwire_api::{CallNumber, ClientName, ErrorCode, Failure, Progress, Remedy, Step};
use tabwire_engine::ACTIONS;
use tabwire_mcp::{ApprovalQuestion, Approver, Backend, BackendFuture, Connection, Permission, serve};
use tokio::sync::Semaphore;

/// A backend whose calls do what their expression says.
#[derive(Debug)]
struct Scripted {
    dropped: Arc<AtomicUsize>,
    has_left: AtomicBool,
    /// The number of held calls, and the permits that release them.
    holding: AtomicUsize,
    release: Semaphore,
}

impl Default for Scripted {
    fn default() -> Self {
        let (dropped, holding) = (Arc::default(), AtomicUsize::new(0));
        Self { dropped, has_left: AtomicBool::new(false), holding, release: Semaphore::new(0) }
    }
}

/// Counts cancelled calls.
struct CallCounter(Arc<AtomicUsize>);

impl Drop for CallCounter {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Scripted {
    async fn run(&self, request: ActionRequest) -> Result<ActionResponse, Failure> {
        let script = request.params["expression"].as_str().unwrap_or_default().to_owned();
        match script.as_str() {
            "panic" => panic!("as planned"),
            "fail" => {
                let failure = Failure::new(ErrorCode::DialogOpen, "A dialog is open.");
                let accept = Step::action("dialog").with("answer", "accept");
                return Err(failure.with_remedy(Remedy::new("Close it with {}.", [accept])));
            }
            "forever" => {
                let _counter = CallCounter(Arc::clone(&self.dropped));
                std::future::pending::<()>().await;
            }
            "held" => {
                self.holding.fetch_add(1, Ordering::SeqCst);
                // Never closed: only a permit ends the wait.
                drop(self.release.acquire().await);
            }
            _ => {}
        }
        Ok(ActionResponse {
            session: request.session,
            project: request.project,
            tab: None,
            base_url: None,
            recovered: false,
            recovery: None,
            // Like the daemon: text if requested, else data.
            result: if request.text { Value::Null } else { json!({"value": script}) },
            text: request.text.then_some(script),
            notices: Vec::new(),
        })
    }
}

/// An approver that expects no questions.
struct NoQuestions;

impl Approver for NoQuestions {
    fn call(&self) -> Option<CallNumber> {
        None
    }

    fn next(&self) -> BackendFuture<'_, ApprovalQuestion> {
        Box::pin(std::future::pending())
    }

    fn answer(&self, id: &str, _permission: Permission) {
        panic!("{id} was never asked");
    }
}

impl Backend for Scripted {
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
        Box::pin(async { Ok("nothing".to_owned()) })
    }

    fn progress(&self, _request: &ActionRequest) -> Progress {
        Progress::default()
    }

    fn request(&self) -> ActionRequest {
        ActionRequest::default()
    }

    fn approver(&self) -> Box<dyn Approver> {
        Box::new(NoQuestions)
    }

    fn set_client_name(&self, name: &ClientName) {
        assert!(!name.as_str().is_empty());
    }

    fn another(&self) -> Result<Arc<dyn Backend>, Failure> {
        Ok(Arc::new(Self::default()))
    }

    fn leave(&self) -> BackendFuture<'_, ()> {
        self.has_left.store(true, Ordering::SeqCst);
        Box::pin(async {})
    }
}

/// Starts a server with text results. Returns its client and its task.
async fn start(backend: &Arc<Scripted>) -> (RunningService<RoleClient, ()>, tokio::task::JoinHandle<()>) {
    start_with(backend, McpOpening { results: ResultForm::Text, ..McpOpening::default() }).await
}

/// Starts a server with these settings.
async fn start_with(
    backend: &Arc<Scripted>,
    opening: McpOpening,
) -> (RunningService<RoleClient, ()>, tokio::task::JoinHandle<()>) {
    let backend: Arc<dyn Backend> = Arc::<Scripted>::clone(backend);
    let connection = Arc::new(Connection::new(backend, &opening).expect("the usual tools"));
    let (client, server) = tokio::io::duplex(64 * 1024);
    let (reader, writer) = tokio::io::split(server);
    let serving = tokio::task::spawn(async move { serve(connection, reader, writer).await });
    (().serve(client).await.expect("greeted"), serving)
}

async fn eval<H: ClientHandler>(client: &RunningService<RoleClient, H>, script: &str) -> CallToolResult {
    let arguments = json!({"expression": script}).as_object().cloned().expect("an object");
    let call = client.call_tool(CallToolRequestParams::new("eval").with_arguments(arguments));
    tokio::time::timeout(Duration::from_secs(10), call).await.expect("in time").expect("no protocol error")
}

fn text(result: &CallToolResult) -> String {
    let texts = result.content.iter().filter_map(|block| Some(block.as_text()?.text.clone()));
    texts.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn f43_panicking_call_ends_only_itself() {
    let backend = Arc::new(Scripted::default());
    let (client, _serving) = start(&backend).await;
    let panicking = async {
        let broken = eval(&client, "panic").await;
        backend.release.add_permits(1);
        broken
    };
    let (held, broken) = tokio::join!(eval(&client, "held"), panicking);
    assert_eq!((broken.is_error, held.is_error), (Some(true), Some(false)));
    assert!(text(&broken).starts_with("INTERNAL: "), "{}", text(&broken));
    assert!(text(&eval(&client, "again").await).contains("again"));
}

#[tokio::test]
async fn a_failure_is_a_tool_result_whose_remedy_names_tools() {
    let backend = Arc::new(Scripted::default());
    let (client, _serving) = start(&backend).await;
    let failed = eval(&client, "fail").await;
    assert_eq!(failed.is_error, Some(true));
    assert_eq!(
        text(&failed),
        "DIALOG_OPEN: A dialog is open.\nnext: Close it with `dialog` {answer: \"accept\"}."
    );
    let shown = text(&eval(&client, "![x](https://evil.test/?q=1) <img src=x>").await);
    assert!(!shown.contains("](") && !shown.contains("<img") && shown.starts_with("<page "), "{shown}");
}

#[tokio::test]
async fn f25_running_calls_end_after_the_client_disconnects() {
    let backend = Arc::new(Scripted::default());
    let (client, serving) = start(&backend).await;
    let calls: Vec<_> = (0..3)
        .map(|_| {
            let arguments = json!({"expression": "forever"}).as_object().cloned().expect("an object");
            let peer = client.peer().clone();
            tokio::task::spawn(async move {
                peer.call_tool(CallToolRequestParams::new("eval").with_arguments(arguments)).await
            })
        })
        .collect();
    // Its result arrives after the other calls started, because all use one stream.
    eval(&client, "ready").await;
    client.cancel().await.expect("the client runs");
    tokio::time::timeout(Duration::from_secs(2), serving).await.expect("within 2 s").expect("no panic");
    assert_eq!(backend.dropped.load(Ordering::SeqCst), 3, "each call was cancelled");
    assert!(backend.has_left.load(Ordering::SeqCst));
    for call in calls {
        assert!(call.await.expect("no panic").is_err(), "the calls have no result");
    }
}

#[tokio::test]
async fn calls_above_the_limit_are_refused_with_a_remedy() {
    let backend = Arc::new(Scripted::default());
    let (client, _serving) = start(&backend).await;
    let calls = futures_util::future::join_all((0..80).map(|_| eval(&client, "held")));
    let releasing = async {
        while backend.holding.load(Ordering::SeqCst) < tabwire_mcp::limits::CALLS_AT_ONCE {
            tokio::task::yield_now().await;
        }
        // Calls above the limit are refused. After one more call, all of them have started.
        eval(&client, "ready").await;
        backend.release.add_permits(80);
    };
    let (responses, ()) = tokio::join!(calls, releasing);
    let refused = responses.iter().filter(|result| text(result).starts_with("BACKPRESSURE: ")).count();
    assert_eq!(refused, 80 - tabwire_mcp::limits::CALLS_AT_ONCE);
}

/// A client with this name and version.
#[derive(Clone)]
struct Named(&'static str, &'static str);

impl ClientHandler for Named {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(ClientCapabilities::default(), Implementation::new(self.0, self.1))
    }
}

/// Starts a server for a named client.
async fn start_named(
    backend: &Arc<Scripted>,
    form: ResultForm,
    client: Named,
) -> RunningService<RoleClient, Named> {
    let opening = McpOpening { results: form, resumed: true, ..McpOpening::default() };
    let backend: Arc<dyn Backend> = Arc::<Scripted>::clone(backend);
    let connection = Arc::new(Connection::new(backend, &opening).expect("the usual tools"));
    let (near, server) = tokio::io::duplex(64 * 1024);
    let (reader, writer) = tokio::io::split(server);
    tokio::task::spawn(async move { serve(connection, reader, writer).await });
    client.serve(near).await.expect("greeted")
}

#[tokio::test]
async fn results_are_text_unless_the_client_shows_structured_content() {
    let backend = Arc::new(Scripted::default());
    for (form, client, is_structured) in [
        (ResultForm::default(), Named("mcp", "1.30.0"), false),
        (ResultForm::default(), Named("claude-code", "2.1.0"), false),
        (ResultForm::Auto, Named("mcp", "1.30.0"), false),
        (ResultForm::Auto, Named("claude-code", "2.0.0"), false),
        (ResultForm::Auto, Named("claude-code", "2.1.0"), true),
        (ResultForm::Data, Named("mcp", "1.30.0"), true),
    ] {
        let label = format!("{form:?} {} {}", client.0, client.1);
        let client = start_named(&backend, form, client).await;
        let tools = client.list_all_tools().await.expect("tools");
        let listed = json!({"tools": tools}).to_string().len();
        // Programs, which get schemas of all results, pay no tokens.
        let is_for_model = form != ResultForm::Data;
        assert!(!is_for_model || listed <= tabwire_mcp::limits::LIST_TOKENS * 4, "{label}: {listed} bytes");
        let schemas = tools.iter().filter(|tool| tool.output_schema.is_some()).count();
        assert_eq!(schemas > 0, is_structured, "{label}");
        let arguments = json!({"expression": "payload"}).as_object().cloned().expect("an object");
        let call = client.call_tool(CallToolRequestParams::new("eval").with_arguments(arguments));
        let result = call.await.expect("no protocol error");
        assert!(text(&result).contains("payload"), "{label}: the text holds the result: {}", text(&result));
        assert!(text(&result).contains("new browser"), "{label}: and the notes: {}", text(&result));
        assert_eq!(result.structured_content.is_some(), is_structured, "{label}");
    }
}

#[tokio::test]
async fn structured_results_have_a_schema_and_are_truncated() {
    let backend = Arc::new(Scripted::default());
    let client = start_named(&backend, ResultForm::Auto, Named("claude-code", "2.1.0")).await;
    let tools = client.list_all_tools().await.expect("tools");
    let has_schema = |name: &str| {
        tools.iter().find(|tool| tool.name == name).is_some_and(|tool| tool.output_schema.is_some())
    };
    assert!(has_schema("eval") && has_schema("tabs_list") && has_schema("extract_links"));
    assert!(!has_schema("get_text") && !has_schema("click") && !has_schema("snapshot"));

    let first = eval(&client, "payload <img src=x>").await;
    let data = first.structured_content.clone().expect("data");
    assert_eq!(data["value"].as_str().map(|value| value.contains("<img")), Some(false), "{data}");
    assert!(data["notes"][0].as_str().is_some_and(|note| note.contains("new browser")), "{data}");
    assert_eq!(text(&first), data.to_string(), "the text is the same JSON");
    let second = eval(&client, "again").await.structured_content.expect("data");
    assert_eq!(second, json!({"value": "again"}), "the notice is sent once");

    let long = "long ".repeat(20_000);
    let cut = eval(&client, &long).await.structured_content.expect("data");
    assert_eq!(cut["characters"], json!({"value": long}).to_string().len(), "{:?}", cut["characters"]);
    let mut read = cut["cut"].as_str().expect("the first part").to_owned();
    let mut handle = cut["more"].as_str().map(str::to_owned);
    while let Some(next) = handle.take() {
        let arguments = json!({"handle": next}).as_object().cloned().expect("an object");
        let call = client.call_tool(CallToolRequestParams::new("more").with_arguments(arguments));
        let rest = text(&call.await.expect("no protocol error"));
        handle = rest.rsplit_once("handle \"").map(|(_, handle)| handle.trim_end_matches('"').to_owned());
        read.push_str(rest.split('\n').nth(1).expect("between the fence's lines"));
    }
    assert_eq!(serde_json::from_str::<Value>(&read).expect("whole"), json!({"value": long}));
    let failed = eval(&client, "fail").await;
    assert_eq!((failed.is_error, failed.structured_content.is_none()), (Some(true), true));
}

#[tokio::test]
async fn every_action_is_a_tool_and_takes_one_element_argument() {
    let backend = Arc::new(Scripted::default());
    let opening =
        McpOpening { tools: vec!["all".to_owned()], results: ResultForm::Text, ..McpOpening::default() };
    let (client, _serving) = start_with(&backend, opening).await;
    let tools = client.list_all_tools().await.expect("tools");
    let own = ["status", "more", "tab_lease", "execute", "reset"];
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names.len(), ACTIONS.len() + own.len());
    for action in ACTIONS {
        assert!(names.contains(&action.name), "{} is no tool", action.name);
        let schema = (action.parameters)();
        let is_element = |name: &str| name == "target" || name == "element";
        let members = schema["properties"].as_object().into_iter().flat_map(|members| members.keys());
        if !members.into_iter().any(|name| is_element(name)) {
            continue;
        }
        let call = |arguments: Value| {
            let arguments = arguments.as_object().cloned().expect("an object");
            client.call_tool(CallToolRequestParams::new(action.name).with_arguments(arguments))
        };
        let both = call(json!({"ref": "e1", "selector": "#a"})).await.expect("no protocol error");
        assert!(text(&both).starts_with("BAD_ARGS: "), "{}: {}", action.name, text(&both));
        let musts = schema["required"].as_array().cloned().unwrap_or_default();
        if musts.iter().filter_map(Value::as_str).any(is_element) {
            let neither = call(json!({})).await.expect("no protocol error");
            assert!(text(&neither).starts_with("BAD_ARGS: "), "{}: {}", action.name, text(&neither));
        }
    }
}
