//! Tests of requests to a Grid and of its responses.

use serde_json::{Value, json};
use tabwire_api::ErrorCode;

use super::{Grid, GridStatus, SlotState};

fn grid() -> Grid {
    Grid::parse("http://me:p%40ss@grid.example:4444/wd/hub/", &["X-Team: a".to_owned()]).expect("a Grid")
}

#[test]
fn credentials_in_the_url_become_a_header_and_are_never_shown() {
    let grid = grid();
    let request = grid.release("abc/d");
    assert_eq!(request.url.as_str(), "http://grid.example:4444/wd/hub/session/abc%2Fd");
    let basic = request.headers.iter().find(|header| header.name == "Authorization").expect("a header");
    assert_eq!(basic.value, "Basic bWU6cEBzcw==");
    let shown = format!("{grid} {grid:?} {request:?}");
    assert!(!shown.contains("ss@") && !shown.contains("abc") && !shown.contains("bWU6"), "{shown}");
    for bad in ["ftp://g", "", "http://", "ws://g/"] {
        assert!(Grid::parse(bad, &[]).is_err(), "{bad}");
    }
    assert_eq!(Grid::parse("grid:4444", &[]).expect("a Grid").to_string(), "http://grid:4444");
}

#[test]
fn every_form_of_capabilities_becomes_a_named_request() {
    let plain = json!({"browserName": "chrome", "se:name": "mine"});
    for given in [
        plain.clone(),
        json!({"alwaysMatch": plain.clone()}),
        json!({"capabilities": {"alwaysMatch": plain, "firstMatch": [{}]}}),
    ] {
        let request = grid().create("tabwire-1", Some(&given)).expect("a request");
        let body = request.body.expect("a body");
        assert_eq!(
            body.pointer("/capabilities/alwaysMatch/se:name"),
            Some(&json!("mine tabwire-1")),
            "{given}"
        );
        let choices = body.pointer("/capabilities/firstMatch");
        assert_eq!(choices, Some(&json!([{"se:downloadsEnabled": true}, {}])), "{given}");
    }
    let body = grid().create("tabwire-1", None).expect("a request").body.expect("a body");
    assert_eq!(body.pointer("/capabilities/alwaysMatch/browserName"), Some(&json!("chrome")));
    for bad in [json!([]), json!({"firstMatch": 1}), json!({"firstMatch": [1]}), json!("x")] {
        assert!(grid().create("n", Some(&bad)).is_err(), "{bad}");
    }
    let other = grid().create("n", Some(&json!({"browserName": "safari"}))).expect_err("refused");
    assert_eq!(other.code, ErrorCode::NoBackend);
}

#[test]
fn the_websocket_is_reached_at_the_requested_host() {
    let session = |address: &str| {
        let capabilities = json!({"browserName": "chrome", "browserVersion": "156", "se:cdp": address});
        let body = json!({"value": {"sessionId": "s", "capabilities": capabilities}}).to_string();
        grid().read_session(200, body.as_bytes()).expect("a session")
    };
    let found = session("ws://172.17.0.2:4444/session/s/se/cdp");
    assert_eq!(found.address.expect("an address").as_str(), "ws://grid.example:4444/session/s/se/cdp");
    let cloud = session("wss://cdp.cloud.example/x?key=1").address.expect("an address");
    assert!(cloud.host_str() == Some("cdp.cloud.example") && !grid().serves(&cloud));
    assert_eq!(session("").address, None);
    assert_eq!(session("http://h/session/s/se/cdp").address, None);
    assert_eq!(found.product, "chrome 156");
}

#[test]
fn a_firefox_is_asked_for_its_websocket_and_reached_there() {
    let always = json!({"browserName": "firefox"});
    for given in [always.clone(), json!({"firstMatch": [always]})] {
        let body = grid().create("n", Some(&given)).expect("a request").body.expect("a body");
        assert!(body.to_string().contains("\"webSocketUrl\":true"), "{body}");
    }
    let capabilities = json!({
        "browserName": "firefox", "browserVersion": "153.0", "userAgent": "agent", "se:cdp": "ws://h/session/s/se/cdp",
        "webSocketUrl": "ws://172.17.0.2:4444/session/s/se/bidi",
    });
    let body = json!({"value": {"sessionId": "s", "capabilities": capabilities}}).to_string();
    let session = grid().read_session(200, body.as_bytes()).expect("a session");
    assert_eq!(session.address.expect("an address").as_str(), "ws://grid.example:4444/session/s/se/bidi");
    assert_eq!((session.product.as_str(), session.firefox.as_deref()), ("firefox 153.0", Some("agent")));
}

#[test]
fn every_refusal_of_a_session_has_its_code() {
    for (status, body, code) in [
        (401, json!({}), ErrorCode::NoBackend),
        (500, json!({"value": {"error": "session not created", "message": "x"}}), ErrorCode::LaunchFailed),
        (400, json!({"value": {"error": "invalid argument", "message": "x"}}), ErrorCode::BadArgs),
        (404, json!({}), ErrorCode::NoBackend),
        (200, json!({"hello": 1}), ErrorCode::NoBackend),
        (503, json!({}), ErrorCode::NoBackend),
    ] {
        let failure = grid().read_session(status, body.to_string().as_bytes()).expect_err("refused");
        assert_eq!(failure.code, code, "{status} {body}");
        assert!(failure.remedy.is_some(), "{status} {body}");
    }
}

fn status(nodes: Value) -> GridStatus {
    let body = json!({"value": {"ready": true, "message": "", "nodes": nodes}}).to_string();
    GridStatus::read(body.as_bytes()).expect("a status")
}

#[test]
fn the_status_tells_node_session_and_free_slots() {
    let slot = |session: Value| json!({"stereotype": {"browserName": "chrome"}, "session": session});
    let session = json!({"sessionId": "s1", "capabilities": {"se:name": "mine tabwire-1"}});
    let node = |availability: &str, slots: Value| json!([{"uri": "http://n:5555", "availability": availability, "sessionTimeout": 300_000, "slots": slots}]);
    let full = status(node("UP", json!([slot(session.clone())])));
    assert_eq!(full.slots_for(None), SlotState::Full { used: 1, slots: 1 });
    let found = full.find_node("s1").expect("its node");
    assert_eq!((found.uri.as_str(), found.idle_seconds), ("http://n:5555", Some(300)));
    assert!(full.named("tabwire-1").eq(["s1"]) && full.named("tabwire-2").next().is_none());
    let edge = json!({"browserName": "MicrosoftEdge"});
    assert_eq!(full.slots_for(Some(&edge)), SlotState::NoMatch);
    assert_eq!(status(node("UP", json!([slot(Value::Null)]))).slots_for(None), SlotState::Free);
    assert_eq!(status(node("DOWN", json!([slot(Value::Null)]))).slots_for(None), SlotState::NoNode);
    assert_eq!(GridStatus::read(b"{\"status\": \"ok\"}"), None);
    for state in
        [SlotState::NoNode, SlotState::NoMatch, SlotState::Full { used: 1, slots: 1 }, SlotState::Free]
    {
        assert!(grid().no_slot(state, Some(9), Some(2)).remedy.is_some(), "{state:?}");
    }
}
