//! A browser with the fixture site, for snapshot tests.

use std::time::Duration;

use serde_json::{Value, json};
use tabwire_cdp::{CdpSession, Connection, EventFilter, TargetRegistry, TaskGroup};
use tabwire_testkit::Site;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::browser::{TestBrowser, test_browser};

/// Longer than any step takes on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Two browsers at once; more only slow each other down.
static PLACES: Semaphore = Semaphore::const_new(2);

/// One page in its own browser, 800 by 600; ends with the test.
pub(crate) struct Stage {
    session: CdpSession,
    site: Site,
    world: i64,
    _tasks: TaskGroup,
    _browser: TestBrowser,
    _place: SemaphorePermit<'static>,
}

impl Stage {
    /// Starts a browser with an empty page.
    pub(crate) async fn start() -> Self {
        let place = PLACES.acquire().await.expect("never closed");
        let browser = TestBrowser::start(&test_browser());
        let tasks = TaskGroup::new();
        let (source, sink) = browser.connect(&tasks).await;
        let connection = Connection::start(source, sink, &tasks);
        let registry = TargetRegistry::start(&connection, TIMEOUT).await.expect("targets");
        let page = registry.list().into_iter().find(|target| target.is_page()).expect("a page");
        let session = registry.attach(&page.target_id, TIMEOUT).await.expect("attached");
        session.enable("Page").await.expect("Page");
        session.enable("Runtime").await.expect("Runtime");
        let site = Site::start().await.expect("a free port");
        let stage = Self { session, site, world: 0, _tasks: tasks, _browser: browser, _place: place };
        let agent = json!({"source": tabwire_engine::page_agent(), "worldName": "agent"});
        stage.command("Page.addScriptToEvaluateOnNewDocument", agent).await;
        let window = json!({"width": 800, "height": 600, "deviceScaleFactor": 1, "mobile": false});
        stage.command("Emulation.setDeviceMetricsOverride", window).await;
        stage
    }

    /// Starts a browser and shows a page of the fixture site.
    pub(crate) async fn at(path: &str) -> Self {
        let mut stage = Self::start().await;
        stage.open(path).await;
        stage
    }

    /// Starts a browser and shows a page given as HTML.
    pub(crate) async fn with(html: &str) -> Self {
        let mut stage = Self::start().await;
        stage.show(html).await;
        stage
    }

    /// Shows a page of the fixture site.
    pub(crate) async fn open(&mut self, path: &str) {
        let url = self.site.url("a", path);
        self.navigate(&url).await;
    }

    /// Shows a page given as HTML.
    pub(crate) async fn show(&mut self, html: &str) {
        let encoded: String = html.bytes().map(|byte| format!("%{byte:02x}")).collect();
        self.navigate(&format!("data:text/html;charset=utf-8,<!doctype html>{encoded}")).await;
    }

    async fn navigate(&mut self, url: &str) {
        let mut loaded = self.session.events(EventFilter::methods(["Page.loadEventFired"]));
        self.command("Page.navigate", json!({"url": url})).await;
        loaded.next_within(TIMEOUT).await.expect("loads");
        let tree = self.command("Page.getFrameTree", json!({})).await;
        let world = json!({"frameId": tree["frameTree"]["frame"]["id"], "worldName": "agent"});
        let world = self.command("Page.createIsolatedWorld", world).await;
        self.world = world["executionContextId"].as_i64().expect("a world");
    }

