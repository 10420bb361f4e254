//! Tabs are attached when they are needed, and what was asked for before is asked for then, in order.

use serde_json::json;

use crate::stage::Stage;

#[test]
fn what_can_wait_attaches_nothing_and_is_asked_for_in_order() {
    let mut stage = Stage::with_tabs(1);
    let root = stage.root();
    let session = stage.on_tab(&root, "T1");
    stage.events();
    let world = json!({"frameId": "T1", "grantUniveralAccess": true, "worldName": "utility"});
    for (method, params) in [
        ("Page.enable", json!({})),
        ("Page.setLifecycleEventsEnabled", json!({"enabled": true})),
        ("Network.enable", json!({})),
        ("Page.createIsolatedWorld", world),
        (
            "Target.setAutoAttach",
            json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true}),
        ),
        ("Runtime.runIfWaitingForDebugger", json!({})),
    ] {
        let answer = stage.call(Some(&session), method, params);
        assert!(answer["result"].is_object(), "{method}: {answer}");
    }
    let tree = stage.call(Some(&session), "Page.getFrameTree", json!({}));
    assert_eq!(tree["result"]["frameTree"]["frame"]["id"], "T1", "the main frame's id is the target's");
    let script = stage.call(Some(&session), "Page.addScriptToEvaluateOnNewDocument", json!({"source": "1"}));
    assert_eq!(script["result"]["identifier"], "tabwire-1");
    assert_eq!(stage.asked(), Vec::<String>::new());

    let id = stage.send(Some(&session), "Runtime.evaluate", json!({"expression": "1"}));
    assert_eq!(stage.asked(), ["attach"]);
    let below = json!({"frame": {"id": "F", "parentId": "T1", "url": "https://b.example/"}});
    stage.does(json!({"frameTree": {"frame": {"id": "T1"}, "childFrames": [below]}}));
    assert_eq!(
        stage.asked(),
        [
            "send Page.enable",
            "send Page.setLifecycleEventsEnabled",
            "send Network.enable",
            "send Page.createIsolatedWorld",
            "send Target.setAutoAttach",
            "send Runtime.runIfWaitingForDebugger",
            "send Page.addScriptToEvaluateOnNewDocument",
            "send Runtime.evaluate",
        ],
        "in order, and before the command that needed the page"
    );
    assert_eq!(
        stage.events(),
        [format!("Page.frameAttached {session}"), format!("Page.frameNavigated {session}")],
        "frames that the first answer had to leave out are told of before their worlds"
    );
    for _ in 0..6 {
        stage.does(json!({}));
    }
    stage.does(json!({"identifier": "real-9"}));
    stage.does(json!({"result": {"type": "number", "value": 1}}));
    assert_eq!(stage.answer(id).expect("an answer")["result"]["result"]["value"], 1);
    stage.send(
        Some(&session),
        "Page.removeScriptToEvaluateOnNewDocument",
        json!({"identifier": "tabwire-1"}),
    );
    let asked = stage.does(json!({}));
    assert_eq!(
        asked["with"]["params"]["identifier"], "real-9",
        "the name it was given stands for the browser's"
    );
}

#[test]
fn who_waits_for_worlds_gets_them_without_asking_for_more() {
    let mut stage = Stage::with_tabs(2);
    let root = stage.root();
    let session = stage.on_tab(&root, "T1");
    stage.call(Some(&session), "Page.enable", json!({}));
    stage.send(Some(&session), "Runtime.enable", json!({}));
    assert_eq!(stage.asked(), ["attach"]);
    stage.does(json!({"frameTree": {}}));
    assert_eq!(stage.asked(), ["send Page.enable", "send Runtime.enable"]);
    assert_eq!(stage.browser.holdings().attached, 1, "the other tab is left alone");
}

