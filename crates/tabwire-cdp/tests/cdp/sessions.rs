//! CDP sessions, events, domains and targets against a scripted browser.

use std::time::Duration;

use tabwire_api::{CdpSessionId, TargetId};
use tabwire_cdp::{
    CdpError, CloseReason, Connection, Event, EventFilter, ResourceCounts, TargetRegistry, TaskGroup,
};

use crate::scripted_browser::{ScriptedBrowser, TIMEOUT, connect};

fn id(text: &str) -> CdpSessionId {
    CdpSessionId::new(text)
}

fn params(event: Result<Event, CdpError>) -> String {
    String::from_utf8_lossy(event.expect("an event").params()).into_owned()
}

#[tokio::test(start_paused = true)]
async fn f21_events_before_the_attach_reply_are_held_in_order() {
    let tasks = TaskGroup::new();
    let (connection, mut browser) = connect(&tasks);
    let attach = connection.browser().begin("Target.attachToTarget", &(), TIMEOUT).expect("sends");
    browser
        .play(
            r#"
            client> 1 Target.attachToTarget
            browser> {"method":"Target.attachedToTarget","params":{"sessionId":"S","targetInfo":{}}}
            browser> {"method":"Page.first","params":{"n":1},"sessionId":"S"}
            browser> {"method":"Other.event","params":{},"sessionId":"S"}
            browser> {"method":"Page.first","params":{"n":2},"sessionId":"S"}
            browser> {"id":1,"result":{"sessionId":"S"}}
            "#,
        )
        .await;
    attach.response().await.expect("attached");
    let page = connection.session(&id("S"));
    let mut events = page.events(EventFilter::methods(["Page.first"]));
    let mut all = page.events(EventFilter::Everything);
    browser.play(r#"browser> {"method":"Page.first","params":{"n":3},"sessionId":"S"}"#).await;
    for expected in [r#"{"n":1}"#, r#"{"n":2}"#, r#"{"n":3}"#] {
        assert_eq!(params(events.next().await), expected);
    }
    let mut seen = Vec::new();
    for _ in 0..4 {
        seen.push(all.next().await.expect("an event").method().to_owned());
    }
    assert_eq!(seen, ["Page.first", "Other.event", "Page.first", "Page.first"]);
    drop(page.begin("A.b", &(), TIMEOUT).expect("sends"));
    let mut late = page.events(EventFilter::Everything);
    browser.play(r#"browser> {"method":"Page.last","params":{},"sessionId":"S"}"#).await;
    assert_eq!(late.next().await.expect("an event").method(), "Page.last");
}

#[tokio::test(start_paused = true)]
async fn detached_session_fails_its_own_and_its_childrens_commands() {
    let tasks = TaskGroup::new();
    let (connection, mut browser) = connect(&tasks);
    browser
        .play(
            r#"
            browser> {"method":"Target.attachedToTarget","params":{"sessionId":"P"}}
            browser> {"method":"Target.attachedToTarget","params":{"sessionId":"C"},"sessionId":"P"}
            browser> {"method":"Target.attachedToTarget","params":{"sessionId":"G"},"sessionId":"C"}
            browser> {"method":"Target.attachedToTarget","params":{"sessionId":"Q"}}
            "#,
        )
        .await;
    let [parent, child, grandchild, other] = ["P", "C", "G", "Q"].map(|name| connection.session(&id(name)));
    let mut events = grandchild.events(EventFilter::Everything);
    let begin = |session: &tabwire_cdp::CdpSession| session.begin("A.b", &(), TIMEOUT).expect("sends");
    let pending = [begin(&parent), begin(&child), begin(&grandchild)];
    let survivor = begin(&other);
    browser
        .play(
            r#"
            browser> {"method":"Target.detachedFromTarget","params":{"sessionId":"P"}}
            browser> {"id":4,"result":{},"sessionId":"Q"}
            "#,
        )
        .await;
    survivor.response().await.expect("the other session lives");
    for (pending, name) in pending.into_iter().zip(["P", "C", "G"]) {
        assert_eq!(pending.response().await, Err(CdpError::SessionGone { session: id(name) }));
    }
    assert_eq!(events.next().await, Err(CdpError::SessionGone { session: id("G") }));
    assert_eq!(child.send("A.c", &(), TIMEOUT).await, Err(CdpError::SessionGone { session: id("C") }));
    let again = connection.session(&id("P"));
    assert_eq!(again.send("A.c", &(), TIMEOUT).await, Err(CdpError::SessionGone { session: id("P") }));
    assert_eq!(connection.resource_counts(), ResourceCounts { sessions: 1, ..ResourceCounts::default() });
}

#[tokio::test(start_paused = true)]
async fn unknown_session_is_gone() {
    let tasks = TaskGroup::new();
    let (connection, mut browser) = connect(&tasks);
    let page = connection.session(&id("S"));
    let pending = page.begin("A.b", &(), TIMEOUT).expect("sends");
    browser
        .play(r#"browser> {"error":{"code":-32001,"message":"Session not found."},"id":1,"sessionId":"S"}"#)
        .await;
    assert_eq!(pending.response().await, Err(CdpError::SessionGone { session: id("S") }));
    assert!(page.is_gone());
}

#[tokio::test(start_paused = true)]
async fn slow_listener_receives_missed_count() {
    let tasks = TaskGroup::new();
    let (connection, mut browser) = connect(&tasks);
    let page = connection.session(&id("S"));
    let mut events = page.events_bounded(EventFilter::Everything, 2);
    let barrier = page.begin("A.b", &(), TIMEOUT).expect("sends");
    for n in 0..5 {
        browser.say(format!(r#"{{"method":"A.e","params":{n},"sessionId":"S"}}"#).as_bytes()).await;
    }
    browser.play(r#"browser> {"id":1,"result":{},"sessionId":"S"}"#).await;
    barrier.response().await.expect("a response");
    assert_eq!(params(events.next().await), "0");
    assert_eq!(params(events.next().await), "1");
    assert_eq!(events.next().await, Err(CdpError::Missed { count: 3 }));
}

#[tokio::test(start_paused = true)]
async fn an_event_before_the_response_is_received() {
    let tasks = TaskGroup::new();
    let (connection, mut browser) = connect(&tasks);
    let page = connection.session(&id("S"));
    let mut done = page.events(EventFilter::methods(["Page.done"]));
    let navigate = page.begin("Page.navigate", &(), TIMEOUT).expect("sends");
    browser
        .play(
            r#"
            browser> {"method":"Page.done","params":{"n":1},"sessionId":"S"}
            browser> {"method":"Page.done","params":{"n":2},"sessionId":"S"}
            browser> {"id":1,"result":{},"sessionId":"S"}
            "#,
        )
        .await;
    navigate.response().await.expect("a response");
    let second = done.find(|event| event.params().as_ref() == b"{\"n\":2}", TIMEOUT).await.expect("arrives");
    assert_eq!(second.method(), "Page.done");
    let error = done.next_within(Duration::from_secs(2)).await.expect_err("never comes");
    assert_eq!(error, CdpError::Timeout { method: "Page.done".into(), after: Duration::from_secs(2) });
    drop(done);
    assert_eq!(connection.resource_counts().listeners, 0);
}

#[tokio::test(start_paused = true)]
async fn a_domain_is_enabled_once_and_again_after_a_failure() {
    let tasks = TaskGroup::new();
    let (connection, mut browser) = connect(&tasks);
    let page = connection.session(&id("S"));
    let same = connection.session(&id("S"));
    let script = async {
        browser
            .play(
                r#"
                client> 1 Page.enable @S
                browser> {"id":1,"error":{"code":-32000,"message":"not now"},"sessionId":"S"}
                client> 2 Page.enable @S
                browser> {"id":2,"result":{},"sessionId":"S"}
                "#,
            )
            .await;
    };
    let (first, second, third, ()) =
        tokio::join!(page.enable("Page"), same.enable("Page"), page.enable("Page"), script);
    assert!(matches!(first, Err(CdpError::Protocol { code: -32000, .. })), "{first:?}");
    assert_eq!((second, third), (Ok(()), Ok(())));
    assert_eq!(page.enable("Page").await, Ok(()), "nothing is sent again");
    browser.play(r#"browser> {"method":"Target.detachedFromTarget","params":{"sessionId":"S"}}"#).await;
    let mut events = page.events(EventFilter::Everything);
    assert_eq!(events.next().await, Err(CdpError::SessionGone { session: id("S") }));
}

async fn registry(connection: &Connection, browser: &mut ScriptedBrowser) -> TargetRegistry {
    let script = browser.play(
        r#"
        client> 1 Target.setDiscoverTargets
        browser> {"method":"Target.targetCreated","params":{"targetInfo":{"targetId":"U","type":"browser_ui","new":1}}}
        browser> {"method":"Target.targetCreated","params":{"targetInfo":{"targetId":"T","type":"page","browserContextId":"X"}}}
        browser> {"id":1,"result":{}}
        "#,
    );
    let (registry, ()) = tokio::join!(TargetRegistry::start(connection, TIMEOUT), script);
    registry.expect("starts")
}

fn listed(registry: &TargetRegistry) -> Vec<String> {
    registry.list().iter().map(|info| format!("{} {} {}", info.target_id, info.kind, info.url)).collect()
}

#[tokio::test(start_paused = true)]
async fn targets_are_created_changed_and_destroyed() {
    let tasks = TaskGroup::new();
    let (connection, mut browser) = connect(&tasks);
    let registry = registry(&connection, &mut browser).await;
    assert_eq!(listed(&registry), ["U browser_ui ", "T page "]);
    let mut destroyed = registry.on_destroyed();
    let mut created = registry.on_created();
    browser
        .play(
            r#"
            browser> {"method":"Target.targetCreated","params":{"targetInfo":{"targetId":"V","type":"odd"}}}
            browser> {"method":"Target.targetCreated","params":{"targetInfo":{"targetId":"W","type":"page","openerId":"T"}}}
            browser> {"method":"Target.targetInfoChanged","params":{"targetInfo":{"targetId":"W","type":"page","url":"a:b"}}}
            browser> {"method":"Target.targetInfoChanged","params":{"targetInfo":{"targetId":"?","type":"page"}}}
            browser> {"method":"Target.targetDestroyed","params":{"targetId":"U"}}
            browser> {"method":"Target.targetDestroyed","params":{"targetId":"?"}}
            "#,
        )
        .await;
    let popup =
        created.find(|info| info.opener_id == Some(TargetId::new("T")), TIMEOUT).await.expect("arrives");
    assert_eq!(popup.target_id, TargetId::new("W"));
    assert_eq!(destroyed.next_within(TIMEOUT).await.expect("goes").kind, "browser_ui");
    assert_eq!(listed(&registry), ["T page ", "V odd ", "W page a:b"]);
}

#[tokio::test(start_paused = true)]
async fn dropping_the_last_handle_ends_the_tasks() {
    let tasks = TaskGroup::new();
    let (connection, _browser) = connect(&tasks);
    let page = connection.session(&id("S"));
    drop(connection);
    assert_eq!(tasks.len(), 2);
    drop(page);
    assert!(tasks.drained(TIMEOUT).await, "left running: {:?}", tasks.names());
}

#[tokio::test(start_paused = true)]
async fn shutting_the_task_group_down_closes_its_connections() {
    let tasks = TaskGroup::new();
    let (connection, _browser) = connect(&tasks);
    let pending = connection.browser().begin("A.b", &(), TIMEOUT).expect("sends");
    assert!(tasks.shutdown(TIMEOUT).await.is_empty());
    assert!(matches!(pending.response().await, Err(CdpError::OutcomeUnknown { .. })));
    assert_eq!(connection.closed().await, CloseReason::ClosedHere);
}
