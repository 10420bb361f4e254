//! Commands and sessions when the connection breaks, the user cancels, or a tab is closed.

use serde_json::json;

use tabwire_extension::BrowserStats;

use crate::stage::{Stage, present, tab};

#[test]
fn broken_connection_means_unknown_outcome_and_keeps_sessions() {
    let mut stage = Stage::with_tabs(2);
    let (root, session) = stage.working();
    let id = stage.send(Some(&session), "Runtime.evaluate", json!({}));
    stage.browser.extension_disconnected();
    stage.collect();
    assert_eq!(stage.response(id).expect("a response")["error"]["data"], "OUTCOME_UNKNOWN");
    let response = stage.call(Some(&session), "Runtime.evaluate", json!({}));
    assert_eq!(response["error"]["data"], "EXTENSION_DISCONNECTED", "reported at once, not after a timeout");
    let waiting = stage.on_tab(&root, "T2");
    let response = stage.call(Some(&waiting), "Runtime.evaluate", json!({}));
    assert_eq!(response["error"]["data"], "EXTENSION_DISCONNECTED");

    let tabs = || vec![tab(1, "https://a.example/"), tab(2, "https://a.example/")];
    stage.browser.extension_reconnected(&present(tabs(), &[1]));
    stage.collect();
    stage.events();
    let id = stage.send(Some(&session), "Runtime.evaluate", json!({}));
    let asked = stage.requests();
    assert_eq!(asked.last().map(String::as_str), Some("send Runtime.evaluate"), "{asked:?}");
    assert!(!asked.contains(&"attach".to_owned()), "debuggers stay attached when the worker stops");
    stage.respond_all();
    assert!(stage.response(id).is_some());
}

#[test]
fn lost_sessions_are_reported_as_detached() {
    let mut stage = Stage::with_tabs(2);
    let (root, session) = stage.working();
    stage.browser.extension_disconnected();
    stage.browser.extension_reconnected(&present(vec![tab(1, "https://a.example/")], &[]));
    stage.collect();
    assert_eq!(stage.events(), [format!("Target.detachedFromTarget {root}")]);
    let response = stage.call(Some(&session), "Runtime.evaluate", json!({}));
    assert_eq!(response["error"]["code"], -32001);
    assert_eq!(stage.browser.stats().tabs, 1);
}

#[test]
fn cancelled_debugging_bar_ends_sessions_without_reattaching() {
    let mut stage = Stage::with_tabs(1);
    let (root, session) = stage.working();
    stage.extension_event("detached", json!({"tab": 1, "reason": "canceled_by_user"}));
    assert_eq!(stage.events(), [format!("Target.detachedFromTarget {root}")]);
    stage.extension_event("tab_removed", json!({"tab": 1}));
    assert_eq!(stage.requests(), Vec::<String>::new());
    let response = stage.call(Some(&session), "Runtime.evaluate", json!({}));
    assert_eq!(response["error"]["code"], -32001);
    assert_eq!(
        stage.browser.stats(),
        BrowserStats { attaches: 1, ..BrowserStats::default() },
        "no state is left"
    );
}

#[test]
fn tab_closed_during_attach_fails_queued_commands() {
    let mut stage = Stage::with_tabs(1);
    let root = stage.root();
    let session = stage.on_tab(&root, "T1");
    let id = stage.send(Some(&session), "Runtime.evaluate", json!({}));
    stage.extension_event("tab_removed", json!({"tab": 1}));
    assert!(stage.response(id).expect("a response")["error"].is_object());
    stage.respond_error("TAB_NOT_FOUND", "This tab is gone.");
    assert_eq!(stage.browser.stats(), BrowserStats { attaches: 1, ..BrowserStats::default() });
}

#[test]
fn chrome_errors_keep_their_number_and_tabwire_errors_their_code() {
    let mut stage = Stage::with_tabs(1);
    let (_, session) = stage.working();
    let id = stage.send(Some(&session), "Page.navigate", json!({}));
    let asked = stage.requests().len();
    assert_eq!(asked, 1);
    stage.respond_error("CDP_ERROR", "Cannot navigate to invalid URL");
    let response = stage.response(id).expect("a response");
    assert_eq!((response["error"]["code"].as_i64(), response["error"].get("data")), (Some(-32000), None));
}

#[test]
fn f08_reattached_tab_keeps_its_setup() {
    let mut stage = Stage::with_tabs(1);
    let (_, session) = stage.working();
    stage.send(Some(&session), "Page.enable", json!({}));
    stage.send(Some(&session), "Runtime.enable", json!({}));
    stage.respond_all();
    stage.events();
    let tree = json!({"frame": {"id": "T1", "url": "https://a.example/"}});
    stage.extension_event("reattached", json!({"tab": 1, "frameTree": tree}));
    let expected =
        ["Runtime.executionContextsCleared", "Page.frameNavigated", "Runtime.executionContextCreated"];
    assert_eq!(
        stage.events(),
        expected.map(|method| format!("{method} {session}")),
        "its page is reported as new"
    );
    assert_eq!(stage.requests(), ["send Page.enable", "send Runtime.enable", "settle"]);
    let id = stage.send(Some(&session), "Runtime.evaluate", json!({}));
    assert_eq!(stage.requests().len(), 3, "it waits until the setup is complete");
    stage.respond_all();
    assert!(stage.response(id).expect("a response")["result"].is_object());
}

#[test]
fn unused_tab_is_detached_after_a_reattach() {
    let mut stage = Stage::with_tabs(1);
    stage.extension_event("reattached", json!({"tab": 1, "frameTree": {}}));
    assert_eq!(stage.requests(), ["detach"]);
}
