//! A browser with one page that runs the page agent.

use std::time::Duration;

use serde_json::{Value, json};
use tabwire_cdp::{CdpSession, Connection, EventFilter, PendingResponse, TargetRegistry, TaskGroup};

use crate::browser::{TestBrowser, test_browser};

/// Longer than any step takes on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(25);

/// One page in its own browser; ends with the test.
pub(crate) struct Stage {
    session: CdpSession,
    context: i64,
    _tasks: TaskGroup,
    _browser: TestBrowser,
}

impl Stage {
    /// Starts a browser with an empty page.
    pub(crate) async fn start() -> Self {
        let browser = TestBrowser::start(&test_browser());
        let tasks = TaskGroup::new();
        let (source, sink) = browser.connect(&tasks).await;
        let connection = Connection::start(source, sink, &tasks);
        let registry = TargetRegistry::start(&connection, TIMEOUT).await.expect("targets");
        let page = registry.list().into_iter().find(|target| target.is_page()).expect("a page");
        let session = registry.attach(&page.target_id, TIMEOUT).await.expect("attached");
        session.enable("Page").await.expect("Page");
        session.enable("Runtime").await.expect("Runtime");
        let agent = json!({"source": tabwire_engine::page_agent(), "worldName": "agent"});
        session.send("Page.addScriptToEvaluateOnNewDocument", &agent, TIMEOUT).await.expect("installed");
        let window = json!({"width": 800, "height": 600, "deviceScaleFactor": 1, "mobile": false});
        session.send("Emulation.setDeviceMetricsOverride", &window, TIMEOUT).await.expect("a size");
        let focus = json!({"enabled": true});
        session.send("Emulation.setFocusEmulationEnabled", &focus, TIMEOUT).await.expect("focus");
        Self { session, context: 0, _tasks: tasks, _browser: browser }
    }

    /// Shows a page and waits until it has loaded.
    pub(crate) async fn show(&mut self, html: &str) {
        let page = format!("data:text/html;charset=utf-8,<!doctype html>{}", escaped(html));
        let mut loaded = self.session.events(EventFilter::methods(["Page.loadEventFired"]));
        self.command("Page.navigate", json!({"url": page})).await;
        loaded.next_within(TIMEOUT).await.expect("loads");
        let tree = self.command("Page.getFrameTree", json!({})).await;
        let world = json!({"frameId": tree["frameTree"]["frame"]["id"], "worldName": "agent"});
        let world = self.command("Page.createIsolatedWorld", world).await;
        self.context = world["executionContextId"].as_i64().expect("a world");
    }

