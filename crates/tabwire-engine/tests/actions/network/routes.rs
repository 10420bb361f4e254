//! `route` and `unroute`: matching requests are aborted, fulfilled or changed in every frame; others pass.

use std::time::Duration;

use serde_json::{Value, json};
use tabwire_api::ErrorCode;

use crate::actions::support::stage::Stage;

/// Fetches in the page and returns the status and the text, or the error's name.
async fn fetched(stage: &Stage, url: &str) -> Value {
    let script = format!(
        "fetch('{url}').then((response) => response.text().then((text) => response.status + ' ' + text), (error) => error.name)"
    );
    stage.eval(&script).await
}

#[tokio::test(flavor = "multi_thread")]
async fn routes_abort_fulfil_and_pass_requests() {
    let stage = Stage::at("/requests").await;
    stage.act("route", json!({"url": "/api/echo?value=no", "abort": "connection-refused"})).await;
    let body = json!({"url": "*/api/made-up", "status": 418, "header": ["X-Made: here"], "body": "tea"});
    let added = stage.act("route", body).await;
    assert_eq!(added["added"], 2);
    assert_eq!(fetched(&stage, "/api/echo?value=no").await, "TypeError");
    assert_eq!(fetched(&stage, "/api/echo?value=yes").await, "200 echo yes");
    assert_eq!(fetched(&stage, "/api/made-up").await, "418 tea");
    assert_eq!((stage.site.request_count("/api/echo"), stage.site.request_count("/api/made-up")), (1, 0));
    assert_eq!(
        stage.eval("fetch('/api/made-up').then((response) => response.headers.get('x-made'))").await,
        "here"
    );
    // A mocked cross-origin response is readable, also after a preflight request.
    let other = stage.site.url("b", "/api/made-up");
    let script =
        format!("fetch('{other}', {{method: 'PUT', headers: {{'x-odd': '1'}}}}).then((a) => a.text())");
    assert_eq!(stage.eval(&script).await, "tea");
    // Routes survive navigation, and the list counts hits.
    stage.open("/plain").await;
    assert_eq!(fetched(&stage, "/api/made-up").await, "418 tea");
    let text = stage.text("route", json!({})).await;
    assert!(text.contains("abort (ConnectionRefused) (hits: 1)") && text.contains("status 418"), "{text}");
    let failed = stage.act("requests", json!({"url": "value=no"})).await;
    assert_eq!(failed["requests"][0]["from"], "route 1", "{failed}");
    stage.act("unroute", json!({"route": "2"})).await;
    assert!(fetched(&stage, "/api/made-up").await.as_str().expect("text").starts_with("404"));
    stage.act("unroute", json!({"all": true})).await;
    assert_eq!(fetched(&stage, "/api/echo?value=no").await, "200 echo no");
}

