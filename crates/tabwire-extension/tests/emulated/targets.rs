//! What the emulated browser says of itself and its tabs.

use serde_json::json;

use crate::stage::{Stage, present, tab};

#[test]
fn it_says_which_browser_it_is_and_lists_its_tabs() {
    let mut stage = Stage::with_tabs(2);
    let root = stage.root();
    let version = stage.call(Some(&root), "Browser.getVersion", json!({}));
    assert_eq!(version["result"]["product"], "Chrome/156.0.0.0");
    assert_eq!(version["sessionId"], root.as_str(), "answers echo the session they were asked on");
    let targets = stage.call(Some(&root), "Target.getTargets", json!({}));
    let infos = targets["result"]["targetInfos"].as_array().expect("a list");
    assert_eq!(infos.len(), 2);
    for field in ["targetId", "type", "title", "url", "attached", "canAccessOpener", "browserContextId"] {
        assert!(infos[0].get(field).is_some(), "stock clients read {field}");
    }
    assert_eq!(stage.asked(), Vec::<String>::new(), "nothing was attached for it");
}

#[test]
fn discovery_and_auto_attach_cost_no_attachment() {
    let mut stage = Stage::with_tabs(60);
    let house = stage.root();
    stage.events();
    stage.call(Some(&house), "Target.setDiscoverTargets", json!({"discover": true}));
    let auto = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
    stage.call(Some(&house), "Target.setAutoAttach", auto);
    let events = stage.events();
    assert_eq!(events.len(), 120);
    assert_eq!(events.iter().filter(|event| event.starts_with("Target.targetCreated")).count(), 60);
    assert_eq!(stage.asked(), Vec::<String>::new());
    assert_eq!(stage.browser.stats().attached, 0);
}

#[test]
fn tabs_come_change_and_go() {
    let mut stage = Stage::with_tabs(1);
    let house = stage.root();
    stage.call(Some(&house), "Target.setDiscoverTargets", json!({"discover": true}));
    stage.events();
    let mut popup = tab(2, "https://b.example/");
    popup.opener = Some(tab(1, "").tab);
    stage.tells("tab", json!(popup));
    let created = stage.event("Target.targetCreated").expect("told");
    assert_eq!(created["params"]["targetInfo"]["openerId"], "T1");
    popup.title = "other".to_owned();
    stage.tells("tab", json!(popup));
    assert_eq!(stage.events(), [format!("Target.targetInfoChanged {house}")]);
    stage.tells("tab", json!(popup));
    assert_eq!(stage.events(), Vec::<String>::new(), "nothing changed");
    let session = stage.on_tab(&house, "T2");
    stage.events();
    popup.restricted = true;
    stage.tells("tab", json!(popup));
    assert_eq!(
        stage.events(),
        [format!("Target.detachedFromTarget {house}"), format!("Target.targetDestroyed {house}")],
        "a page that extensions may not enter is none of ours"
    );
    let answer = stage.call(Some(&session), "Runtime.evaluate", json!({}));
    assert_eq!(answer["error"]["code"], -32001);
}

#[test]
fn a_new_tab_is_attached_before_it_goes_anywhere() {
    let mut stage = Stage::with_tabs(0);
    let root = stage.root();
    let id = stage.send(Some(&root), "Target.createTarget", json!({"url": "https://a.example/"}));
    assert_eq!(stage.asked(), ["open"]);
    let mut opened = tab(5, "about:blank");
    opened.agent = true;
    stage.does(json!(opened));
    assert_eq!(stage.asked(), ["attach"]);
    stage.does(json!({"frameTree": {"frame": {"id": "T5"}}}));
    assert_eq!(stage.asked(), ["send Page.navigate"]);
    assert_eq!(stage.answer(id), None, "the client is told when the page is on its way");
    stage.does(json!({"frameId": "T5"}));
    assert_eq!(stage.answer(id).expect("an answer")["result"]["targetId"], "T5");
    let id = stage.send(Some(&root), "Target.createTarget", json!({"url": "about:blank"}));
    stage.does(json!(tab(6, "about:blank")));
    assert_eq!(stage.answer(id).expect("an answer")["result"]["targetId"], "T6");
    assert_eq!(stage.asked(), Vec::<String>::new(), "an empty tab needs no debugger");
}