#[test]
fn a_picture_is_taken_within_a_screencast_that_nobody_sees() {
    let mut stage = Stage::with_tabs(1);
    let (root, first) = stage.working();
    let second = stage.second(&root);
    stage.send(Some(&first), "Page.enable", json!({}));
    stage.does_all();
    stage.events();
    let id = stage.send(Some(&first), "Page.captureScreenshot", json!({}));
    assert_eq!(stage.asked(), ["send Page.startScreencast", "send Page.captureScreenshot"]);
    stage.does(json!({}));
    stage.page_says(1, None, "Page.screencastFrame", json!({}));
    assert_eq!(stage.events(), Vec::<String>::new());
    stage.does(json!({"data": ""}));
    assert!(stage.answer(id).is_some());
    assert_eq!(stage.asked(), ["send Page.stopScreencast"]);
    stage.does_all();

    for session in [&first, &second] {
        stage.send(Some(session), "Page.startScreencast", json!({}));
    }
    stage.does_all();
    stage.send(Some(&first), "Page.captureScreenshot", json!({}));
    assert_eq!(stage.asked(), ["send Page.captureScreenshot"], "one runs already");
    stage.does_all();
    stage.call(Some(&first), "Page.stopScreencast", json!({}));
    assert_eq!(stage.asked(), Vec::<String>::new(), "the other's goes on");
    stage.send(Some(&second), "Page.stopScreencast", json!({}));
    assert_eq!(stage.asked(), ["send Page.stopScreencast"]);
}

#[test]
fn commands_that_come_while_a_tab_is_being_attached_keep_their_order() {
    let mut stage = Stage::with_tabs(1);
    let root = stage.root();
    let session = stage.on_tab(&root, "T1");
    stage.send(Some(&session), "DOM.getDocument", json!({}));
    let enabled = stage.send(Some(&session), "Page.enable", json!({}));
    stage.send(Some(&session), "Page.reload", json!({}));
    assert_eq!(stage.asked(), ["attach"], "once, whoever asks");
    assert_eq!(stage.answer(enabled), None, "from now on the page itself answers");
    stage.does(json!({"frameTree": {}}));
    assert_eq!(stage.asked(), ["send DOM.getDocument", "send Page.enable", "send Page.reload"]);
}

#[test]
fn a_tab_that_cannot_be_attached_says_why_and_can_be_tried_again() {
    let mut stage = Stage::with_tabs(1);
    let root = stage.root();
    let session = stage.on_tab(&root, "T1");
    stage.call(Some(&session), "Page.enable", json!({}));
    let id = stage.send(Some(&session), "Runtime.evaluate", json!({}));
    stage.refuses("DEVTOOLS_OPEN", "Another debugger is attached to this tab.");
    let answer = stage.answer(id).expect("an answer");
    assert_eq!(answer["error"]["data"], "DEVTOOLS_OPEN");
    assert_eq!(answer["sessionId"], session.as_str());
    stage.send(Some(&session), "Runtime.evaluate", json!({}));
    stage.does(json!({"frameTree": {}}));
    assert_eq!(stage.asked(), ["send Page.enable", "send Runtime.evaluate"], "nothing kept was lost");
}

#[test]
fn the_debugger_goes_when_nobody_uses_the_tab_any_more() {
    let mut stage = Stage::with_tabs(1);
    let house = stage.root();
    let auto = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
    stage.call(Some(&house), "Target.setAutoAttach", auto);
    let (root, first) = stage.working();
    let second = stage.second(&root);
    stage.send(Some(&second), "Runtime.evaluate", json!({}));
    stage.does_all();
    stage.call(Some(&root), "Target.detachFromTarget", json!({"sessionId": first}));
    assert_eq!(stage.browser.holdings().attached, 1, "another uses it");
    stage.does_all();
    stage.call(Some(&root), "Target.detachFromTarget", json!({"sessionId": second}));
    assert_eq!(stage.asked(), ["detach"], "who only watches keeps no debugger on");
    assert_eq!(stage.browser.holdings().attached, 0);
}
