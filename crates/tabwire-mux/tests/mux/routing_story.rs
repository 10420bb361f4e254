//! Routing: equal ids, late and repeated responses, garbage, clients that vanish.

use serde_json::json;

use crate::support::stage::Stage;

/// Takes the browser's next response before it is delivered.
fn held_response(stage: &mut Stage) -> String {
    stage.settle();
    stage.browser.take_frame().expect("a response")
}

#[test]
fn f14_oversized_response_is_an_error_and_the_connection_survives() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.send(1, "", 5, "Fake.screenshot", json!({}));
    let response = held_response(&mut stage);
    stage.mux.oversize_from_browser(&response.as_bytes()[..20], 300_000_000);
    stage.settle();
    assert_eq!(stage.take_inbox(1), ["5 error CDP_ERROR"]);
    stage.mux.oversize_from_browser(b"{\"method\":\"Network.data", 300_000_000);
    stage.mux.oversize_from_browser(b"{\"id\":", 300_000_000);
    assert_eq!(stage.ask(1, "", "Fake.echo", json!({}))["echo"]["tag"], "c1-");
    assert_eq!(stage.mux.resource_counts().pending, 0);
}

#[test]
fn f16_garbage_from_a_client_gets_errors_and_affects_no_other() {
    let mut stage = Stage::new();
    stage.join(1);
    let deep = format!(
        r#"{{"id":7,"method":"Target.createTarget","params":{}1{}}}"#,
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    let through =
        format!(r#"{{"id":8,"method":"Fake.deep","params":{}{}}}"#, "[".repeat(100), "]".repeat(100));
    for frame in
        ["", "{", "null", "[1]", r#"{"id":"x","method":"A.b"}"#, r#"{"method":"A.b"}"#, r#"{"id":6}"#]
    {
        stage.send_raw(1, frame);
    }
    stage.send_raw(1, &deep);
    stage.send_raw(1, &through);
    stage.send_raw(1, r#"{"id":9,"method":"Target.createTarget","params":{"url":"\ud800"}}"#);
    stage.flow();
    assert_eq!(
        stage.take_inbox(1),
        [
            "? error -32700",
            "? error -32700",
            "? error -32700",
            "? error -32700",
            "? error -32600",
            "? error -32600",
            "6 error -32600",
            "7 error -32602",
            "9 error -32602",
            "8 ok",
        ]
    );
    assert_eq!(stage.mux.counters().malformed, 7);
}

#[test]
fn f16_garbage_from_the_browser_is_counted_and_dropped() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.discover(1);
    stage.take_inbox(1);
    let control = stage.browser.sessions.keys().next().unwrap().clone();
    let deep = format!(
        r#"{{"method":"Target.targetCreated","params":{}{},"sessionId":"{control}"}}"#,
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    let nameless = format!(r#"{{"method":"Target.attachedToTarget","params":{{}},"sessionId":"{control}"}}"#);
    for frame in ["", "{", "null", "{}", r#"{"id":"x"}"#, r#"{"id":-1,"result":{}}"#, &deep, &nameless] {
        stage.deliver(frame);
    }
    assert!(stage.take_inbox(1).is_empty());
    assert_eq!(stage.mux.counters().malformed, 6);
}

#[test]
fn f16_title_with_a_lone_surrogate_does_not_hide_its_page() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.discover(1);
    stage.take_inbox(1);
    let control = stage.browser.sessions.keys().next().unwrap().clone();
    stage.deliver(&format!(
        r#"{{"method":"Target.targetInfoChanged","params":{{"targetInfo":{{"targetId":"T-002.","type":"page","title":"\ud800!"}}}},"sessionId":"{control}"}}"#
    ));
    let frames = stage.take_frames(1);
    assert_eq!(frames[0]["params"]["targetInfo"]["title"], "\u{fffd}!");
}

#[test]
fn f17_clients_with_equal_ids_get_their_own_responses() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.join(2);
    for client in [1, 2] {
        stage.send(client, "", 7, "Fake.echo", json!({}));
    }
    stage.flow();
    for client in [1, 2] {
        let frames = stage.take_frames(client);
        assert_eq!(frames, [json!({"id": 7, "result": {"echo": {"tag": format!("c{client}-")}}})]);
    }
}

#[test]
fn f17_one_client_may_use_an_id_twice() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.send(1, "", 7, "Fake.echo", json!({}));
    stage.send(1, "", 7, "Fake.echo", json!({}));
    stage.flow();
    assert_eq!(stage.take_inbox(1), ["7 ok", "7 ok"]);
}

#[test]
fn f18_first_of_two_responses_wins() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.send(1, "", 7, "Fake.echo", json!({}));
    let response = held_response(&mut stage);
    stage.deliver(&response);
    stage.deliver(&response);
    assert_eq!(stage.take_inbox(1), ["7 ok"]);
    assert_eq!(stage.mux.counters().responses_unknown, 1);
}

#[test]
fn f19_late_response_is_dropped_and_its_id_is_not_reused() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.send(1, "", 7, "Fake.echo", json!({}));
    let late = held_response(&mut stage);
    stage.advance(31 * 60);
    assert_eq!(stage.take_inbox(1), ["7 error TIMEOUT"]);
    stage.send(1, "", 8, "Fake.echo", json!({}));
    stage.deliver(&late);
    assert!(stage.take_inbox(1).is_empty());
    stage.flow();
    assert_eq!(stage.take_inbox(1), ["8 ok"]);
    assert_eq!(stage.mux.counters().responses_unknown, 1);
}

