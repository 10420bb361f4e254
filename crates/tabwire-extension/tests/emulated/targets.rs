//! The emulated browser's version, targets and tabs.

use serde_json::json;

use crate::stage::{Stage, present, tab};

#[test]
fn version_and_targets_are_listed() {
    let mut stage = Stage::with_tabs(2);
    let root = stage.root();
    let version = stage.call(Some(&root), "Browser.getVersion", json!({}));
    assert_eq!(version["result"]["product"], "Chrome/156.0.0.0");
    assert_eq!(version["sessionId"], root.as_str(), "responses echo the session of their command");
    let targets = stage.call(Some(&root), "Target.getTargets", json!({}));
    let infos = targets["result"]["targetInfos"].as_array().expect("a list");
    assert_eq!(infos.len(), 2);
    for field in ["targetId", "type", "title", "url", "attached", "canAccessOpener", "browserContextId"] {
        assert!(infos[0].get(field).is_some(), "stock clients read {field}");
    }
    assert_eq!(stage.requests(), Vec::<String>::new(), "no tab is attached for it");
}

#[test]
fn discovery_and_auto_attach_cost_no_attachment() {
    let mut stage = Stage::with_tabs(60);
    let control = stage.root();
    stage.events();
    stage.call(Some(&control), "Target.setDiscoverTargets", json!({"discover": true}));
    let auto = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
    stage.call(Some(&control), "Target.setAutoAttach", auto);
    let events = stage.events();
    assert_eq!(events.len(), 120);
    assert_eq!(events.iter().filter(|event| event.starts_with("Target.targetCreated")).count(), 60);
    assert_eq!(stage.requests(), Vec::<String>::new());
    assert_eq!(stage.browser.stats().attached, 0);
}

#[test]
fn tabs_are_created_changed_and_destroyed() {
    let mut stage = Stage::with_tabs(1);
    let control = stage.root();
    stage.call(Some(&control), "Target.setDiscoverTargets", json!({"discover": true}));
    stage.events();
    let mut popup = tab(2, "https://b.example/");
    popup.opener = Some(tab(1, "").tab);
    stage.extension_event("tab", json!(popup));
    let created = stage.event("Target.targetCreated").expect("an event");
    assert_eq!(created["params"]["targetInfo"]["openerId"], "T1");
    popup.title = "other".to_owned();
    stage.extension_event("tab", json!(popup));
    assert_eq!(stage.events(), [format!("Target.targetInfoChanged {control}")]);
    stage.extension_event("tab", json!(popup));
    assert_eq!(stage.events(), Vec::<String>::new(), "nothing changed");
    let session = stage.on_tab(&control, "T2");
    stage.events();
    popup.restricted = true;
    stage.extension_event("tab", json!(popup));
    assert_eq!(
        stage.events(),
        [format!("Target.detachedFromTarget {control}"), format!("Target.targetDestroyed {control}")],
        "a page that extensions cannot debug is removed"
    );
    let response = stage.call(Some(&session), "Runtime.evaluate", json!({}));
    assert_eq!(response["error"]["code"], -32001);
}

#[test]
fn new_tab_is_attached_before_it_navigates() {
    let mut stage = Stage::with_tabs(0);
    let root = stage.root();
    let id = stage.send(Some(&root), "Target.createTarget", json!({"url": "https://a.example/"}));
    assert_eq!(stage.requests(), ["open"]);
    let mut opened = tab(5, "about:blank");
    opened.agent = true;
    stage.respond(json!(opened));
    assert_eq!(stage.requests(), ["attach"]);
    stage.respond(json!({"frameTree": {"frame": {"id": "T5"}}}));
    assert_eq!(stage.requests(), ["send Page.navigate"]);
    assert_eq!(stage.response(id), None, "the response follows when the navigation has started");
    stage.respond(json!({"frameId": "T5"}));
    assert_eq!(stage.response(id).expect("a response")["result"]["targetId"], "T5");
    let id = stage.send(Some(&root), "Target.createTarget", json!({"url": "about:blank"}));
    stage.respond(json!(tab(6, "about:blank")));
    assert_eq!(stage.response(id).expect("a response")["result"]["targetId"], "T6");
    assert_eq!(stage.requests(), Vec::<String>::new(), "an empty tab needs no debugger");
}