    /// Sends a command and returns its response.
    pub(crate) async fn command(&self, method: &'static str, params: Value) -> Value {
        let response = self.session.send(method, &params, TIMEOUT).await;
        response.and_then(|response| response.to()).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Evaluates in the page's main world.
    pub(crate) async fn eval(&self, expression: &str) -> Value {
        let params = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        value_of(self.command("Runtime.evaluate", params).await)
    }

    /// Evaluates in the agent's world.
    pub(crate) async fn eval_in_agent(&self, expression: &str) -> Value {
        let params = json!({
            "expression": expression, "awaitPromise": true, "returnByValue": true, "contextId": self.context,
        });
        value_of(self.command("Runtime.evaluate", params).await)
    }

    fn begin(&self, method: &'static str, params: &Value) -> PendingResponse {
        self.session.begin(method, params, TIMEOUT).expect("sent")
    }

    fn begin_call(&self, function: &str, argument: &Value) -> PendingResponse {
        let expression = format!("tabwire.run({}, {argument})", json!(function));
        let params = json!({
            "expression": expression, "awaitPromise": true, "returnByValue": true, "contextId": self.context,
        });
        self.begin("Runtime.evaluate", &params)
    }

    /// Calls a function of the agent: its result, or its failure.
    pub(crate) async fn call(&self, function: &str, argument: Value) -> Result<Value, Value> {
        outcome_of(self.begin_call(function, &argument)).await
    }

    /// Calls a function of the agent that must not fail.
    pub(crate) async fn run(&self, function: &str, argument: Value) -> Value {
        self.call(function, argument.clone())
            .await
            .unwrap_or_else(|failure| panic!("{function}({argument}): {failure}"))
    }

    /// Calls a function of the agent that must fail.
    pub(crate) async fn failure(&self, function: &str, argument: Value) -> Value {
        match self.call(function, argument.clone()).await {
            Err(failure) => failure,
            Ok(value) => panic!("{function}({argument}) did not fail: {value}"),
        }
    }

    /// The number of the one element a target names.
    pub(crate) async fn key(&self, spec: Value) -> u64 {
        let found = self.run("locate", json!({"spec": spec})).await;
        assert_eq!(found["total"], 1, "one match for {spec}: {found}");
        found["matches"][0]["key"].as_u64().expect("a key")
    }

    /// Prepares a click as the engine does.
    pub(crate) async fn prepare_click(&self, spec: Value) -> Result<Value, Value> {
        let request = json!({"spec": spec, "for": "click", "timeout": 5_000, "guard": true, "mark": true});
        self.call("prepare", request).await
    }

    /// Sends press, release and `settle` without waiting in between.
    pub(crate) async fn press_at(&self, prepared: &Value) -> Value {
        let pointer = |kind: &str, clicks: u32| json!({"type": kind, "x": prepared["point"]["x"], "y": prepared["point"]["y"], "button": "left", "clickCount": clicks});
        let mut moved = pointer("mouseMoved", 0);
        moved["button"] = json!("none");
        let sent = [moved, pointer("mousePressed", 1), pointer("mouseReleased", 1)]
            .map(|params| self.begin("Input.dispatchMouseEvent", &params));
        let settle = json!({"since": prepared["mark"], "after": "mouseup", "key": prepared["key"]});
        let settled = self.begin_call("settle", &settle);
        for pending in sent {
            pending.response().await.expect("input is accepted");
        }
        outcome_of(settled).await.expect("settles")
    }

    /// Clicks as the engine does: two round trips.
    pub(crate) async fn click(&self, spec: Value) -> Value {
        let prepared = self.prepare_click(spec.clone()).await;
        let prepared = prepared.unwrap_or_else(|failure| panic!("{spec}: {failure}"));
        let settled = self.press_at(&prepared).await;
        assert_eq!(settled["guard"]["state"], "passed", "{spec}: {settled}");
        settled
    }

    /// Fills as the engine does: two round trips.
    pub(crate) async fn fill(&self, spec: Value, value: &str) -> Result<Value, Value> {
        let request = json!({"spec": spec, "for": "fill", "value": value, "timeout": 5_000, "mark": true});
        let prepared = self.call("prepare", request).await?;
        let mut settle = json!({"since": prepared["mark"], "key": prepared["key"], "expected": value});
        let mut sent = Vec::new();
        if prepared["selectAll"] == true {
            sent.push(self.begin("Input.dispatchKeyEvent", &select_all()));
        }
        match prepared["fill"].as_str() {
            Some("insert") => sent.push(self.begin("Input.insertText", &json!({"text": value}))),
            Some("erase") => sent.push(self.begin_key("rawKeyDown")),
            Some("enter") => settle["enter"] = json!(value),
            _ => return Ok(prepared),
        }
        if !sent.is_empty() {
            settle["after"] = json!("beforeinput");
        }
        let settled = self.begin_call("settle", &settle);
        for pending in sent {
            pending.response().await.expect("input is accepted");
        }
        outcome_of(settled).await
    }

    fn begin_key(&self, kind: &str) -> PendingResponse {
        let key = json!({"type": kind, "key": "Backspace", "code": "Backspace", "windowsVirtualKeyCode": 8});
        self.begin("Input.dispatchKeyEvent", &key)
    }
}

fn select_all() -> Value {
    json!({
        "type": "rawKeyDown", "key": "a", "code": "KeyA", "windowsVirtualKeyCode": 65, "modifiers": 2,
        "commands": ["selectAll"],
    })
}

/// HTML, escaped for a data URL.
fn escaped(html: &str) -> String {
    html.bytes()
        .map(|byte| match byte {
            b'%' | b'#' | b'&' | b'+' | b'\n' | b'\t' | b'\r' | 0x80.. => format!("%{byte:02X}"),
            byte => char::from(byte).to_string(),
        })
        .collect()
}

async fn outcome_of(pending: PendingResponse) -> Result<Value, Value> {
    let response: Value = pending.response().await.and_then(|response| response.to()).expect("a response");
    let outcome = value_of(response);
    match outcome.get("failure") {
        Some(failure) => Err(failure.clone()),
        None => Ok(outcome.get("ok").cloned().unwrap_or(Value::Null)),
    }
}

fn value_of(response: Value) -> Value {
    assert!(response.get("exceptionDetails").is_none(), "threw: {response}");
    response["result"]["value"].clone()
}
