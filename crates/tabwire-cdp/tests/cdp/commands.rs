//! Commands and their responses: good, late, repeated, malformed and missing, against a scripted browser.

use std::time::Duration;

use serde_json::{Value, json};
use tabwire_api::{CdpSessionId, ErrorCode};
use tabwire_cdp::{CdpError, CdpSession, CloseReason, Connection, ResourceCounts, TaskGroup};

use crate::scripted_browser::{ScriptedBrowser, TIMEOUT, connect};

fn session(connection: &Connection, id: &str) -> CdpSession {
    connection.session(&CdpSessionId::new(id))
}

/// Runs a barrier command, so that all earlier frames of the browser are processed.
async fn barrier(connection: &Connection, browser: &mut ScriptedBrowser) {
    let pending = connection.browser().begin("Test.barrier", &(), TIMEOUT).expect("sends");
    let heard = browser.hear().await;
    let id = heard.split(' ').next().expect("an id");
    browser.say(format!(r#"{{"id":{id},"result":{{}}}}"#).as_bytes()).await;
    pending.response().await.expect("the barrier's response");
}

#[tokio::test(start_paused = true)]
async fn responses_are_the_browsers_own_bytes() {
    let tasks = TaskGroup::new();
    let (connection, mut browser) = connect(&tasks);
    let page = session(&connection, "S");
    let first = page.begin("Runtime.evaluate", &json!({"expression": "1"}), TIMEOUT).expect("sends");
    let second = connection.browser().begin("Browser.getVersion", &(), TIMEOUT).expect("sends");
    browser
        .play(
            r#"
            client> 1 Runtime.evaluate @S
            client> 2 Browser.getVersion
            browser> {"id":2,"result":{"product": "x"}}
            browser> {"id":1,"result":{"result":{"value": 1}},"sessionId":"S"}
            "#,
        )
        .await;
    let response = first.response().await.expect("a response");
    assert_eq!(response.bytes().as_ref(), br#"{"result":{"value": 1}}"#);
    assert_eq!(response.to::<Value>().expect("reads")["result"]["value"], 1);
    assert_eq!(second.response().await.expect("a response").bytes().as_ref(), br#"{"product": "x"}"#);
    assert_eq!(connection.resource_counts().commands, 0);
}

#[tokio::test(start_paused = true)]
async fn a_protocol_error_keeps_code_message_and_data() {
    let tasks = TaskGroup::new();
    let (connection, mut browser) = connect(&tasks);
    let pending = connection.browser().begin("No.such", &(), TIMEOUT).expect("sends");
    browser
        .play(r#"browser> {"id":1,"error":{"code":-32601,"message":"'No.such' wasn't found","data":"d"}}"#)
        .await;
    let error = pending.response().await.expect_err("refused");
    let expected = CdpError::Protocol {
        method: "No.such".into(),
        code: -32601,
        message: "'No.such' wasn't found".to_owned(),
        data: Some("\"d\"".to_owned()),
    };
    assert_eq!(error, expected);
    assert_eq!(error.into_failure().code, ErrorCode::UnknownMethod);
}

#[tokio::test(start_paused = true)]
async fn f18_the_first_of_two_responses_wins() {
    let tasks = TaskGroup::new();
    let (connection, mut browser) = connect(&tasks);
    let pending = connection.browser().begin("A.b", &(), TIMEOUT).expect("sends");
    browser
        .play(
            r#"
            client> 1 A.b
            browser> {"id":1,"result":{"n":1}}
            browser> {"id":1,"result":{"n":2}}
            browser> {"id":77,"result":{}}
            "#,
        )
        .await;
    barrier(&connection, &mut browser).await;
    assert_eq!(pending.response().await.expect("a response").bytes().as_ref(), br#"{"n":1}"#);
}

#[tokio::test(start_paused = true)]
async fn f19_a_response_after_the_timeout_is_ignored_and_its_id_not_reused() {
    let tasks = TaskGroup::new();
    let (connection, mut browser) = connect(&tasks);
    let error =
        connection.browser().send("A.slow", &(), Duration::from_secs(3)).await.expect_err("times out");
    assert_eq!(error, CdpError::Timeout { method: "A.slow".into(), after: Duration::from_secs(3) });
    assert_eq!(connection.resource_counts(), ResourceCounts::default());
    let next = connection.browser().begin("A.next", &(), TIMEOUT).expect("sends");
    browser
        .play(
            r#"
            client> 1 A.slow
            client> 2 A.next
            browser> {"id":1,"result":{"late":true}}
            browser> {"id":2,"result":{}}
            "#,
        )
        .await;
    assert_eq!(next.response().await.expect("a response").bytes().as_ref(), b"{}");
}

#[tokio::test(start_paused = true)]
async fn f20_a_command_without_a_response_leaves_nothing_behind() {
    let tasks = TaskGroup::new();
    let (connection, _browser) = connect(&tasks);
    let page = session(&connection, "S");
    let dropped = tokio::time::timeout(Duration::from_secs(1), page.send("A.b", &(), TIMEOUT)).await;
    assert!(dropped.is_err(), "the caller gave up first");
    drop(page.begin("A.c", &(), TIMEOUT).expect("sends"));
    assert_eq!(connection.resource_counts().commands, 0);
    let error = page.send("A.d", &(), Duration::from_secs(1)).await.expect_err("times out");
    assert!(matches!(error, CdpError::Timeout { .. }), "{error}");
    assert_eq!(connection.resource_counts().commands, 0);
}

#[tokio::test(start_paused = true)]
async fn response_on_a_wrong_cdp_session_is_never_delivered() {
    let tasks = TaskGroup::new();
    let (connection, mut browser) = connect(&tasks);
    let page = session(&connection, "S1");
    let pending = page.begin("A.b", &(), TIMEOUT).expect("sends");
    browser
        .play(
            r#"
            client> 1 A.b @S1
            browser> {"id":1,"result":{"of":"S2"},"sessionId":"S2"}
            browser> {"id":1,"result":{"of":"browser"}}
            browser> {"id":1,"result":{"of":"S1"},"sessionId":"S1"}
            "#,
        )
        .await;
    assert_eq!(pending.response().await.expect("a response").bytes().as_ref(), br#"{"of":"S1"}"#);
}

#[tokio::test(start_paused = true)]
async fn closed_link_fails_all_commands_and_sends_no_later_ones() {
    let tasks = TaskGroup::new();
    let (connection, browser) = connect(&tasks);
    let page = session(&connection, "S");
    let sent = page.begin("A.b", &(), TIMEOUT).expect("sends");
    let mut events = page.events(tabwire_cdp::EventFilter::Everything);
    drop(browser);
    assert_eq!(connection.closed().await, CloseReason::PeerClosed);
    let reason = CloseReason::PeerClosed;
    assert_eq!(
        sent.response().await,
        Err(CdpError::OutcomeUnknown { method: "A.b".into(), reason: reason.clone() })
    );
    assert_eq!(page.send("A.c", &(), TIMEOUT).await, Err(CdpError::Closed { reason: reason.clone() }));
    assert_eq!(events.next().await, Err(CdpError::Closed { reason }));
    assert_eq!(connection.resource_counts(), ResourceCounts::default());
    assert!(tasks.drained(TIMEOUT).await, "left running: {:?}", tasks.names());
}

#[tokio::test(start_paused = true)]
async fn queued_commands_are_sent_in_order_or_reported_unsent() {
    let tasks = TaskGroup::new();
    let (connection, mut browser) = connect(&tasks);
    let count = tabwire_cdp::limits::CHANNEL_FRAMES + 300;
    let pending: Vec<_> =
        (0..count).map(|_| connection.browser().begin("A.b", &(), TIMEOUT).expect("sends")).collect();
    for id in 1..=100 {
        assert_eq!(browser.hear().await, format!("{id} A.b"));
    }
    drop(browser);
    connection.closed().await;
    let mut unsent = 0;
    for pending in pending {
        match pending.response().await.expect_err("the link died") {
            CdpError::Closed { .. } => unsent += 1,
            CdpError::OutcomeUnknown { .. } => assert_eq!(unsent, 0, "sent commands come before unsent ones"),
            other => panic!("unexpected {other}"),
        }
    }
    assert!(unsent > 0, "the last commands were not sent");
    assert_eq!(connection.resource_counts(), ResourceCounts::default());
}

#[tokio::test(start_paused = true)]
async fn posted_commands_are_sent_from_the_queue_and_dropped_ones_are_not() {
    let tasks = TaskGroup::new();
    let (connection, mut browser) = connect(&tasks);
    let session = connection.browser();
    let count = tabwire_cdp::limits::CHANNEL_FRAMES + 10;
    let _pending: Vec<_> = (0..count).map(|_| session.begin("A.b", &(), TIMEOUT).expect("queued")).collect();
    drop(session.begin("A.dropped", &(), TIMEOUT).expect("queued"));
    session.post("A.posted", &(), TIMEOUT);
    for id in 1..=count {
        assert_eq!(browser.hear().await, format!("{id} A.b"));
    }
    assert_eq!(browser.hear().await, format!("{} A.posted", count + 2));
}

#[tokio::test(start_paused = true)]
async fn f16_malformed_frames_are_typed_errors_and_the_connection_survives() {
    let tasks = TaskGroup::new();
    let (connection, mut browser) = connect(&tasks);
    let page = session(&connection, "5A");
    let begin = |method| page.begin(method, &(), TIMEOUT).expect("sends");
    let (not_utf8, deep, surrogate, cut) =
        (begin("A.utf8"), begin("A.deep"), begin("A.lone"), begin("A.cut"));
    browser
        .play(
            r#"
            client> 1 A.utf8 @5A
            client> 2 A.deep @5A
            client> 3 A.lone @5A
            client> 4 A.cut @5A
            "#,
        )
        .await;
    browser.say(b"{\"id\":1,\"result\":{\"value\":\"\xff\xfe\"},\"sessionId\":\"5A\"}").await;
    let nested = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    browser.say(format!(r#"{{"id":2,"result":{{"value":{nested}}},"sessionId":"5A"}}"#).as_bytes()).await;
    browser.say(br#"{"id":3,"result":{"value":"\ud800"},"sessionId":"5A"}"#).await;
    browser.say(br#"{"id":4,"result":{"value":,"sessionId":"5A"}"#).await;
    for rubbish in ["", "x", "[]", "{}", "null", r#"{"id":-1}"#, r#"{"id":"1"}"#, r#"{"id":9,"id":9}"#] {
        browser.say(rubbish.as_bytes()).await;
    }
    let malformed = |error: CdpError| assert!(matches!(error, CdpError::Malformed { .. }), "{error}");
    malformed(not_utf8.response().await.expect_err("cannot be read"));
    malformed(deep.response().await.expect("is routed").to::<Value>().expect_err("too deep to build"));
    let mended = surrogate.response().await.expect("is routed").to::<Value>().expect("is mended");
    assert_eq!(mended["value"], "\u{fffd}", "a lone surrogate is replaced, the rest is kept");
    malformed(cut.response().await.expect_err("cannot be read"));
    barrier(&connection, &mut browser).await;
}
