//! A browser with the fixture site, driven through the action registry.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tabwire_api::{CdpSessionId, ErrorCode, Failure, TabId, TargetId, UpstreamKind};
use tabwire_cdp::{CdpSession, Connection, Deadline, FrameSink, FrameSource, TaskGroup};
use tabwire_engine::{
    Browser, Context, Files, OutputRedactor, RawCdp, TabIds, find_action, send_raw_command,
};
use tabwire_testkit::Site;

use crate::actions::support::test_files::TestFiles;
use crate::actions::support::test_logins::TestLogins;
use crate::browser::{TestBrowser, test_browser, whole_browser};

/// Longer than any step takes on a busy machine.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

/// The timeout of an action that a test expects to time out.
pub(crate) const SHORT: Duration = Duration::from_millis(400);

/// Sends CDP commands over the engine's own connection.
#[derive(Debug)]
struct DirectCdp(Connection);

impl RawCdp for DirectCdp {
    fn send<'a>(
        &'a self,
        target: &'a TargetId,
        method: &'a str,
        params: &'a Value,
        deadline: Deadline,
    ) -> BoxFuture<'a, Result<Value, Failure>> {
        Box::pin(send_raw_command(&self.0, target, method, params, deadline))
    }
}

/// A test's own browser, and the fixture site.
pub(crate) struct Stage {
    pub(crate) browser: Arc<Browser>,
    pub(crate) site: Site,
    pub(crate) files: Arc<TestFiles>,
    pub(crate) tasks: TaskGroup,
    pub(crate) redactor: Arc<OutputRedactor>,
    process: TestBrowser,
}

impl Stage {
    /// Starts a browser with an empty page.
    pub(crate) async fn start() -> Self {
        Self::start_over(|link, _| link).await
    }

    /// Starts Chromium itself (or Firefox) with an empty page, for what its headless shell does in another way: downloads, frames in
    /// other processes, hidden targets.
    pub(crate) async fn start_chromium() -> Self {
        Self::start_program(&whole_browser(), |link, _| link).await
    }

    /// The same with a wrapped connection.
    pub(crate) async fn start_chromium_over(
        through: impl FnOnce((FrameSource, FrameSink), &TaskGroup) -> (FrameSource, FrameSink),
    ) -> Self {
        Self::start_program(&whole_browser(), through).await
    }

    /// Starts a browser with an empty page and wraps the connection to it.
    pub(crate) async fn start_over(
        through: impl FnOnce((FrameSource, FrameSink), &TaskGroup) -> (FrameSource, FrameSink),
    ) -> Self {
        Self::start_program(&test_browser(), through).await
    }

    /// Starts a browser program with an empty page and wraps the connection to it.
    pub(crate) async fn start_program(
        program: &Path,
        through: impl FnOnce((FrameSource, FrameSink), &TaskGroup) -> (FrameSource, FrameSink),
    ) -> Self {
        let process = TestBrowser::start(program);
        let tasks = TaskGroup::new();
        let (source, sink) = through(process.connect(&tasks).await, &tasks);
        let book = TabIds::new(UpstreamKind::Websocket, 1);
        let files = Arc::new(TestFiles::new());
        let kept: Arc<dyn Files> = Arc::<TestFiles>::clone(&files);
        let browser = Browser::start(source, sink, book, Some(kept), &tasks).await.expect("starts");
        let site = Site::start().await.expect("a free port");
        let redactor = Arc::default();
        Self { browser: Arc::new(browser), site, files, tasks, redactor, process }
    }

    pub(crate) fn is_chromium(&self) -> bool {
        self.process.is_chromium()
    }

    /// Starts a browser and shows a page of the fixture site.
    pub(crate) async fn at(path: &str) -> Self {
        let stage = Self::start().await;
        stage.open(path).await;
        stage
    }

    /// Starts Chromium itself and shows a page of the fixture site.
    pub(crate) async fn chromium_at(path: &str) -> Self {
        let stage = Self::start_chromium().await;
        stage.open(path).await;
        stage
    }

    /// Shows a page of the fixture site.
    pub(crate) async fn open(&self, path: &str) {
        self.act("navigate", json!({"url": self.site.url("a", path)})).await;
    }

    /// Shows a page given as HTML.
    pub(crate) async fn show(&self, html: &str) {
        let encoded: String = html.bytes().map(|byte| format!("%{byte:02x}")).collect();
        self.act("navigate", json!({"url": format!("data:text/html;charset=utf-8,{encoded}")})).await;
    }

    /// The context for an action.
    pub(crate) fn context(&self, tab: Option<TabId>, timeout: Duration) -> Context {
        Context {
            notices: tabwire_engine::Notices::default(),
            browser: Arc::clone(&self.browser),
            tab,
            deadline: Deadline::after(timeout),
            snapshot: false,
            settles: true,
            wants_text: false,
            is_filtered: true,
            has_timeout: true,
            capture: false,
            video_encoder: None,
            client_tabs: None,
            redactor: Arc::clone(&self.redactor),
            raw_cdp: Arc::new(DirectCdp(self.browser.connection().clone())),
            logins: Some(Arc::new(TestLogins { url: self.site.url("a", "/login") })),
            files: Arc::<TestFiles>::clone(&self.files),
        }
    }