#[test]
fn what_is_not_there_is_refused_in_words_that_clients_know() {
    let mut stage = Stage::with_tabs(1);
    let root = stage.root();
    for (method, params, code) in [
        ("Target.attachToTarget", json!({"targetId": "nobody", "flatten": true}), -32602),
        ("Target.attachToTarget", json!({"targetId": "T1"}), -32602),
        ("Target.closeTarget", json!({"targetId": "nobody"}), -32602),
        ("Target.getTargetInfo", json!({"targetId": "nobody"}), -32602),
        ("Target.detachFromTarget", json!({"sessionId": "nobody"}), -32602),
        ("Target.createTarget", json!({"url": "", "browserContextId": "other"}), -32602),
        ("Target.createBrowserContext", json!({}), -32000),
        ("SystemInfo.getInfo", json!({}), -32601),
        ("Browser.grantPermissions", json!({}), -32601),
    ] {
        let answer = stage.call(Some(&root), method, params);
        assert_eq!(answer["error"]["code"], code, "{method}: {answer}");
    }
    let answer = stage.call(Some("nobody"), "Page.enable", json!({}));
    assert_eq!(answer["error"]["code"], -32001);
    stage.browser.from_hub(b"no frame");
    stage.browser.from_hub(b"{\"id\":1}");
    for odd in
        ["", "{}", "[]", "{\"id\":77,\"result\":{}}", "{\"event\":\"tab\",\"data\":7}", "{\"event\":\"cdp\"}"]
    {
        stage.browser.from_extension(odd.as_bytes());
    }
}

#[test]
fn closing_is_asked_of_the_extension_which_knows_whose_a_tab_is() {
    let mut stage = Stage::with_tabs(1);
    let root = stage.root();
    let id = stage.send(Some(&root), "Target.closeTarget", json!({"targetId": "T1"}));
    stage.refuses("POLICY_DENIED", "This tab is the user's own.");
    let answer = stage.answer(id).expect("an answer");
    assert_eq!(answer["error"]["data"], "POLICY_DENIED");
    assert_eq!(answer["error"]["message"], "This tab is the user's own.");
    let id = stage.send(Some(&root), "Target.closeTarget", json!({"targetId": "T1"}));
    stage.does(json!({}));
    assert_eq!(stage.answer(id).expect("an answer")["result"]["success"], true);
}

#[test]
fn cookies_are_read_through_a_tab_and_need_one() {
    let mut stage = Stage::with_tabs(0);
    let root = stage.root();
    let answer = stage.call(Some(&root), "Storage.getCookies", json!({}));
    assert_eq!(answer["error"]["data"], "TAB_NOT_FOUND");
    stage.tells("tab", json!(tab(1, "https://a.example/")));
    let id = stage.send(Some(&root), "Storage.getCookies", json!({"browserContextId": "x"}));
    stage.does(json!({"frameTree": {}}));
    let asked = stage.does(json!({"cookies": []}));
    assert_eq!(asked["params"]["params"], json!({}), "a tab knows no contexts");
    assert_eq!(stage.answer(id).expect("an answer")["result"]["cookies"], json!([]));
}

#[test]
fn what_changes_the_whole_profile_is_never_passed_on() {
    let mut stage = Stage::with_tabs(1);
    let (_, session) = stage.working();
    for method in ["Network.clearBrowserCookies", "Network.clearBrowserCache", "Storage.clearCookies"] {
        let answer = stage.call(Some(&session), method, json!({}));
        assert_eq!(answer["error"]["data"], "POLICY_DENIED", "{method}");
    }
    assert_eq!(stage.asked(), Vec::<String>::new());
}