#[test]
fn f20_command_without_a_response_times_out() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.send(1, "", 7, "Fake.echo", json!({}));
    let _never = held_response(&mut stage);
    stage.advance(29 * 60);
    assert_eq!((stage.take_inbox(1).len(), stage.mux.pending()), (0, 1));
    stage.advance(2 * 60);
    assert_eq!(stage.take_inbox(1), ["7 error TIMEOUT"]);
    assert_eq!((stage.mux.pending(), stage.mux.counters().expired), (0, 1));
}

#[test]
fn f21_events_between_attachment_and_response_keep_their_order() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.send(1, "", 7, "Target.attachToTarget", json!({"targetId": "T-002.", "flatten": true}));
    let attached = stage.browser.take_frame().unwrap();
    let response = stage.browser.take_frame().unwrap();
    let session = stage.browser.sessions.keys().last().unwrap().clone();
    stage.deliver(&attached);
    stage.deliver(&format!(r#"{{"method":"Fake.early","params":{{}},"sessionId":"{session}"}}"#));
    stage.deliver(&response);
    assert_eq!(
        stage.take_inbox(1),
        ["attachedToTarget page T-002.".to_owned(), format!("Fake.early on {session}"), "7 ok".to_owned()]
    );
}

#[test]
fn f22_vanished_client_is_cleaned_up_and_others_continue() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.join(2);
    let page = stage.create(1);
    let own = stage.attach(1, &page);
    let kept = stage.attach(2, "T-002.");
    stage.send(1, &own, 7, "Fake.echo", json!({}));
    stage.send(2, &kept, 7, "Fake.echo", json!({}));
    stage.take_inbox(2);
    stage.leave(1);
    assert_eq!(stage.take_inbox(2), [format!("7 ok on {kept}")]);
    assert!(!stage.browser.sessions.contains_key(&own) && stage.browser.sessions.contains_key(&kept));
    assert!(stage.browser.targets.contains_key(&page), "its page stays, without an owner");
    let left = stage.mux.resource_counts();
    assert_eq!((left.clients, left.sessions, left.pending, left.targets), (1, 2, 0, 0));
    assert_eq!(stage.mux.pending(), 0);
}

#[test]
fn f22_page_created_after_its_client_vanished_stays_hidden() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.join(2);
    stage.discover(2);
    stage.take_inbox(2);
    stage.send(1, "", 7, "Target.createTarget", json!({"url": ""}));
    stage.send(1, "", 8, "Target.createBrowserContext", json!({}));
    stage.leave(1);
    assert!(stage.take_inbox(2).is_empty());
    assert!(stage.browser.targets.values().all(|target| target.held_by.is_empty()));
    assert!(stage.browser.contexts.is_empty(), "no client received the context");
}

#[test]
fn f23_client_leaving_before_its_response_affects_no_other() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.send(1, "", 7, "Fake.echo", json!({}));
    let response = held_response(&mut stage);
    stage.leave(1);
    stage.join(2);
    stage.send(2, "", 7, "Fake.echo", json!({}));
    stage.deliver(&response);
    assert!(stage.take_inbox(2).is_empty());
    stage.flow();
    assert_eq!(stage.take_frames(2), [json!({"id": 7, "result": {"echo": {"tag": "c2-"}}})]);
}

#[test]
fn t18_response_on_a_wrong_session_is_counted_and_dropped() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.join(2);
    let (one, two) = (stage.attach(1, "T-002."), stage.attach(2, "T-002."));
    stage.take_inbox(1);
    stage.take_inbox(2);
    stage.send(1, &one, 7, "Fake.echo", json!({}));
    let response = held_response(&mut stage);
    stage.deliver(&response.replace(&one, &two));
    assert!(stage.take_inbox(1).is_empty() && stage.take_inbox(2).is_empty());
    assert_eq!(stage.mux.counters().responses_misrouted, 1);
    stage.deliver(&response);
    assert_eq!(stage.take_inbox(1), [format!("7 ok on {one}")]);
}

#[test]
fn command_on_an_ended_session_gets_its_error_on_that_session() {
    let mut stage = Stage::new();
    stage.join(1);
    let session = stage.attach(1, "T-002.");
    stage.take_inbox(1);
    // The browser has detached it, and the mux has not received the event yet.
    stage.browser.detach(&session);
    stage.send(1, &session, 7, "Fake.echo", json!({}));
    let detached = stage.browser.take_frame().unwrap();
    let complaint = stage.browser.take_frame().unwrap();
    stage.deliver(&complaint);
    stage.deliver(&detached);
    assert_eq!(
        stage.take_inbox(1),
        [format!("7 error -32001 on {session}"), "detachedFromTarget T-002.".to_owned()]
    );
    stage.send(1, &session, 8, "Fake.echo", json!({}));
    assert_eq!(stage.take_inbox(1), [format!("8 error -32001 on {session}")]);
}
