//! Table: valid parameters of every action on the page `/moment`.

use serde_json::{Value, json};
use tabwire_api::TabId;
use tabwire_engine::{ACTIONS, Definition, SCRIPT_ACTIONS};

use crate::actions::support::stage::Stage;

/// One action with valid parameters.
#[derive(Clone, Debug)]
pub(crate) struct Fit {
    pub(crate) name: &'static str,
    pub(crate) params: Value,
    /// Parameters of a second run that undoes the first.
    pub(crate) undone_by: Option<Value>,
    /// Whether it navigates itself, and so may replace another navigation.
    pub(crate) travels: bool,
}

impl Fit {
    fn new(name: &'static str, params: Value) -> Self {
        Self { name, params, undone_by: None, travels: false }
    }

    fn undone_by(self, params: Value) -> Self {
        Self { undone_by: Some(params), ..self }
    }

    fn travels(self) -> Self {
        Self { travels: true, ..self }
    }
}

/// Every action of the registry, for a tab that shows `/moment`.
pub(crate) fn fit_actions(stage: &Stage, tab: TabId) -> Vec<Fit> {
    let fits = [
        acting(stage),
        moving(stage, tab),
        reading(stage),
        captures(stage),
        network(),
        state(stage),
        script_calls(stage),
    ]
    .concat();
    for action in walked_actions() {
        let times = fits.iter().filter(|fit| fit.name == action.name).count();
        assert_eq!(times, 1, "the action {} needs one row in valid_parameters.rs", action.name);
    }
    assert_eq!(fits.len(), walked_actions().count(), "a row for an action that does not exist");
    fits
}

/// Actions of scripts that name something which only an event or another call reports. The e2e tests of scripts use them.
const OF_EVENTS: &[&str] = &[
    "request_facts",
    "route_decision",
    "frame_goto",
    "binding_result",
    "script_download",
    "set_files",
    "context_page",
    "context_close",
];

/// The actions that these tests walk through.
pub(crate) fn walked_actions() -> impl Iterator<Item = &'static Definition> {
    ACTIONS.iter().chain(SCRIPT_ACTIONS).filter(|action| !OF_EVENTS.contains(&action.name))
}

/// Actions that only scripts call.
fn script_calls(stage: &Stage) -> Vec<Fit> {
    let given = stage.files.put("given.txt", b"content");
    vec![
        Fit::new("file_read", json!({"path": given})),
        Fit::new("file_write", json!({"path": stage.files.at("written.txt"), "base64": "eA=="})),
        Fit::new("query", json!({"target": "#name", "facts": ["visible"]})),
        Fit::new("aria_tree", json!({"target": "#name"})),
        Fit::new("script_screenshot", json!({"clip": [0, 0, 10, 10]})),
        Fit::new("expect", json!({"target": "#name", "matcher": "to_be_visible"})),
        Fit::new("evaluate", json!({"expression": "1 + 1"})),
        Fit::new("input", json!({"events": "[{\"type\": \"move\", \"x\": 1, \"y\": 1}]"})),
        Fit::new("ready", json!({"target": "#name", "purpose": "click"})),
        Fit::new("pick_options", json!({"target": "#colour", "options": "[]"})),
        Fit::new("route_handlers", json!({"patterns": []})),
        Fit::new("network_idle", json!({})),
        Fit::new("kept_console", json!({})),
        Fit::new("frame_element", json!({"target": "#name"})),
        Fit::new("expose_binding", json!({"name": "ofTheTest"})),
        Fit::new("http_fetch", json!({"url": stage.site.url("a", "/plain")})),
        Fit::new("cdp_command", json!({})),
        Fit::new("context_new", json!({})),
    ]
}

fn acting(stage: &Stage) -> Vec<Fit> {
    let file = stage.files.put("moment.txt", b"content");
    vec![
        Fit::new("click", json!({"target": "#button"})),
        Fit::new("dblclick", json!({"target": "#button"})),
        Fit::new("hover", json!({"target": "#button"})),
        Fit::new("tap", json!({"target": "#button"})),
        Fit::new("drag", json!({"target": "#button", "by": [30, 10]})),
        Fit::new("fill", json!({"target": "#name", "value": "Anna"})),
        Fit::new("fill_form", json!({"form": "{\"#name\": \"Anna\", \"#off\": true}"})),
        Fit::new("type", json!({"target": "#name", "text": "Anna"})),
        Fit::new("press", json!({"target": "#name", "keys": ["a", "b"]})),
        Fit::new("select", json!({"target": "#colour", "options": ["green"]})),
        Fit::new("select_text", json!({"target": "#title"})),
        Fit::new("check", json!({"target": "#off"})),
        Fit::new("uncheck", json!({"target": "#on"})),
        Fit::new("focus", json!({"target": "#name"})),
        Fit::new("scroll", json!({"target": "#report"})),
        Fit::new("mouse", json!({"what": "move", "at": [5, 5]})),
        Fit::new("clipboard", json!({"what": "paste", "target": "#name", "text": "Anna"})),
        Fit::new("dialog", json!({"answer": "show"})),
        Fit::new("upload", json!({"target": "#file", "files": [file]})),
        // A download link starts as a navigation of the page.
        Fit::new("download_file", json!({"target": "#report"})).travels(),
        Fit::new("downloads", json!({})),
    ]
}