#[test]
fn attachments_of_an_earlier_daemon_are_let_go() {
    let stage = Stage::with(&present(vec![tab(1, "https://a.example/")], &[1, 7]));
    assert_eq!(stage.asked(), ["detach", "detach"]);
}

#[test]
fn a_tab_has_a_target_of_its_own_with_the_page_in_it() {
    let mut stage = Stage::with_tabs(1);
    let root = stage.root();
    stage.call(Some(&root), "Target.setDiscoverTargets", json!({"discover": true, "filter": [{}]}));
    let outer = stage.event("Target.targetCreated").map(|event| event["params"]["targetInfo"].clone());
    let outer =
        [outer, stage.event("Target.targetCreated").map(|event| event["params"]["targetInfo"].clone())];
    let outer =
        outer.into_iter().flatten().find(|info| info["type"] == "tab").expect("a tab beside its page");
    let session = stage.on_tab(&root, outer["targetId"].as_str().expect("an id"));
    stage.events();
    let auto = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
    stage.call(Some(&session), "Target.setAutoAttach", auto.clone());
    stage.call(Some(&session), "Target.setAutoAttach", auto);
    let page = stage.event("Target.attachedToTarget").expect("the page in it");
    assert_eq!(page["sessionId"], session.as_str());
    assert_eq!(page["params"]["targetInfo"]["targetId"], "T1");
    assert!(stage.event("Target.attachedToTarget").is_none(), "once");
    assert!(stage.call(Some(&session), "Page.enable", json!({}))["error"].is_object(), "a tab is no page");
    stage.tells("tab_removed", json!({"tab": 1}));
    assert_eq!(
        stage.events(),
        [
            format!("Target.detachedFromTarget {session}"),
            format!("Target.detachedFromTarget {root}"),
            format!("Target.targetDestroyed {root}"),
            format!("Target.targetDestroyed {root}"),
        ]
    );
    assert_eq!(stage.asked(), Vec::<String>::new());
}

#[test]
fn downloads_of_pages_are_told_by_the_browser_with_their_files() {
    let mut stage = Stage::with_tabs(1);
    let (root, _) = stage.working();
    stage.call(
        Some(&root),
        "Browser.setDownloadBehavior",
        json!({"behavior": "default", "eventsEnabled": true}),
    );
    let begun = json!({"frameId": "T1", "guid": "g", "url": "https://a.example/f", "suggestedFilename": "f"});
    stage.page_says(1, None, "Page.downloadWillBegin", begun);
    stage.page_says(1, None, "Page.downloadProgress", json!({"guid": "g", "state": "inProgress"}));
    assert_eq!(
        stage.events(),
        [format!("Browser.downloadWillBegin {root}"), format!("Browser.downloadProgress {root}")]
    );
    stage.page_says(1, None, "Page.downloadProgress", json!({"guid": "g", "state": "completed"}));
    assert_eq!(stage.events(), Vec::<String>::new(), "not before its file is known");
    assert_eq!(stage.does(json!({"file": "/downloads/f"}))["command"], "download");
    let done = stage.event("Browser.downloadProgress").expect("it is done");
    assert_eq!(done["params"]["filePath"], "/downloads/f");
}

#[test]
fn a_download_under_way_can_be_cancelled_and_no_other() {
    let mut stage = Stage::with_tabs(1);
    let (root, _) = stage.working();
    let begun = json!({"frameId": "T1", "guid": "g", "url": "https://a.example/f", "suggestedFilename": "f"});
    stage.page_says(1, None, "Page.downloadWillBegin", begun);
    let refused = stage.call(Some(&root), "Browser.cancelDownload", json!({"guid": "another"}));
    assert_eq!(refused["error"]["code"], -32602);
    let id = stage.send(Some(&root), "Browser.cancelDownload", json!({"guid": "g"}));
    let asked = stage.does(json!({}));
    assert_eq!(
        (&asked["command"], &asked["params"]["url"]),
        (&json!("cancel_download"), &json!("https://a.example/f"))
    );
    assert!(stage.answer(id).expect("an answer")["result"].is_object());
}