    /// Runs an action and returns its result or failure.
    pub(crate) async fn try_act(&self, name: &str, params: Value) -> Result<Value, Failure> {
        self.try_act_in(None, name, params, TIMEOUT).await
    }

    /// Runs an action in a tab, with a timeout.
    pub(crate) async fn try_act_in(
        &self,
        tab: Option<TabId>,
        name: &str,
        params: Value,
        timeout: Duration,
    ) -> Result<Value, Failure> {
        let action = find_action(name).unwrap_or_else(|| panic!("there is an action {name}"));
        let context = self.context(tab, timeout);
        action.run(&context, params).await.map(|output| output.value)
    }

    /// Runs an action that must succeed.
    pub(crate) async fn act(&self, name: &str, params: Value) -> Value {
        let done = self.try_act(name, params.clone()).await;
        done.unwrap_or_else(|failure| panic!("{name} {params}: {failure:?}"))
    }

    /// Runs an action that must succeed, and returns its text.
    pub(crate) async fn text(&self, name: &str, params: Value) -> String {
        let action = find_action(name).unwrap_or_else(|| panic!("there is an action {name}"));
        let context = Context { wants_text: true, ..self.context(None, TIMEOUT) };
        let done = action.run(&context, params.clone()).await;
        done.unwrap_or_else(|failure| panic!("{name} {params}: {failure:?}")).text
    }

    /// Runs an action that must fail with this code, within a short time if it waits.
    pub(crate) async fn fails(&self, code: ErrorCode, name: &str, params: Value) -> Failure {
        let failure = self
            .try_act_in(None, name, params.clone(), SHORT)
            .await
            .expect_err(&format!("{name} {params} must fail"));
        assert_eq!(failure.code, code, "{name} {params}: {failure:?}");
        failure
    }

    /// Evaluates in the page's main world.
    pub(crate) async fn eval(&self, expression: &str) -> Value {
        self.act("eval", json!({"expression": expression})).await["value"].clone()
    }

    /// Waits until an expression in the page's main world is true.
    pub(crate) async fn until(&self, expression: &str) {
        let wait = format!(
            "new Promise((done) => {{ const look = () => ({expression}) ? done(true) : setTimeout(look, 5); look(); }})"
        );
        self.eval(&wait).await;
    }

    /// Another client's CDP session on a tab.
    pub(crate) async fn second_session(&self, tab: TabId) -> CdpSession {
        let tabs = self.browser.tabs(TIMEOUT).await.expect("listed");
        let target = tabs.into_iter().find(|info| info.tab == tab).expect("open").target;
        let browser = self.browser.connection().browser();
        let params = json!({"targetId": target, "flatten": true});
        let attached = browser.send("Target.attachToTarget", &params, TIMEOUT).await.expect("attached");
        let attached: Value = attached.to().expect("read");
        let id = CdpSessionId::new(attached["sessionId"].as_str().expect("an id"));
        self.browser.connection().session(&id)
    }

    /// The tab that a result names.
    pub(crate) fn tab(response: &Value) -> TabId {
        serde_json::from_value(response["tab"].clone()).expect("a tab id")
    }

    /// Runs an action at the wrong moments: while a dialog is open, and in a closed tab. `params` must be valid.
    pub(crate) async fn check_wrong_moments(&self, name: &str, params: Value) {
        self.open("/plain").await;
        let second = self.act("tab_new", json!({})).await;
        let tab = Self::tab(&second);
        // The alert opens while `eval` awaits a promise that never resolves.
        let opening = "setTimeout(() => alert('in the way'), 0); new Promise(() => {})";
        let waited = self.try_act_in(Some(tab), "eval", json!({"expression": opening}), TIMEOUT).await;
        assert_eq!(waited.expect_err("blocked").code, ErrorCode::DialogOpen);
        let blocked = self.try_act_in(Some(tab), name, params.clone(), TIMEOUT).await;
        let blocked = blocked.expect_err(&format!("{name} {params} must not wait for a dialog"));
        assert_eq!(blocked.code, ErrorCode::DialogOpen, "{name}: {blocked:?}");
        self.act("dialog", json!({"answer": "accept"})).await;
        self.act("tab_close", json!({"id": tab})).await;
        let gone = self.try_act_in(Some(tab), name, params.clone(), TIMEOUT).await;
        let gone = gone.expect_err(&format!("{name} {params} must not find a closed tab"));
        assert_eq!(gone.code, ErrorCode::TabNotFound, "{name}: {gone:?}");
    }
}
