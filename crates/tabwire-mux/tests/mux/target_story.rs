//! Targets are created and destroyed: auto-attach, popups, tabs, paused pages.

use serde_json::json;
use tabwire_mux::{OnLoss, Share};

use crate::support::fake_browser::DEFAULT_CONTEXT;
use crate::support::stage::Stage;

#[test]
fn playwright_client_receives_its_page_before_the_responses() {
    let mut stage = Stage::new();
    stage.join(1);
    let params = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
    stage.send(1, "", 1, "Target.setAutoAttach", params);
    stage.flow();
    assert_eq!(stage.take_inbox(1), ["attachedToTarget page T-002.", "1 ok"]);
    stage.send(1, "", 2, "Target.createTarget", json!({"url": ""}));
    stage.flow();
    let frames = stage.take_frames(1);
    let page = frames[1]["result"]["targetId"].as_str().unwrap().to_owned();
    assert_eq!(frames[0]["params"]["targetInfo"]["targetId"], page.as_str());
    assert_eq!(frames[0]["params"]["waitingForDebugger"], true);
    let session = frames[0]["params"]["sessionId"].as_str().unwrap().to_owned();
    assert!(stage.is_held(&page));
    stage.ask(1, &session, "Runtime.runIfWaitingForDebugger", json!({}));
    assert!(!stage.is_held(&page));
}

#[test]
fn b16_owner_gets_the_first_session_on_its_new_page() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.auto_attach(1);
    stage.take_inbox(1);
    stage.take_heard();
    let page = stage.create(1);
    assert_eq!(stage.take_methods(), ["Target.createTarget"], "no second session on the page");
    let frames = stage.take_frames(1);
    let session = frames[0]["params"]["sessionId"].as_str().unwrap().to_owned();
    assert_eq!(stage.browser.sessions[&session].parent.as_ref(), Some(&stage.control));
    stage.ask(1, &session, "Runtime.runIfWaitingForDebugger", json!({}));
    assert_eq!(stage.take_heard(), [format!("Runtime.runIfWaitingForDebugger {session}")]);
    assert!(!stage.is_held(&page));
    // The client detaches from it as from any other session of its own.
    let done = stage.ask(1, "", "Target.detachFromTarget", json!({"sessionId": session}));
    assert_eq!(done, json!({}));
    assert_eq!(stage.take_inbox(1), [format!("detachedFromTarget {page}")]);
    assert!(!stage.browser.sessions.contains_key(&session));
    assert_eq!(stage.ask(1, &session, "Fake.echo", json!({}))["code"], -32001);
}

#[test]
fn b16_handed_over_session_ends_with_its_client() {
    let mut stage = Stage::new();
    for client in [1, 2] {
        stage.join(client);
        stage.auto_attach(client);
    }
    let page = stage.create(1);
    let frames = stage.take_frames(1);
    let session = frames.last().unwrap()["params"]["sessionId"].as_str().unwrap().to_owned();
    stage.take_inbox(2);
    let refused = stage.ask(2, &session, "Fake.echo", json!({}));
    assert_eq!(refused["code"], -32001, "the other client does not reach it");
    let refused = stage.ask(2, "", "Target.detachFromTarget", json!({"sessionId": session}));
    assert_eq!(refused["code"], -32602);
    stage.leave(1);
    assert!(!stage.browser.sessions.contains_key(&session));
    assert!(!stage.is_held(&page));
    assert_eq!(stage.mux.resource_counts().sessions, 2, "the other client: its root, and the first page");
}

#[test]
fn b16_close_of_a_page_is_reported_on_the_session_that_attached() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.auto_attach(1);
    let page = stage.create(1);
    stage.take_inbox(1);
    stage.browser.close(&page);
    stage.flow();
    assert_eq!(stage.take_inbox(1), [format!("detachedFromTarget {page}")]);
}

#[test]
fn f11_hidden_page_is_resumed_at_once() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.join(2);
    stage.auto_attach(2);
    stage.take_inbox(2);
    let page = stage.create(1);
    assert!(!stage.is_held(&page), "client 1 did not ask to wait");
    assert!(stage.take_inbox(2).is_empty());
}

