//! What becomes of commands and sessions when the line breaks, the user cancels, or a tab goes.

use serde_json::json;

use tabwire_extension::BrowserStats;

use crate::stage::{Stage, present, tab};

#[test]
fn a_broken_line_leaves_outcomes_unknown_and_sessions_in_place() {
    let mut stage = Stage::with_tabs(2);
    let (root, session) = stage.working();
    let id = stage.send(Some(&session), "Runtime.evaluate", json!({}));
    stage.browser.extension_disconnected();
    stage.collect();
    assert_eq!(stage.answer(id).expect("an answer")["error"]["data"], "OUTCOME_UNKNOWN");
    let answer = stage.call(Some(&session), "Runtime.evaluate", json!({}));
    assert_eq!(answer["error"]["data"], "EXTENSION_DISCONNECTED", "said at once, not after a timeout");
    let waiting = stage.on_tab(&root, "T2");
    let answer = stage.call(Some(&waiting), "Runtime.evaluate", json!({}));
    assert_eq!(answer["error"]["data"], "EXTENSION_DISCONNECTED");

    let tabs = || vec![tab(1, "https://a.example/"), tab(2, "https://a.example/")];
    stage.browser.extension_reconnected(&present(tabs(), &[1]));
    stage.collect();
    stage.events();
    let id = stage.send(Some(&session), "Runtime.evaluate", json!({}));
    let asked = stage.asked();
    assert_eq!(asked.last().map(String::as_str), Some("send Runtime.evaluate"), "{asked:?}");
    assert!(!asked.contains(&"attach".to_owned()), "attachments outlive the worker");
    stage.does_all();
    assert!(stage.answer(id).is_some());
}

#[test]
fn what_did_not_survive_is_told_as_ended() {
    let mut stage = Stage::with_tabs(2);
    let (root, session) = stage.working();
    stage.browser.extension_disconnected();
    stage.browser.extension_reconnected(&present(vec![tab(1, "https://a.example/")], &[]));
    stage.collect();
    assert_eq!(stage.events(), [format!("Target.detachedFromTarget {root}")]);
    let answer = stage.call(Some(&session), "Runtime.evaluate", json!({}));
    assert_eq!(answer["error"]["code"], -32001);
    assert_eq!(stage.browser.stats().tabs, 1);
}

#[test]
fn a_cancelled_bar_ends_the_sessions_and_asks_for_nothing_again() {
    let mut stage = Stage::with_tabs(1);
    let (root, session) = stage.working();
    stage.tells("detached", json!({"tab": 1, "reason": "canceled_by_user"}));
    assert_eq!(stage.events(), [format!("Target.detachedFromTarget {root}")]);
    stage.tells("tab_removed", json!({"tab": 1}));
    assert_eq!(stage.asked(), Vec::<String>::new());
    let answer = stage.call(Some(&session), "Runtime.evaluate", json!({}));
    assert_eq!(answer["error"]["code"], -32001);
    assert_eq!(
        stage.browser.stats(),
        BrowserStats { attaches: 1, ..BrowserStats::default() },
        "nothing is left of it"
    );
}

#[test]
fn a_tab_that_closes_while_it_is_being_attached_answers_who_waits() {
    let mut stage = Stage::with_tabs(1);
    let root = stage.root();
    let session = stage.on_tab(&root, "T1");
    let id = stage.send(Some(&session), "Runtime.evaluate", json!({}));
    stage.tells("tab_removed", json!({"tab": 1}));
    assert!(stage.answer(id).expect("an answer")["error"].is_object());
    stage.refuses("TAB_NOT_FOUND", "This tab is gone.");
    assert_eq!(stage.browser.stats(), BrowserStats { attaches: 1, ..BrowserStats::default() });
}

#[test]
fn errors_of_the_browser_keep_their_number_and_ours_their_code() {
    let mut stage = Stage::with_tabs(1);
    let (_, session) = stage.working();
    let id = stage.send(Some(&session), "Page.navigate", json!({}));
    let asked = stage.asked().len();
    assert_eq!(asked, 1);
    stage.refuses("CDP_ERROR", "Cannot navigate to invalid URL");
    let answer = stage.answer(id).expect("an answer");
    assert_eq!((answer["error"]["code"].as_i64(), answer["error"].get("data")), (Some(-32000), None));
}

#[test]
fn f08_a_tab_that_was_attached_again_goes_on_with_what_was_set_up() {
    let mut stage = Stage::with_tabs(1);
    let (_, session) = stage.working();
    stage.send(Some(&session), "Page.enable", json!({}));
    stage.send(Some(&session), "Runtime.enable", json!({}));
    stage.does_all();
    stage.events();
    let tree = json!({"frame": {"id": "T1", "url": "https://a.example/"}});
    stage.tells("reattached", json!({"tab": 1, "frameTree": tree}));
    let told = ["Runtime.executionContextsCleared", "Page.frameNavigated", "Runtime.executionContextCreated"];
    assert_eq!(stage.events(), told.map(|method| format!("{method} {session}")), "its page began anew");
    assert_eq!(stage.asked(), ["send Page.enable", "send Runtime.enable", "settle"]);
    let id = stage.send(Some(&session), "Runtime.evaluate", json!({}));
    assert_eq!(stage.asked().len(), 3, "it waits until all is set up");
    stage.does_all();
    assert!(stage.answer(id).expect("an answer")["result"].is_object());
}

#[test]
fn a_tab_that_nobody_uses_is_let_go_when_it_was_attached_again() {
    let mut stage = Stage::with_tabs(1);
    stage.tells("reattached", json!({"tab": 1, "frameTree": {}}));
    assert_eq!(stage.asked(), ["detach"]);
}
