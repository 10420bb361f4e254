//! The client against a real Chromium, over a pipe and over a websocket.

use std::time::Duration;

use serde_json::{Value, json};
use tabwire_api::TargetId;
use tabwire_cdp::{CdpError, CdpSession, CloseReason, EventFilter, TargetRegistry};

use crate::chromium::{Chromium, Link, TIMEOUT};

async fn evaluate(page: &CdpSession, expression: &str) -> Value {
    let params = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
    let response = page.send("Runtime.evaluate", &params, TIMEOUT).await.expect("evaluates");
    response.to::<Value>().expect("reads")["result"]["value"].take()
}

async fn open_page(registry: &TargetRegistry, url: &str) -> (TargetId, CdpSession) {
    let params = json!({ "url": url });
    let browser = registry.connection().browser();
    let created = browser.send("Target.createTarget", &params, TIMEOUT).await.expect("opens");
    let target = TargetId::new(created.to::<Value>().expect("reads")["targetId"].as_str().expect("an id"));
    let page = registry.attach(&target, TIMEOUT).await.expect("attaches");
    (target, page)
}

async fn start(link: Link) -> (Chromium, TargetRegistry) {
    let chromium = Chromium::start(link).await;
    let registry = TargetRegistry::start(&chromium.connection, TIMEOUT).await.expect("lists targets");
    (chromium, registry)
}

async fn pages_work(link: Link) {
    let (chromium, registry) = start(link).await;
    let (_, page) = open_page(&registry, "about:blank").await;
    page.enable("Page").await.expect("enables");
    assert_eq!(evaluate(&page, "6 * 7").await, 42);

    let mut loaded = page.events(EventFilter::methods(["Page.loadEventFired"]));
    let url = "data:text/html,<title>hello</title>";
    page.send("Page.navigate", &json!({ "url": url }), TIMEOUT).await.expect("navigates");
    loaded.next_within(TIMEOUT).await.expect("loads");
    assert_eq!(evaluate(&page, "document.title").await, "hello");

    let large = evaluate(&page, "'x'.repeat(20_000_000)").await;
    assert_eq!(large.as_str().map(str::len), Some(20_000_000));
    let params = json!({ "expression": format!("'{}'.length", "y".repeat(3_000_000)) });
    let sent = page.send("Runtime.evaluate", &params, TIMEOUT).await.expect("a large command arrives");
    assert_eq!(sent.to::<Value>().expect("reads")["result"]["value"], 3_000_000);

    let many: Vec<_> = (0..300)
        .map(|n| page.begin("Runtime.evaluate", &json!({ "expression": n.to_string() }), TIMEOUT))
        .collect();
    for (n, pending) in many.into_iter().enumerate() {
        let response = pending.expect("is sent").response().await.expect("a response");
        assert_eq!(response.to::<Value>().expect("reads")["result"]["value"], n);
    }
    assert_eq!(chromium.connection.resource_counts().commands, 0);
}