#[test]
fn f11_deadline_resumes_a_page_that_its_client_never_resumes() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.auto_attach(1);
    let page = stage.create(1);
    assert!(stage.is_held(&page));
    stage.advance(58);
    assert!(stage.is_held(&page));
    stage.advance(4);
    assert!(!stage.is_held(&page));
    assert_eq!(stage.mux.counters().resumed_by_deadline, 1);
}

#[test]
fn f11_page_without_an_owner_waits_five_seconds_for_a_client() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.auto_attach(1);
    let page = stage.browser.open("page", DEFAULT_CONTEXT, None, None);
    stage.flow();
    assert!(stage.is_held(&page));
    stage.advance(4);
    assert!(stage.is_held(&page));
    stage.advance(2);
    assert!(!stage.is_held(&page));
}

#[test]
fn f11_page_is_resumed_when_its_client_leaves_or_stops_attaching() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.auto_attach(1);
    let page = stage.create(1);
    stage.ask(1, "", "Target.setAutoAttach", json!({"autoAttach": false}));
    assert!(!stage.is_held(&page));
    stage.auto_attach(1);
    let next = stage.create(1);
    assert!(stage.is_held(&next));
    stage.leave(1);
    assert!(!stage.is_held(&next));
}

#[test]
fn page_waits_until_both_clients_resume_it() {
    let mut stage = Stage::new();
    for client in [1, 2] {
        stage.join_with(client, Share::All, OnLoss::Close);
        stage.auto_attach(client);
        stage.take_inbox(client);
    }
    let page = stage.create(1);
    for client in [1, 2] {
        assert!(stage.is_held(&page));
        let frames = stage.take_frames(client);
        let session = frames[0]["params"]["sessionId"].as_str().unwrap().to_owned();
        stage.ask(client, &session, "Runtime.runIfWaitingForDebugger", json!({}));
    }
    assert!(!stage.is_held(&page));
}

#[test]
fn puppeteer_client_reaches_its_page_through_the_tab() {
    let mut stage = Stage::new();
    stage.join(1);
    let filter = json!([{"type": "page", "exclude": true}, {}]);
    let options =
        json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true, "filter": filter});
    stage.ask(1, "", "Target.setAutoAttach", options.clone());
    assert_eq!(stage.take_inbox(1), ["attachedToTarget tab T-001."]);
    let page = stage.create(1);
    let frames = stage.take_frames(1);
    assert_eq!((frames.len(), &frames[0]["params"]["targetInfo"]["type"]), (1, &json!("tab")));
    let tab = frames[0]["params"]["sessionId"].as_str().unwrap().to_owned();
    let mut options = options;
    options["filter"] = json!([{}]);
    stage.ask(1, &tab, "Target.setAutoAttach", options);
    let frames = stage.take_frames(1);
    assert_eq!(frames[0]["params"]["targetInfo"]["targetId"], page.as_str());
    assert_eq!(frames[0]["sessionId"], tab.as_str());
    let session = frames[0]["params"]["sessionId"].as_str().unwrap().to_owned();
    stage.ask(1, &tab, "Runtime.runIfWaitingForDebugger", json!({}));
    assert!(stage.is_held(&page), "the tab runs, the page still waits");
    stage.ask(1, &session, "Runtime.runIfWaitingForDebugger", json!({}));
    assert!(!stage.is_held(&page));
}

#[test]
fn popup_and_its_popup_have_the_openers_owner() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.join(2);
    for client in [1, 2] {
        stage.discover(client);
        stage.take_inbox(client);
    }
    let page = stage.create(1);
    stage.take_inbox(1);
    let popup = stage.browser.open("page", DEFAULT_CONTEXT, Some(&page), None);
    let next = stage.browser.open("page", DEFAULT_CONTEXT, Some(&popup), None);
    stage.flow();
    assert_eq!(
        stage.take_inbox(1),
        [format!("targetCreated page {popup}"), format!("targetCreated page {next}")]
    );
    assert!(stage.take_inbox(2).is_empty());
}