#[test]
fn unknown_ids_get_chromes_errors() {
    let mut stage = Stage::with_tabs(1);
    let root = stage.root();
    for (method, params, code) in [
        ("Target.attachToTarget", json!({"targetId": "unknown", "flatten": true}), -32602),
        ("Target.attachToTarget", json!({"targetId": "T1"}), -32602),
        ("Target.closeTarget", json!({"targetId": "unknown"}), -32602),
        ("Target.getTargetInfo", json!({"targetId": "unknown"}), -32602),
        ("Target.detachFromTarget", json!({"sessionId": "unknown"}), -32602),
        ("Target.createTarget", json!({"url": "", "browserContextId": "other"}), -32602),
        ("Target.createBrowserContext", json!({}), -32000),
        ("SystemInfo.getInfo", json!({}), -32601),
        ("Browser.grantPermissions", json!({}), -32601),
    ] {
        let response = stage.call(Some(&root), method, params);
        assert_eq!(response["error"]["code"], code, "{method}: {response}");
    }
    let response = stage.call(Some("unknown"), "Page.enable", json!({}));
    assert_eq!(response["error"]["code"], -32001);
    stage.browser.from_hub(b"no frame");
    stage.browser.from_hub(b"{\"id\":1}");
    for odd in
        ["", "{}", "[]", "{\"id\":77,\"result\":{}}", "{\"event\":\"tab\",\"data\":7}", "{\"event\":\"cdp\"}"]
    {
        stage.browser.from_extension(odd.as_bytes());
    }
}

#[test]
fn closing_a_tab_is_decided_by_the_extension() {
    let mut stage = Stage::with_tabs(1);
    let root = stage.root();
    let id = stage.send(Some(&root), "Target.closeTarget", json!({"targetId": "T1"}));
    stage.respond_error("POLICY_DENIED", "This tab is the user's own.");
    let response = stage.response(id).expect("a response");
    assert_eq!(response["error"]["data"], "POLICY_DENIED");
    assert_eq!(response["error"]["message"], "This tab is the user's own.");
    let id = stage.send(Some(&root), "Target.closeTarget", json!({"targetId": "T1"}));
    stage.respond(json!({}));
    assert_eq!(stage.response(id).expect("a response")["result"]["success"], true);
}

#[test]
fn cookies_are_read_through_a_tab_and_need_one() {
    let mut stage = Stage::with_tabs(0);
    let root = stage.root();
    let response = stage.call(Some(&root), "Storage.getCookies", json!({}));
    assert_eq!(response["error"]["data"], "TAB_NOT_FOUND");
    stage.extension_event("tab", json!(tab(1, "https://a.example/")));
    let id = stage.send(Some(&root), "Storage.getCookies", json!({"browserContextId": "x"}));
    stage.respond(json!({"frameTree": {}}));
    let asked = stage.respond(json!({"cookies": []}));
    assert_eq!(asked["params"]["params"], json!({}), "tabs accept no context");
    assert_eq!(stage.response(id).expect("a response")["result"]["cookies"], json!([]));
}

#[test]
fn profile_wide_commands_are_never_forwarded() {
    let mut stage = Stage::with_tabs(1);
    let (_, session) = stage.working();
    for method in ["Network.clearBrowserCookies", "Network.clearBrowserCache", "Storage.clearCookies"] {
        let response = stage.call(Some(&session), method, json!({}));
        assert_eq!(response["error"]["data"], "POLICY_DENIED", "{method}");
    }
    assert_eq!(stage.requests(), Vec::<String>::new());
}

#[test]
fn attachments_of_an_earlier_daemon_are_detached() {
    let stage = Stage::with(&present(vec![tab(1, "https://a.example/")], &[1, 7]));
    assert_eq!(stage.requests(), ["detach", "detach"]);
}

#[test]
fn tab_target_has_its_page_as_child() {
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
    assert!(
        stage.call(Some(&session), "Page.enable", json!({}))["error"].is_object(),
        "a tab target is not a page"
    );
    stage.extension_event("tab_removed", json!({"tab": 1}));
    assert_eq!(
        stage.events(),
        [
            format!("Target.detachedFromTarget {session}"),
            format!("Target.detachedFromTarget {root}"),
            format!("Target.targetDestroyed {root}"),
            format!("Target.targetDestroyed {root}"),
        ]
    );
    assert_eq!(stage.requests(), Vec::<String>::new());
}

#[test]
fn page_downloads_become_browser_events_with_file_paths() {
    let mut stage = Stage::with_tabs(1);
    let (root, _) = stage.working();
    stage.call(
        Some(&root),
        "Browser.setDownloadBehavior",
        json!({"behavior": "default", "eventsEnabled": true}),
    );
    let begun = json!({"frameId": "T1", "guid": "g", "url": "https://a.example/f", "suggestedFilename": "f"});
    stage.page_event(1, None, "Page.downloadWillBegin", begun);
    stage.page_event(1, None, "Page.downloadProgress", json!({"guid": "g", "state": "inProgress"}));
    assert_eq!(
        stage.events(),
        [format!("Browser.downloadWillBegin {root}"), format!("Browser.downloadProgress {root}")]
    );
    stage.page_event(1, None, "Page.downloadProgress", json!({"guid": "g", "state": "completed"}));
    assert_eq!(stage.events(), Vec::<String>::new(), "not before the file's path is known");
    assert_eq!(stage.respond(json!({"file": "/downloads/f"}))["command"], "download");
    let done = stage.event("Browser.downloadProgress").expect("it is done");
    assert_eq!(done["params"]["filePath"], "/downloads/f");
}