#[tokio::test(flavor = "multi_thread")]
async fn routes_change_the_url_of_a_fetch() {
    let stage = Stage::at("/requests").await;
    let to = stage.site.url("a", "/echo?new=1");
    let change = json!({"url": "/api/old", "to_url": to, "to_method": "put", "set_header": ["X-Added: yes"],
        "remove_header": ["x-gone"], "post_data": "changed"});
    stage.act("route", change).await;
    let seen = stage
        .eval("fetch('/api/old', {method: 'POST', body: 'old', headers: {'x-gone': '1', 'x-kept': '2'}}).then((a) => a.json())")
        .await;
    assert_eq!(
        (&seen["method"], &seen["body"], &seen["query"]["new"]),
        (&json!("PUT"), &json!("changed"), &json!("1"))
    );
    let headers = &seen["headers"];
    assert_eq!((&headers["x-added"], &headers["x-kept"]), (&json!("yes"), &json!("2")), "{seen}");
    assert!(headers.get("x-gone").is_none(), "{seen}");
    assert_eq!(stage.site.request_count("/api/old"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn routes_respect_kind_and_times_and_change_what_is_sent() {
    let stage = Stage::at("/requests").await;
    let change = json!({"url": "/echo?old=1", "to_method": "put", "set_header": ["X-Added: yes"],
        "remove_header": ["x-gone"], "post_data": "changed"});
    stage.act("route", change).await;
    let seen = stage
        .eval("fetch('/echo?old=1', {method: 'POST', body: 'old', headers: {'x-gone': '1', 'x-kept': '2'}}).then((a) => a.json())")
        .await;
    assert_eq!((&seen["method"], &seen["body"]), (&json!("PUT"), &json!("changed")));
    let headers = &seen["headers"];
    assert_eq!((&headers["x-added"], &headers["x-kept"]), (&json!("yes"), &json!("2")), "{seen}");
    assert!(headers.get("x-gone").is_none(), "{seen}");
    stage.act("route", json!({"url": "*", "type": ["image"], "abort": "blocked"})).await;
    assert_eq!(stage.eval("viaImage()").await, "image failed");
    assert_eq!(fetched(&stage, "/api/echo?value=1").await, "200 echo 1");
    stage.act("route", json!({"url": "value=2", "body": "once", "times": 1})).await;
    assert_eq!(fetched(&stage, "/api/echo?value=2").await, "200 once");
    assert_eq!(fetched(&stage, "/api/echo?value=2").await, "200 echo 2");
}

#[tokio::test(flavor = "multi_thread")]
async fn routes_apply_in_existing_and_later_cross_process_frames() {
    let stage = Stage::at("/plain").await;
    let inner = "<script>const ask = async () => {\
        const text = await (await fetch('/api/echo?value=deep')).text();\
        top.postMessage(text, '*'); setTimeout(ask, 20); }; ask();</script>";
    stage
        .act("route", json!({"url": "/made/frame", "body": inner, "header": ["content-type: text/html"]}))
        .await;
    stage.eval("window.said = []; addEventListener('message', (event) => said.push(event.data)); 0").await;
    let frame = async |name: &str| {
        let url = stage.site.url(name, "/made/frame");
        stage
            .eval(&format!(
                "document.body.append(Object.assign(document.createElement('iframe'), {{src: '{url}'}}))"
            ))
            .await;
    };
    frame("b").await;
    stage.until("said.includes('echo deep')").await;
    assert_eq!(stage.site.request_count("/made/frame"), 0);
    // A frame that exists.
    stage.act("route", json!({"url": "/api/echo", "body": "from the route"})).await;
    stage.until("said.includes('from the route')").await;
    let visits = stage.site.request_count("/api/echo");
    // A later frame, in its own process.
    stage.eval("window.said = []; 0").await;
    frame("c").await;
    stage.until("said.length > 5").await;
    assert_eq!(stage.eval("said.filter((text) => text !== 'from the route').length").await, 0);
    assert_eq!(stage.site.request_count("/api/echo"), visits);
    stage.act("unroute", json!({"all": true})).await;
    stage.until("said.includes('echo deep')").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn request_with_a_refused_change_continues_unchanged() {
    let stage = Stage::at("/plain").await;
    // Chrome refuses a changed Content-Length.
    stage.act("route", json!({"url": "/api/echo", "set_header": ["Content-Length: 7"]})).await;
    assert_eq!(fetched(&stage, "/api/echo?value=1").await, "200 echo 1");
    assert_eq!(stage.act("route", json!({})).await["routes"][0]["refused"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn route_rejects_bad_input_and_wrong_moments() {
    let stage = Stage::at("/plain").await;
    for bad in [
        json!({"url": "/x"}),
        json!({"abort": "blocked"}),
        json!({"url": "/x", "abort": "sometimes"}),
        json!({"url": "/x", "abort": "blocked", "body": "x"}),
        json!({"url": "/x", "body": "x", "body_file": "y"}),
        json!({"url": "/x", "status": 99}),
        json!({"url": "/x", "body": "x", "header": ["nothing"]}),
        json!({"url": "/x", "body": "x", "times": 0}),
        json!({"url": "/x", "to_url": "about:blank"}),
        json!({"url": "/x", "to_url": "http://["}),
        json!({"url": "/x", "to_method": "G T"}),
        json!({"url": "/x", "body_file": "/nowhere/at/all"}),
    ] {
        stage.fails(ErrorCode::BadArgs, "route", bad).await;
    }
    for bad in [json!({}), json!({"route": "7"}), json!({"route": "1", "all": true})] {
        stage.fails(ErrorCode::BadArgs, "unroute", bad).await;
    }
    assert_eq!(stage.text("route", json!({})).await, "no routes");
    stage.check_wrong_moments("route", json!({"url": "/x", "abort": "blocked"})).await;
    stage.check_wrong_moments("unroute", json!({"all": true})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn worker_requests_are_listed_and_routed() {
    let stage = Stage::at("/worker/dedicated").await;
    stage.until("document.getElementById('answer').textContent === '42'").await;
    let url = stage.site.url("a", "/api/echo?value=worker");
    let code = format!(
        "onmessage = () => fetch('{url}').then((response) => response.text()).then((text) => postMessage(text))"
    );
    stage.eval(&format!("window.asker = new Worker(URL.createObjectURL(new Blob([\"{code}\"]))); 0")).await;
    let ask =
        "new Promise((done) => { asker.onmessage = (event) => done(event.data); asker.postMessage(0); })";
    assert_eq!(stage.eval(ask).await, "echo worker");
    // A worker reports its requests with a delay.
    let listed = async {
        while stage.act("requests", json!({"url": "value=worker"})).await["requests"][0]["status"] != 200 {
            stage.eval("new Promise((done) => setTimeout(done, 5))").await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), listed).await.expect("listed");
    // A worker that already runs.
    stage.act("route", json!({"url": "/api/echo", "body": "from the route"})).await;
    assert_eq!(stage.eval(ask).await, "from the route");
    assert_eq!(stage.site.request_count("/api/echo"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn routes_can_be_added_during_a_navigation() {
    let stage = Stage::at("/requests").await;
    stage.eval("setTimeout(() => { location.href = '/hang'; }, 0); 0").await;
    stage.act("route", json!({"url": "/api/echo", "body": "from the route"})).await;
    stage.act("headers", json!({"headers": ["X-Added: one"]})).await;
    stage.open("/requests").await;
    assert_eq!(stage.eval("fetch('/api/headers').then((response) => response.text())").await, "one");
    assert_eq!(fetched(&stage, "/api/echo?value=1").await, "200 from the route");
}