fn moving(stage: &Stage, tab: TabId) -> Vec<Fit> {
    vec![
        Fit::new("navigate", json!({"url": stage.site.url("a", "/plain")})).travels(),
        Fit::new("back", json!({})).travels(),
        Fit::new("forward", json!({})).travels(),
        Fit::new("reload", json!({})).travels(),
        Fit::new("wait_for", json!({"target": "#title"})),
        Fit::new("tabs_list", json!({})),
        Fit::new("tab_new", json!({})),
        Fit::new("tab_select", json!({"id": tab})),
        Fit::new("frame", json!({"frame": "main"})),
        Fit::new("tab_close", json!({"id": tab})).travels(),
    ]
}

fn reading(stage: &Stage) -> Vec<Fit> {
    vec![
        Fit::new("snapshot", json!({})),
        Fit::new("find", json!({"text": "moment"})),
        Fit::new("get_text", json!({"target": "#link"})),
        Fit::new("get_html", json!({"target": "#link"})),
        Fit::new("read_as_markdown", json!({})),
        Fit::new("extract_links", json!({})),
        Fit::new("screenshot", json!({"annotate": true})),
        Fit::new("pdf", json!({})),
        Fit::new("get", json!({"what": "value", "target": "#name"})),
        Fit::new("inspect", json!({"point": [20, 40]})),
        Fit::new("console", json!({})),
        Fit::new("errors", json!({})),
        Fit::new("eval", json!({"expression": "new Promise((done) => setTimeout(done, 20))"})),
        Fit::new("cdp", json!({"method": "Page.getLayoutMetrics"})),
        Fit::new("diff", json!({"what": "snapshot", "save": stage.files.at("baseline.txt")})),
    ]
}

fn captures(stage: &Stage) -> Vec<Fit> {
    vec![
        Fit::new("vitals", json!({})),
        Fit::new("trace", json!({"verb": "start"})).undone_by(json!({"verb": "stop"})),
        Fit::new("capture", json!({"verb": "on", "directory": stage.files.at("evidence")}))
            .undone_by(json!({"verb": "off"})),
        Fit::new("record", json!({"verb": "start", "format": "frames"})).undone_by(json!({"verb": "stop"})),
    ]
}

fn network() -> Vec<Fit> {
    vec![
        Fit::new("requests", json!({"all": true})),
        Fit::new("request", json!({"number": 1})),
        Fit::new("route", json!({"url": "/never", "abort": "failed"})).undone_by(json!({})),
        Fit::new("unroute", json!({"all": true})),
        Fit::new("har", json!({"action": "start"})).undone_by(json!({"action": "stop"})),
        Fit::new("offline", json!({"state": "off"})),
        Fit::new("throttle", json!({"latency": 1.0})).undone_by(json!({"preset": "off"})),
        Fit::new("headers", json!({"headers": ["X-Moment: 1"]})).undone_by(json!({"clear": true})),
        Fit::new("http_auth", json!({"user": "alice", "password": "secret"}))
            .undone_by(json!({"clear": true})),
        Fit::new("login", json!({"name": "shop"})).travels(),
    ]
}

fn state(stage: &Stage) -> Vec<Fit> {
    vec![
        Fit::new("cookies", json!({"verb": "set", "name": "moment", "value": "1"})),
        Fit::new("storage", json!({"area": "local", "verb": "set", "key": "moment", "value": "1"})),
        Fit::new("state", json!({"verb": "save", "path": stage.files.at("state.json")})),
        Fit::new("emulate", json!({"color_scheme": "dark"})).undone_by(json!({"reset": true})),
        Fit::new("init_script", json!({"verb": "add", "script": "window.moment = 1"}))
            .undone_by(json!({"verb": "remove", "all": true})),
    ]
}