#[test]
fn nothing_is_opened_until_the_extension_says_that_it_goes_on_and_which_tabs_there_are() {
    let mut stage = Stage::with_tabs(1);
    let root = stage.root();
    let why = "The user pressed Cancel.";
    stage.tells("state", json!({"run": "run", "paused": true, "pause": why, "tabs": [], "attached": []}));
    let refused = stage.call(Some(&root), "Target.createTarget", json!({"url": "about:blank"}));
    assert_eq!(
        (&refused["error"]["data"], &refused["error"]["message"]),
        (&json!("POLICY_DENIED"), &json!(why))
    );
    assert_eq!(
        stage.asked(),
        Vec::<String>::new(),
        "the extension may go on at any moment, and would open it"
    );
    stage.tells("state", json!({"run": "run", "paused": true, "tabs": [], "attached": []}));
    let refused = stage.call(Some(&root), "Target.createTarget", json!({"url": "about:blank"}));
    assert_eq!(
        refused["error"]["data"], "POLICY_DENIED",
        "an extension of an earlier version does not say why"
    );
    let tabs = json!([tab(1, "https://a.example/")]);
    stage.tells("state", json!({"run": "run", "paused": false, "tabs": tabs, "attached": []}));
    // Who opens tabs for those who have none may not have heard of them yet.
    let house = stage.root();
    stage.call(Some(&house), "Target.setDiscoverTargets", json!({"discover": true}));
    let refused = stage.call(Some(&house), "Target.createTarget", json!({"url": "about:blank"}));
    assert_eq!(refused["error"]["data"], "POLICY_DENIED");
    stage.send(Some(&root), "Target.createTarget", json!({"url": "about:blank"}));
    assert_eq!(stage.asked(), ["open"], "a client that wants one gets one");
    stage.call(Some(&root), "Browser.getVersion", json!({}));
    stage.send(Some(&house), "Target.createTarget", json!({"url": "about:blank"}));
    assert_eq!(stage.asked(), ["open", "open"]);
}

#[test]
fn who_uses_a_tab_that_floods_the_line_is_told_that_its_session_ended() {
    let mut stage = Stage::with_tabs(2);
    let (root, session) = stage.working();
    let other = stage.on_tab(&root, "T2");
    stage.events();
    stage.tells("detached", json!({"tab": 1, "reason": "flood"}));
    assert_eq!(stage.events(), [format!("Target.detachedFromTarget {root}")]);
    let gone = stage.call(Some(&session), "Runtime.evaluate", json!({}));
    assert_eq!(gone["error"]["code"], -32001);
    // Nothing holds the tab any more, and whoever comes next begins anew.
    let anew = stage.on_tab(&root, "T1");
    for session in [&anew, &other] {
        stage.send(Some(session), "Runtime.evaluate", json!({}));
    }
    assert_eq!(stage.asked(), ["attach", "attach"]);
}

#[test]
fn what_fails_because_its_tab_closes_is_not_told_before_the_tab_is_gone() {
    let mut stage = Stage::with_tabs(1);
    let (root, session) = stage.working();
    let endless = stage.send(Some(&session), "Runtime.evaluate", json!({}));
    stage.send(Some(&root), "Target.closeTarget", json!({"targetId": "T1"}));
    stage.refuses("CDP_ERROR", "Inspected target navigated or closed");
    assert!(stage.answer(endless).is_none());
    stage.refuses("POLICY_DENIED", "This tab is the user's own.");
    assert!(stage.answer(endless).is_some(), "the tab stays, and so it is told");
}
