//! One browser with tabs that run the page agent.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tabwire_api::TargetId;
use tabwire_cdp::{CdpSession, Connection, EventFilter, PendingResponse, TargetRegistry, TaskGroup};
use tabwire_testkit::Site;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::browser::{TestBrowser, test_browser};

/// Longer than any step takes on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Two browsers at once; more only slow each other down.
static PLACES: Semaphore = Semaphore::const_new(2);

/// A test's own browser.
pub(crate) struct Stage {
    registry: TargetRegistry,
    site: Site,
    _tasks: TaskGroup,
    browser: TestBrowser,
    _place: SemaphorePermit<'static>,
}

impl Stage {
    pub(crate) async fn start() -> Self {
        Self::start_program(&test_browser()).await
    }

    pub(crate) async fn start_program(program: &Path) -> Self {
        let place = PLACES.acquire().await.expect("never closed");
        let browser = TestBrowser::start(program);
        let tasks = TaskGroup::new();
        let (source, sink) = browser.connect(&tasks).await;
        let connection = Connection::start(source, sink, &tasks);
        let registry = TargetRegistry::start(&connection, TIMEOUT).await.expect("targets");
        let site = Site::start().await.expect("a free port");
        Self { registry, site, _tasks: tasks, browser, _place: place }
    }

    /// A new tab whose documents all get the agent.
    pub(crate) async fn tab(&self) -> Tab {
        let browser = self.registry.connection().browser();
        let blank = json!({"url": "about:blank"});
        let created = browser.send("Target.createTarget", &blank, TIMEOUT).await.expect("a tab");
        let target =
            TargetId::new(created.to::<Value>().expect("reads")["targetId"].as_str().expect("an id"));
        let session = self.registry.attach(&target, TIMEOUT).await.expect("attached");
        let mut domains = vec!["Page", "Runtime", "DOM"];
        if self.browser.is_chromium() {
            domains.push("Accessibility");
        }
        for domain in domains {
            session.enable(domain).await.expect(domain);
        }
        let tab = Tab { session, frames: Vec::new(), world: 0 };
        tab.command("Emulation.setFocusEmulationEnabled", json!({"enabled": true})).await;
        let agent = json!({"source": crate::accessibility::probe::source(), "worldName": "agent"});
        tab.command("Page.addScriptToEvaluateOnNewDocument", agent).await;
        tab.navigate(&self.site.url("a", "/plain")).await;
        tab
    }
}

/// One tab, and the execution context of its agent.
pub(crate) struct Tab {
    session: CdpSession,
    frames: Vec<String>,
    world: i64,
}

impl Tab {
    async fn navigate(&self, url: &str) {
        let mut loaded = self.session.events(EventFilter::methods(["Page.loadEventFired"]));
        self.command("Page.navigate", json!({"url": url})).await;
        loaded.next_within(TIMEOUT).await.expect("loads");
    }

    /// Shows a page and waits until it has loaded.
    ///
    /// The page is a blob URL of the previous page: a data URL would start a new process each time, which takes most of
    /// the test's time.
    pub(crate) async fn show(&mut self, html: &str) {
        let mut loaded = self.session.events(EventFilter::methods(["Page.loadEventFired"]));
        let content = json!([html]);
        let expression = format!(
            "location = URL.createObjectURL(new Blob({content}, {{type: 'text/html;charset=utf-8'}})); 0"
        );
        self.command("Runtime.evaluate", json!({"expression": expression})).await;
        loaded.next_within(TIMEOUT).await.expect("loads");
        let tree = self.command("Page.getFrameTree", json!({})).await;
        self.frames.clear();
        collect_frames(&tree["frameTree"], &mut self.frames);
        let world = json!({"frameId": self.frames[0], "worldName": "agent"});
        let world = self.command("Page.createIsolatedWorld", world).await;
        self.world = world["executionContextId"].as_i64().expect("a world");
    }

    /// The page's frames, the page itself first.
    pub(crate) fn frames(&self) -> &[String] {
        &self.frames
    }

    /// Sends a command and returns its response.
    pub(crate) async fn command(&self, method: &'static str, params: Value) -> Value {
        await_response(method, self.begin(method, &params)).await
    }

    /// Sends a command. [`await_response`] waits for its response.
    pub(crate) fn begin(&self, method: &'static str, params: &Value) -> PendingResponse {
        self.session.begin(method, params, TIMEOUT).expect("sent")
    }

    /// Evaluates in the agent's world.
    pub(crate) async fn eval_in_agent(&self, expression: &str) -> Value {
        let params = json!({"expression": expression, "contextId": self.world, "returnByValue": true});
        let mut response = self.command("Runtime.evaluate", params).await;
        let thrown = &response["exceptionDetails"];
        assert!(thrown.is_null(), "{}", thrown["exception"]["description"]);
        response["result"]["value"].take()
    }
}

/// Waits for the response to a command.
pub(crate) async fn await_response(method: &str, pending: PendingResponse) -> Value {
    let response = pending.response().await;
    response.and_then(|response| response.to()).unwrap_or_else(|error| panic!("{method}: {error}"))
}

fn collect_frames(tree: &Value, frames: &mut Vec<String>) {
    frames.push(tree["frame"]["id"].as_str().expect("an id").to_owned());
    for child in tree["childFrames"].as_array().into_iter().flatten() {
        collect_frames(child, frames);
    }
}