#[test]
fn popup_waits_for_the_owner_of_its_opener() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.join(2);
    stage.discover(2);
    stage.take_inbox(2);
    stage.send(1, "", 7, "Target.createTarget", json!({"url": ""}));
    let page = stage.browser.targets.keys().last().unwrap().clone();
    // The deadline resumes the page, and it opens a popup while the browser's response is still pending.
    let control = stage.browser.sessions.keys().next().unwrap().clone();
    let popup = stage.browser.open("page", DEFAULT_CONTEXT, Some(&page), None);
    while let Some(frame) = stage.browser.take_from(&control) {
        stage.deliver(&frame);
    }
    stage.flow();
    assert!(stage.take_inbox(2).is_empty());
    assert!(stage.ask(1, "", "Target.getTargetInfo", json!({"targetId": popup}))["targetInfo"].is_object());
}

#[test]
fn popup_with_an_unknown_opener_is_hidden_from_other_clients() {
    let mut stage = Stage::new();
    for client in [1, 2, 3] {
        let share = if client == 3 { Share::Released } else { Share::UserTabs };
        stage.join_with(client, share, OnLoss::Close);
        stage.discover(client);
        stage.create(client);
        stage.take_inbox(client);
    }
    let popup = stage.browser.open("page", DEFAULT_CONTEXT, Some("frame-that-is-no-target"), None);
    stage.flow();
    assert!(stage.take_inbox(1).is_empty() && stage.take_inbox(2).is_empty());
    assert_eq!(stage.take_inbox(3), [format!("targetCreated page {popup}")]);
    assert!(!stage.is_held(&popup));
}

#[test]
fn page_opened_by_the_user_is_visible_to_all() {
    let mut stage = Stage::new();
    for client in [1, 2] {
        stage.join(client);
        stage.discover(client);
        stage.take_inbox(client);
    }
    let page = stage.browser.open("page", DEFAULT_CONTEXT, None, None);
    stage.browser.retitle(&page, "title");
    stage.flow();
    for client in [1, 2] {
        assert_eq!(
            stage.take_inbox(client),
            [format!("targetCreated page {page}"), format!("targetInfoChanged page {page}")]
        );
    }
    stage.browser.close(&page);
    stage.flow();
    assert_eq!(stage.take_inbox(1), [format!("targetDestroyed {page}")]);
}

#[test]
fn user_page_opened_during_create_target_appears_after_the_response() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.join(2);
    stage.discover(2);
    stage.take_inbox(2);
    // Both pages are announced before the response, and no field distinguishes them.
    let users = stage.browser.open("page", DEFAULT_CONTEXT, None, None);
    stage.send(1, "", 7, "Target.createTarget", json!({"url": ""}));
    stage.flow();
    assert_eq!(stage.take_inbox(2), [format!("targetCreated page {users}")]);
    assert!(!stage.is_held(&users));
}

#[test]
fn worker_belongs_to_the_only_client_with_its_origin() {
    let mut stage = Stage::new();
    for client in [1, 2] {
        stage.join(client);
    }
    stage.browser.close("T-002.");
    stage.flow();
    stage.create(1);
    for client in [1, 2] {
        stage.discover(client);
        stage.take_inbox(client);
    }
    let worker = stage.browser.start_worker(DEFAULT_CONTEXT, "http://site.test/sw.js");
    stage.flow();
    assert_eq!(stage.take_inbox(1), [format!("targetCreated service_worker {worker}")]);
    assert!(stage.take_inbox(2).is_empty());
    assert!(!stage.is_held(&worker));
    let page = stage.create(2);
    stage.take_inbox(2);
    let shared = stage.browser.start_worker(DEFAULT_CONTEXT, "http://site.test/sw2.js");
    stage.flow();
    assert_eq!(stage.take_inbox(2), [format!("targetCreated service_worker {shared}")]);
    assert_ne!(page, shared);
}