#[tokio::test]
async fn pages_work_over_a_pipe() {
    pages_work(Link::Pipe).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_work_over_a_websocket() {
    pages_work(Link::WebSocket).await;
}

#[tokio::test]
async fn dialog_events_arrive_while_the_page_is_blocked() {
    let (_chromium, registry) = start(Link::Pipe).await;
    let (_, page) = open_page(&registry, "about:blank").await;
    page.enable("Page").await.expect("enables");
    let mut opening = page.events(EventFilter::methods(["Page.javascriptDialogOpening"]));
    let params = json!({ "expression": "confirm('sure?')" });
    let asking = page.begin("Runtime.evaluate", &params, TIMEOUT).expect("sends");
    let dialog: Value = opening.next_within(TIMEOUT).await.expect("opens").to().expect("reads");
    assert_eq!(dialog["message"], "sure?");
    let accept = json!({ "accept": true });
    page.send("Page.handleJavaScriptDialog", &accept, TIMEOUT).await.expect("accepts");
    let response: Value = asking.response().await.expect("goes on").to().expect("reads");
    assert_eq!(response["result"]["value"], true);
}

#[tokio::test]
async fn disposing_a_context_destroys_its_targets() {
    let (chromium, registry) = start(Link::Pipe).await;
    let browser = chromium.connection.browser();
    let made = browser.send("Target.createBrowserContext", &json!({}), TIMEOUT).await.expect("creates");
    let context = made.to::<Value>().expect("reads")["browserContextId"].clone();
    let mut created = registry.on_created();
    let params = json!({ "url": "about:blank", "browserContextId": context });
    browser.send("Target.createTarget", &params, TIMEOUT).await.expect("opens");
    let target = created.find(|info| info.is_page(), TIMEOUT).await.expect("arrives").target_id;
    let page = registry.attach(&target, TIMEOUT).await.expect("attaches");
    assert_eq!(evaluate(&page, "1").await, 1);
    let mut destroyed = registry.on_destroyed();

    let params = json!({ "browserContextId": context });
    browser.send("Target.disposeBrowserContext", &params, TIMEOUT).await.expect("disposes");

    destroyed.find(|info| info.target_id == target, TIMEOUT).await.expect("arrives");
    assert_eq!(registry.find(&target), None);
    let error = page.send("Runtime.evaluate", &json!({ "expression": "1" }), TIMEOUT).await;
    assert!(matches!(error, Err(CdpError::SessionGone { .. })), "{error:?}");
}

#[tokio::test]
async fn a_popup_is_found_by_its_opener() {
    let (_chromium, registry) = start(Link::Pipe).await;
    // Not a data: page: Chromium 156.0.8078.79 crashes when one opens about:blank.
    let (target, page) = open_page(&registry, "about:blank").await;
    let mut created = registry.on_created();
    let params = json!({ "expression": "void open('about:blank')", "userGesture": true });
    page.send("Runtime.evaluate", &params, TIMEOUT).await.expect("evaluates");
    let popup =
        created.find(|info| info.opener_id.as_ref() == Some(&target), TIMEOUT).await.expect("arrives");
    assert!(popup.is_page());
}

#[tokio::test]
async fn a_session_detached_during_a_command_fails_it_typed() {
    let (chromium, registry) = start(Link::Pipe).await;
    let (target, page) = open_page(&registry, "about:blank").await;
    let forever = json!({ "expression": "new Promise(() => {})", "awaitPromise": true });
    let pending = page.begin("Runtime.evaluate", &forever, TIMEOUT).expect("sends");
    let close = json!({ "targetId": target });
    chromium.connection.browser().send("Target.closeTarget", &close, TIMEOUT).await.expect("closes");
    let error = pending.response().await.expect_err("the session is detached");
    // Chrome responds to some commands itself when their target closes; both errors mean that the target is
    // gone.
    let closed = matches!(&error, CdpError::Protocol { message, .. } if message.contains("closed"));
    assert!(closed || matches!(error, CdpError::SessionGone { .. }), "{error:?}");

    let (_, page) = open_page(&registry, "about:blank").await;
    let pending = page.begin("Runtime.evaluate", &forever, TIMEOUT).expect("sends");
    page.detach(TIMEOUT).await.expect("detaches");
    assert!(matches!(pending.response().await, Err(CdpError::SessionGone { .. })));
    assert_eq!(chromium.connection.resource_counts().commands, 0);
}

async fn kill_fails_all_pending(link: Link) {
    let (mut chromium, registry) = start(link).await;
    let (_, page) = open_page(&registry, "about:blank").await;
    let forever = json!({ "expression": "new Promise(() => {})", "awaitPromise": true });
    let begin = || page.begin("Runtime.evaluate", &forever, TIMEOUT).expect("sends");
    let pending: Vec<_> = (0..50).map(|_| begin()).collect();
    assert_eq!(evaluate(&page, "1").await, 1, "all of them have arrived");

    chromium.kill();
    let all = async {
        for pending in pending {
            let error = pending.response().await.expect_err("the browser is dead");
            assert!(matches!(error, CdpError::OutcomeUnknown { .. }), "{error:?}");
        }
    };
    tokio::time::timeout(Duration::from_millis(250), all).await.expect("all fail within 250 ms");

    let error = page.send("Runtime.evaluate", &forever, TIMEOUT).await.expect_err("the link is closed");
    assert!(matches!(error, CdpError::Closed { .. }), "{error:?}");
    assert_ne!(chromium.connection.closed().await, CloseReason::ClosedHere);
    assert_eq!(chromium.connection.resource_counts(), Default::default());
    assert!(registry.list().is_empty());
    assert!(chromium.tasks.drained(TIMEOUT).await, "left running: {:?}", chromium.tasks.names());
}

#[tokio::test]
async fn f01_killed_browser_fails_all_pending_commands_over_a_pipe() {
    kill_fails_all_pending(Link::Pipe).await;
}

#[tokio::test]
async fn f01_killed_browser_fails_all_pending_commands_over_a_websocket() {
    kill_fails_all_pending(Link::WebSocket).await;
}

#[tokio::test]
async fn f16_page_may_return_a_lone_surrogate() {
    let (_chromium, registry) = start(Link::Pipe).await;
    let (_, page) = open_page(&registry, "about:blank").await;
    let params = json!({ "expression": "'a\\ud800b'", "returnByValue": true });
    let response = page.send("Runtime.evaluate", &params, TIMEOUT).await;
    match response.and_then(|response| response.to::<Value>()) {
        Ok(value) => assert_eq!(value["result"]["value"], "a\u{fffd}b"),
        Err(error) => assert!(matches!(error, CdpError::Malformed { .. }), "{error:?}"),
    }
    assert_eq!(evaluate(&page, "2").await, 2);
}
