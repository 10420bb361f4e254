//! Tabs are attached when they are needed, and what was asked for before is asked for then, in order.

use serde_json::{Value, json};

use crate::stage::{Stage, tab};

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
    stage.events();

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
            "send Page.addScriptToEvaluateOnNewDocument",
            "settle",
        ],
        "in order, and before the command that needed the page"
    );
    assert_eq!(
        stage.events(),
        [format!("Page.frameAttached {session}"), format!("Page.frameNavigated {session}")],
        "frames that the first answer had to leave out are told of before their worlds"
    );
    for _ in 0..5 {
        stage.does(json!({}));
    }
    stage.does(json!({"identifier": "real-9"}));
    stage.does(json!({}));
    stage.does(json!({"result": {"type": "number", "value": 1}}));
    assert_eq!(stage.answer(id).expect("an answer")["result"]["result"]["value"], 1);
    stage.send(
        Some(&session),
        "Page.removeScriptToEvaluateOnNewDocument",
        json!({"identifier": "tabwire-1"}),
    );
    let asked = stage.does(json!({}));
    assert_eq!(
        asked["params"]["params"]["identifier"], "real-9",
        "the name it was given stands for the browser's"
    );
}

/// A session on an untouched tab, set up as Playwright does it; gives the numbers of its two worlds.
fn set_up(stage: &mut Stage, session: &str) -> (i64, i64) {
    for method in ["Page.enable", "Page.getFrameTree", "Runtime.enable"] {
        stage.call(Some(session), method, json!({}));
    }
    let page = stage.event("Runtime.executionContextCreated").expect("the page's own world");
    let world = json!({"frameId": "T1", "grantUniveralAccess": true, "worldName": "utility"});
    stage.call(Some(session), "Page.createIsolatedWorld", world);
    let utility = stage.event("Runtime.executionContextCreated").expect("the world it made");
    assert_eq!(page["params"]["context"]["auxData"]["isDefault"], true);
    assert_eq!(utility["params"]["context"]["name"], "utility");
    let number = |event: &Value| event["params"]["context"]["id"].as_i64().expect("a number");
    (number(&page), number(&utility))
}

fn world(id: i64, name: &str) -> Value {
    let aux = json!({"isDefault": name.is_empty(), "frameId": "T1"});
    json!({"context": {"id": id, "name": name, "uniqueId": format!("u{id}"), "auxData": aux}})
}

#[test]
fn worlds_that_were_made_up_stand_for_the_browsers_own() {
    let mut stage = Stage::with_tabs(2);
    let root = stage.root();
    let session = stage.on_tab(&root, "T1");
    let (page, utility) = set_up(&mut stage, &session);
    assert_eq!(stage.asked(), Vec::<String>::new(), "nothing is attached to for that");
    stage.events();

    let first = stage.send(Some(&session), "Runtime.evaluate", json!({"contextId": utility}));
    let second = stage.send(Some(&session), "Runtime.evaluate", json!({"contextId": page}));
    assert_eq!(stage.asked(), ["attach"]);
    let below = json!({"frame": {"id": "F", "parentId": "T1", "url": "https://a.example/in"}});
    let tree = json!({"frameTree": {"frame": {"id": "T1"}, "childFrames": [below]}});
    stage.page_says(1, None, "Page.frameDetached", json!({"frameId": "F"}));
    stage.does(tree.clone());
    let told = ["Page.frameAttached", "Page.frameNavigated", "Page.frameDetached"];
    assert_eq!(stage.events(), told.map(|method| format!("{method} {session}")), "in the order it happened");
    let expected = ["send Page.enable", "send Runtime.enable", "send Page.createIsolatedWorld", "settle"];
    assert_eq!(stage.asked(), expected, "what names a world waits for it");
    stage.page_says(1, None, "Runtime.executionContextCreated", world(3, ""));
    assert_eq!(stage.asked().len(), 4, "the first command waits, and the second behind it");
    stage.page_says(1, None, "Runtime.executionContextCreated", world(4, "utility"));
    assert_eq!(stage.events(), Vec::<String>::new(), "it was told of both before");
    for _ in 0..3 {
        stage.does(json!({"executionContextId": 4}));
    }
    stage.does(tree);
    assert_eq!(stage.does(json!({}))["params"]["params"]["frameId"], "F", "its world is made below, too");
    assert_eq!(stage.does(json!({}))["command"], "settle", "and told of");
    assert_eq!(stage.does(json!({}))["params"]["params"]["contextId"], 4, "in the order they were asked");
    assert_eq!(stage.does(json!({}))["params"]["params"]["contextId"], 3);
    assert!(stage.answer(first).is_some() && stage.answer(second).is_some());
    stage.page_says(1, None, "Runtime.consoleAPICalled", json!({"executionContextId": 3}));
    let said = stage.event("Runtime.consoleAPICalled").expect("it hears of its page");
    assert_eq!(said["params"]["executionContextId"], page);
    stage.page_says(1, None, "Runtime.executionContextsCleared", json!({}));
    stage.page_says(1, None, "Runtime.executionContextCreated", world(5, ""));
    let told = stage.event("Runtime.executionContextCreated").expect("a new page has new worlds");
    assert_eq!(told["params"]["context"]["id"], 5);
    let gone = stage.call(Some(&session), "Runtime.evaluate", json!({"contextId": page}));
    assert!(gone["result"].is_null(), "{gone}");
    assert_eq!(stage.browser.stats().attached, 1, "the other tab is left alone");
}