    async fn command(&self, method: &'static str, params: Value) -> Value {
        let response = self.session.send(method, &params, TIMEOUT).await;
        response.and_then(|response| response.to()).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Evaluates in the page's main world.
    pub(crate) async fn eval(&self, expression: &str) -> Value {
        let params = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let response = self.command("Runtime.evaluate", params).await;
        assert!(response.get("exceptionDetails").is_none(), "threw: {response}");
        response["result"]["value"].clone()
    }

    /// Calls a function of the agent and returns its result or its failure.
    pub(crate) async fn call(&self, function: &str, argument: Value) -> Result<Value, Value> {
        let expression = format!("tabwire.run({}, {argument})", json!(function));
        let params = json!({"expression": expression, "returnByValue": true, "contextId": self.world});
        let response = self.command("Runtime.evaluate", params).await;
        assert!(response.get("exceptionDetails").is_none(), "threw: {response}");
        let outcome = &response["result"]["value"];
        match outcome["ok"].as_str() {
            Some(text) => Ok(with_whole_nodes(serde_json::from_str(text).expect("JSON"))),
            None => Err(outcome["failure"].clone()),
        }
    }

    /// Takes a snapshot with these options.
    pub(crate) async fn snapshot(&self, options: Value) -> Walked {
        let response = self.call("snapshot", options.clone()).await;
        Walked(response.unwrap_or_else(|failure| panic!("{options}: {failure}")))
    }
}

/// A response with nodes as `[depth, role, name, key, extra]`: positional fields become members of `extra`.
fn with_whole_nodes(mut response: Value) -> Value {
    for node in response["nodes"].as_array_mut().into_iter().flatten() {
        let entry = node.as_array_mut().expect("an entry");
        let mut extra = match entry.get(5).cloned().unwrap_or_else(|| json!({})) {
            Value::Object(details) => Value::Object(details),
            target @ Value::String(_) => json!({"target": target}),
            level => json!({"level": level}),
        };
        if let Some(far) = entry.get(4).filter(|far| **far != json!(0)) {
            extra["remoteness"] = far.clone();
        }
        entry.truncate(4);
        if extra != json!({}) {
            entry.push(extra);
        }
    }
    response
}

/// The result of a walk.
#[derive(Debug)]
pub(crate) struct Walked(pub(crate) Value);

impl Walked {
    /// Its nodes: `[depth, role, name, key, extra]`.
    pub(crate) fn nodes(&self) -> &Vec<Value> {
        self.0["nodes"].as_array().expect("nodes")
    }

    /// One line for each node: `  role "name" {extra}`, without keys and distances.
    pub(crate) fn outline(&self) -> String {
        let lines: Vec<String> = self.nodes().iter().map(line_of).collect();
        lines.join("\n")
    }

    /// The names of all nodes of a role.
    pub(crate) fn names(&self, role: &str) -> Vec<&str> {
        self.nodes().iter().filter(|node| node[1] == role).filter_map(|node| node[2].as_str()).collect()
    }

    /// The node with this role and name.
    pub(crate) fn find(&self, role: &str, name: &str) -> &Value {
        let found = self.nodes().iter().find(|node| node[1] == role && node[2] == name);
        found.unwrap_or_else(|| panic!("no {role} {name:?} in\n{}", self.outline()))
    }

    /// The key of the node with this role and name.
    pub(crate) fn key(&self, role: &str, name: &str) -> u64 {
        self.find(role, name)[3].as_u64().expect("a key")
    }

    /// The count of omitted nodes: above, below or inside.
    pub(crate) fn more(&self, side: &str) -> Option<&Value> {
        self.nodes().iter().map(|node| &node[4]["more"]).find(|more| more.get(side).is_some())
    }
}

fn line_of(node: &Value) -> String {
    let depth = usize::try_from(node[0].as_u64().expect("a depth")).expect("small");
    let mut extra = node.get(4).cloned().unwrap_or_else(|| json!({}));
    if let Some(extra) = extra.as_object_mut() {
        extra.remove("remoteness");
        if let Some(more) = extra.get_mut("more").and_then(Value::as_object_mut) {
            more.remove("key");
        }
    }
    let mut line = format!("{}{}", "  ".repeat(depth), node[1].as_str().expect("a role"));
    if node[2] != "" {
        line.push_str(&format!(" {}", node[2]));
    }
    if extra != json!({}) {
        line.push_str(&format!(" {extra}"));
    }
    line
}