#[test]
fn frame_is_visible_to_the_client_that_reaches_it_through_its_page() {
    let mut stage = Stage::new();
    for client in [1, 2] {
        stage.join(client);
        stage.create(client);
        stage.discover(client);
    }
    let page = stage.create(1);
    let session = stage.attach(1, &page);
    stage.take_inbox(1);
    stage.take_inbox(2);
    let control = stage.browser.sessions.keys().next().unwrap().clone();
    let info = json!({"targetId": "F-1.", "type": "iframe", "title": "", "url": "http://ad.test/",
        "attached": false, "browserContextId": DEFAULT_CONTEXT, "parentFrameId": "no-target"});
    stage.browser.event(&control, "Target.targetCreated", json!({"targetInfo": info}));
    stage.flow();
    assert!(stage.take_inbox(1).is_empty() && stage.take_inbox(2).is_empty());
    let params = json!({"sessionId": "S-frame.", "targetInfo": info, "waitingForDebugger": false});
    stage.browser.event(&session, "Target.attachedToTarget", params);
    stage.flow();
    assert_eq!(
        stage.take_inbox(1),
        [format!("attachedToTarget iframe F-1. on {session}"), "targetCreated iframe F-1.".to_owned()]
    );
    assert!(stage.take_inbox(2).is_empty());
}

#[test]
fn f02_pending_commands_of_a_crashed_page_fail_and_others_continue() {
    let mut stage = Stage::new();
    stage.join(1);
    let (first, second) = (stage.create(1), stage.create(1));
    let (crashes, lives) = (stage.attach(1, &first), stage.attach(1, &second));
    stage.take_inbox(1);
    // The browser has responded to neither command when the first page crashes.
    stage.send(1, &crashes, 7, "Fake.echo", json!({}));
    stage.send(1, &lives, 8, "Fake.echo", json!({}));
    let control = stage.control.clone();
    stage.browser.event(&control, "Target.targetCrashed", json!({"targetId": first, "status": "crashed"}));
    while let Some(frame) = stage.browser.take_from(&control) {
        stage.deliver(&frame);
    }
    let responses = |stage: &mut Stage| -> Vec<String> {
        stage.take_inbox(1).into_iter().filter(|line| line.starts_with(['7', '8'])).collect()
    };
    assert!(responses(&mut stage).is_empty(), "its session has not received the crash");
    // A session that never receives it is not left waiting.
    stage.now += std::time::Duration::from_secs(3);
    stage.mux.tick(stage.now);
    stage.settle();
    assert_eq!(responses(&mut stage), [format!("7 error TARGET_GONE on {crashes}")]);
}

#[test]
fn b16_client_receives_the_crash_before_its_commands_fail() {
    let mut stage = Stage::new();
    stage.join(1);
    let page = stage.create(1);
    let session = stage.attach(1, &page);
    stage.take_inbox(1);
    stage.send(1, &session, 7, "Fake.echo", json!({}));
    let control = stage.control.clone();
    stage.browser.drop_frames();
    // Chromium sends the browser's event first when the control session attached first.
    stage.browser.event(&control, "Target.targetCrashed", json!({"targetId": page, "status": "crashed"}));
    stage.browser.event(&session, "Inspector.targetCrashed", json!({}));
    stage.flow();
    let seen = stage.take_inbox(1);
    assert_eq!(
        seen,
        [format!("Inspector.targetCrashed on {session}"), format!("7 error TARGET_GONE on {session}")]
    );
}

#[test]
fn the_sessions_tab_is_visible_to_clients_that_see_the_session() {
    let mut stage = Stage::new();
    for client in [1, 2] {
        stage.join_with(client, Share::SessionTabs, OnLoss::Close);
    }
    stage.discover(1);
    stage.discover(2);
    stage.take_inbox(1);
    stage.take_inbox(2);
    // A client creates its own page at the same moment.
    stage.send(1, "", 7, "Target.createTarget", json!({"url": ""}));
    stage.mux.open_tab(5, "about:blank", None, stage.now);
    stage.flow();
    let notices = stage.take_notices();
    let opened = notices.iter().find_map(|notice| notice.strip_prefix("5: opened ")).expect("opened");
    let line = format!("targetCreated page {opened}");
    assert!(stage.take_inbox(1).contains(&line) && stage.take_inbox(2).contains(&line), "{notices:?}");
    assert!(!stage.is_held(opened));
}