#[test]
fn a_world_that_the_browser_does_not_have_is_said_to_be_gone() {
    let mut stage = Stage::with_tabs(1);
    let root = stage.root();
    let session = stage.on_tab(&root, "T1");
    let (page, _) = set_up(&mut stage, &session);
    let asked = stage.send(Some(&session), "Runtime.evaluate", json!({"contextId": page}));
    stage.does_all();
    let answer = stage.answer(asked).expect("not left waiting");
    assert_eq!(answer["error"]["message"], "Cannot find context with specified id");
}

/// A client that takes a frame up: says everything it has to, and last that it may run.
fn take_up(stage: &mut Stage, session: &str) {
    for (method, params) in [
        ("Page.enable", json!({})),
        ("Page.getFrameTree", json!({})),
        ("Target.setAutoAttach", auto_attach()),
        ("Runtime.runIfWaitingForDebugger", json!({})),
    ] {
        stage.send(Some(session), method, params);
    }
}

fn auto_attach() -> Value {
    json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true})
}

fn attached(real: &str, target: &str) -> Value {
    let info = json!({"targetId": target, "type": "iframe", "url": "https://b.example/"});
    json!({"sessionId": real, "targetInfo": info, "waitingForDebugger": false})
}

/// The cdp session that a client was given on a frame.
fn session_given(stage: &mut Stage) -> String {
    let event = stage.event("Target.attachedToTarget").expect("it is told of the frame");
    event["params"]["sessionId"].as_str().expect("a session").to_owned()
}

/// The extension answers all but the newest question whether everything is told; gives what it was asked to send, and
/// of which frame.
fn answer_below(stage: &mut Stage) -> Vec<String> {
    let mut sent = Vec::new();
    while stage.asked().first().is_some_and(|first| first != "settle") {
        let asked = stage.does(json!({}));
        let text = |name: &str| asked["params"][name].as_str().unwrap_or("-").to_owned();
        if asked["command"] == "send" {
            sent.push(format!("{} {}", text("session"), text("method")));
        }
    }
    sent
}

#[test]
fn frames_of_a_tab_that_is_being_attached_are_taken_up_before_the_work_begins() {
    let mut stage = Stage::with_tabs(1);
    let root = stage.root();
    let session = stage.on_tab(&root, "T1");
    for (method, params) in [("Page.enable", json!({})), ("Target.setAutoAttach", auto_attach())] {
        stage.call(Some(&session), method, params);
    }
    let work = stage.send(Some(&session), "DOM.getDocument", json!({}));
    stage.does(json!({"frameTree": {"frame": {"id": "T1"}}}));
    stage.events();
    stage.page_says(1, None, "Target.attachedToTarget", attached("R1", "F1"));
    let middle = session_given(&mut stage);
    for _ in 0..2 {
        stage.does(json!({}));
    }
    assert_eq!(stage.asked(), ["settle"]);
    // The client is slow: the tab is asked once more, and what it says to the frame goes to the frame.
    stage.does(json!({}));
    assert_eq!(stage.asked(), ["settle"]);
    take_up(&mut stage, &middle);
    stage.does(json!({}));
    let expected =
        ["Page.enable", "Page.getFrameTree", "Target.setAutoAttach", "Runtime.runIfWaitingForDebugger"];
    let to = |real: &str| expected.map(|method| format!("{real} {method}")).to_vec();
    assert_eq!(answer_below(&mut stage), to("R1"), "not to the page, which is what was open when they came");
    // What was answered is older than the news of a frame in it, and that is waited for too.
    stage.page_says(1, Some("R1"), "Target.attachedToTarget", attached("R2", "F2"));
    let inner = session_given(&mut stage);
    take_up(&mut stage, &inner);
    stage.does(json!({}));
    assert_eq!(answer_below(&mut stage), to("R2"));
    while stage.asked().first().is_some_and(|asked| asked.starts_with("settle")) {
        stage.does(json!({}));
    }
    assert_eq!(stage.asked(), ["send DOM.getDocument"]);
    stage.does(json!({}));
    assert!(stage.answer(work).is_some());
}

