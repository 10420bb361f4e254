//! One browser with tabs that run the page agent.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tabwire_api::TargetId;
use tabwire_cdp::{
    CdpSession, Connection, EventFilter, PendingResponse, TargetRegistry, TaskGroup, WebSocketUrl,
};
use tabwire_testkit::Site;
use tabwire_testkit::bench::BareBrowser;
use tokio::sync::{Semaphore, SemaphorePermit};

/// Longer than anything here takes on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Two browsers at once: more only make each other slow.
static PLACES: Semaphore = Semaphore::const_new(2);

/// A browser of a test's own.
pub(crate) struct Stage {
    registry: TargetRegistry,
    site: Site,
    _tasks: TaskGroup,
    _browser: BareBrowser,
    _place: SemaphorePermit<'static>,
}

impl Stage {
    pub(crate) async fn start() -> Self {
        let place = PLACES.acquire().await.expect("never closed");
        let browser = BareBrowser::start(Path::new("/usr/bin/chromium"));
        let address = WebSocketUrl::parse(&browser.websocket()).expect("an address");
        let (source, sink) = address.connect().await.expect("the browser answers");
        let tasks = TaskGroup::new();
        let connection = Connection::start(source, sink, &tasks);
        let registry = TargetRegistry::start(&connection, TIMEOUT).await.expect("targets");
        let site = Site::start().await.expect("a free port");
        Self { registry, site, _tasks: tasks, _browser: browser, _place: place }
    }

    /// A new tab whose documents all get the agent.
    pub(crate) async fn tab(&self) -> Tab {
        let browser = self.registry.connection().browser();
        let blank = json!({"url": "about:blank"});
        let created = browser.send("Target.createTarget", &blank, TIMEOUT).await.expect("a tab");
        let target =
            TargetId::new(created.to::<Value>().expect("reads")["targetId"].as_str().expect("an id"));
        let session = self.registry.attach(&target, TIMEOUT).await.expect("attached");
        for domain in ["Page", "Runtime", "DOM", "Accessibility"] {
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

/// One tab, and where its agent is.
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
    /// The page is a blob of the page before it: a data address would get a process of its own each time, which takes
    /// most of the time of such a test.
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

    /// Sends a command and gives its response.
    pub(crate) async fn command(&self, method: &'static str, params: Value) -> Value {
        answer(method, self.begin(method, &params)).await
    }

    /// Sends a command whose answer is fetched later with [`answer`].
    pub(crate) fn begin(&self, method: &'static str, params: &Value) -> PendingResponse {
        self.session.begin(method, params, TIMEOUT).expect("sent")
    }

    /// Evaluates in the agent's world.
    pub(crate) async fn eval_in_agent(&self, expression: &str) -> Value {
        let params = json!({"expression": expression, "contextId": self.world, "returnByValue": true});
        let mut answer = self.command("Runtime.evaluate", params).await;
        let thrown = &answer["exceptionDetails"];
        assert!(thrown.is_null(), "{}", thrown["exception"]["description"]);
        answer["result"]["value"].take()
    }
}

/// Waits for the response to a command.
pub(crate) async fn answer(method: &str, pending: PendingResponse) -> Value {
    let answer = pending.response().await;
    answer.and_then(|answer| answer.to()).unwrap_or_else(|error| panic!("{method}: {error}"))
}

fn collect_frames(tree: &Value, frames: &mut Vec<String>) {
    frames.push(tree["frame"]["id"].as_str().expect("an id").to_owned());
    for child in tree["childFrames"].as_array().into_iter().flatten() {
        collect_frames(child, frames);
    }
}