#[test]
fn only_running_downloads_can_be_cancelled() {
    let mut stage = Stage::with_tabs(1);
    let (root, _) = stage.working();
    let begun = json!({"frameId": "T1", "guid": "g", "url": "https://a.example/f", "suggestedFilename": "f"});
    stage.page_event(1, None, "Page.downloadWillBegin", begun);
    let refused = stage.call(Some(&root), "Browser.cancelDownload", json!({"guid": "another"}));
    assert_eq!(refused["error"]["code"], -32602);
    let id = stage.send(Some(&root), "Browser.cancelDownload", json!({"guid": "g"}));
    let asked = stage.respond(json!({}));
    assert_eq!(
        (&asked["command"], &asked["params"]["url"]),
        (&json!("cancel_download"), &json!("https://a.example/f"))
    );
    assert!(stage.response(id).expect("a response")["result"].is_object());
}

#[test]
fn no_tab_is_opened_while_paused_or_before_tabs_are_known() {
    let mut stage = Stage::with_tabs(1);
    let root = stage.root();
    let why = "The user pressed Cancel.";
    stage.extension_event(
        "state",
        json!({"run": "run", "paused": true, "pause": why, "tabs": [], "attached": []}),
    );
    let refused = stage.call(Some(&root), "Target.createTarget", json!({"url": "about:blank"}));
    assert_eq!(
        (&refused["error"]["data"], &refused["error"]["message"]),
        (&json!("POLICY_DENIED"), &json!(why))
    );
    assert_eq!(
        stage.requests(),
        Vec::<String>::new(),
        "the extension may resume at any moment and would open it"
    );
    stage.extension_event("state", json!({"run": "run", "paused": true, "tabs": [], "attached": []}));
    let refused = stage.call(Some(&root), "Target.createTarget", json!({"url": "about:blank"}));
    assert_eq!(
        refused["error"]["data"], "POLICY_DENIED",
        "an extension of an earlier version sends no reason"
    );
    let tabs = json!([tab(1, "https://a.example/")]);
    stage.extension_event("state", json!({"run": "run", "paused": false, "tabs": tabs, "attached": []}));
    // The control session opens tabs for clients without one, and may not know the tabs yet.
    let control = stage.root();
    stage.call(Some(&control), "Target.setDiscoverTargets", json!({"discover": true}));
    let refused = stage.call(Some(&control), "Target.createTarget", json!({"url": "about:blank"}));
    assert_eq!(refused["error"]["data"], "POLICY_DENIED");
    stage.send(Some(&root), "Target.createTarget", json!({"url": "about:blank"}));
    assert_eq!(stage.requests(), ["open"], "other clients may open a tab");
    stage.call(Some(&root), "Browser.getVersion", json!({}));
    stage.send(Some(&control), "Target.createTarget", json!({"url": "about:blank"}));
    assert_eq!(stage.requests(), ["open", "open"]);
}

#[test]
fn session_on_a_flooding_tab_is_detached() {
    let mut stage = Stage::with_tabs(2);
    let (root, session) = stage.working();
    let other = stage.on_tab(&root, "T2");
    stage.events();
    stage.extension_event("detached", json!({"tab": 1, "reason": "flood"}));
    assert_eq!(stage.events(), [format!("Target.detachedFromTarget {root}")]);
    let gone = stage.call(Some(&session), "Runtime.evaluate", json!({}));
    assert_eq!(gone["error"]["code"], -32001);
    // No session uses the tab any more, and a later session starts from scratch.
    let anew = stage.on_tab(&root, "T1");
    for session in [&anew, &other] {
        stage.send(Some(session), "Runtime.evaluate", json!({}));
    }
    assert_eq!(stage.requests(), ["attach", "attach"]);
}

#[test]
fn errors_of_a_closing_tab_wait_until_the_tab_is_gone() {
    let mut stage = Stage::with_tabs(1);
    let (root, session) = stage.working();
    let endless = stage.send(Some(&session), "Runtime.evaluate", json!({}));
    stage.send(Some(&root), "Target.closeTarget", json!({"targetId": "T1"}));
    stage.respond_error("CDP_ERROR", "Inspected target navigated or closed");
    assert!(stage.response(endless).is_none());
    stage.respond_error("POLICY_DENIED", "This tab is the user's own.");
    assert!(stage.response(endless).is_some(), "the tab stays, so the error is sent");
}