#[test]
fn a_client_that_never_takes_a_frame_up_holds_its_tab_for_a_while_only() {
    let mut stage = Stage::with_tabs(1);
    let root = stage.root();
    let session = stage.on_tab(&root, "T1");
    stage.call(Some(&session), "Target.setAutoAttach", auto_attach());
    let work = stage.send(Some(&session), "DOM.getDocument", json!({}));
    stage.does(json!({"frameTree": {"frame": {"id": "T1"}}}));
    stage.page_says(1, None, "Target.attachedToTarget", attached("R1", "F1"));
    stage.does_all();
    assert!(stage.answer(work).is_some());
}

#[test]
fn an_untouched_tab_tells_where_it_went() {
    let mut stage = Stage::with_tabs(1);
    let root = stage.root();
    let session = stage.on_tab(&root, "T1");
    stage.call(Some(&session), "Page.enable", json!({}));
    stage.call(Some(&session), "Page.getFrameTree", json!({}));
    stage.events();
    stage.call(Some(&session), "Page.setLifecycleEventsEnabled", json!({"enabled": true}));
    assert_eq!(stage.events().len(), 6, "the page is there as a whole");
    let mut there = tab(1, "https://b.example/");
    there.loaded = false;
    stage.tells("tab", serde_json::to_value(&there).expect("JSON"));
    let told = stage.event("Page.frameNavigated").expect("it went elsewhere");
    assert_eq!(told["params"]["frame"]["url"], "https://b.example/");
    assert_eq!(stage.events().iter().filter(|event| event.starts_with("Page.lifecycle")).count(), 2);
    there.loaded = true;
    stage.tells("tab", serde_json::to_value(&there).expect("JSON"));
    assert_eq!(stage.events().iter().filter(|event| event.starts_with("Page.lifecycle")).count(), 4);
    assert_eq!(stage.asked(), Vec::<String>::new());
}

#[test]
fn who_only_watches_goes_on_when_the_debugger_goes_off() {
    let mut stage = Stage::with_tabs(1);
    let (root, worker) = stage.working();
    let watcher = stage.second(&root);
    stage.send(Some(&watcher), "Page.enable", json!({}));
    stage.send(Some(&watcher), "Runtime.enable", json!({}));
    stage.does_all();
    stage.page_says(1, None, "Runtime.executionContextCreated", world(3, ""));
    stage.events();
    stage.call(Some(&root), "Target.detachFromTarget", json!({"sessionId": worker}));
    assert_eq!(stage.asked(), ["detach"]);
    stage.does_all();
    let expected =
        ["Runtime.executionContextsCleared", "Page.frameNavigated", "Runtime.executionContextCreated"];
    let told: Vec<String> =
        stage.events().into_iter().filter(|event| event.ends_with(watcher.as_str())).collect();
    assert_eq!(told, expected.map(|method| format!("{method} {watcher}")));
    stage.send(Some(&watcher), "Runtime.evaluate", json!({}));
    stage.does(json!({"frameTree": {}}));
    assert_eq!(
        stage.asked(),
        ["send Page.enable", "send Runtime.enable", "settle"],
        "what it had set up is set up again"
    );
    for _ in 0..3 {
        stage.does(json!({}));
    }
    assert_eq!(stage.asked(), ["send Runtime.evaluate"], "and then comes what it was for");
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
    assert_eq!(stage.asked(), ["send Page.enable", "settle"], "nothing kept was lost");
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
    assert_eq!(stage.browser.stats().attached, 1, "another uses it");
    stage.does_all();
    stage.call(Some(&root), "Target.detachFromTarget", json!({"sessionId": second}));
    assert_eq!(stage.asked(), ["detach"], "who only watches keeps no debugger on");
    assert_eq!(stage.browser.stats().attached, 0);
}
