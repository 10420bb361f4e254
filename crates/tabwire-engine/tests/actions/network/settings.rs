//! `offline`, `throttle`, `headers` and `http_auth`: settings apply to the whole tab and can be reset.

use serde_json::{Value, json};
use tabwire_api::ErrorCode;

use crate::actions::support::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn f48_offline_tab_reports_it_and_recovers() {
    let stage = Stage::at("/requests").await;
    stage.act("offline", json!({"state": "on"})).await;
    assert_eq!(stage.eval("viaFetch('x')").await, "fetch failed");
    assert_eq!(stage.eval("navigator.onLine").await, false);
    assert_eq!(stage.site.request_count("/api/echo"), 0);
    let failed = stage.try_act("navigate", json!({"url": stage.site.url("a", "/plain")})).await;
    failed.expect_err("there is no network");
    assert_eq!(stage.text("offline", json!({})).await, "offline, not throttled");
    stage.act("offline", json!({"state": "off"})).await;
    stage.open("/requests").await;
    assert_eq!(stage.eval("viaFetch('x')").await, "200 echo x");
    stage.fails(ErrorCode::BadArgs, "offline", json!({"state": "maybe"})).await;
    stage.check_wrong_moments("offline", json!({"state": "on"})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn throttling_outlasts_being_offline() {
    let stage = Stage::at("/requests").await;
    stage.act("offline", json!({"state": "on"})).await;
    stage.act("throttle", json!({"preset": "4g"})).await;
    stage.act("offline", json!({"state": "off"})).await;
    assert!(stage.text("offline", json!({})).await.starts_with("online, throttled: latency 170 ms"));
    stage.act("throttle", json!({"preset": "off"})).await;
    stage.open("/requests").await;
    assert_eq!(stage.eval("viaFetch('x')").await, "200 echo x");
}

#[tokio::test(flavor = "multi_thread")]
async fn throttled_network_is_slower() {
    let stage = Stage::at("/requests").await;
    let took = "((begun) => viaFetch('x').then(() => performance.now() - begun))(performance.now())";
    stage.act("throttle", json!({"latency": 400.0})).await;
    let slow = stage.eval(took).await.as_f64().expect("a time");
    assert!(slow >= 390.0, "{slow}");
    stage.act("throttle", json!({"preset": "off"})).await;
    let fast = stage.eval(took).await.as_f64().expect("a time");
    assert!(fast < slow, "{fast} {slow}");
    let shown = stage.act("throttle", json!({})).await;
    assert_eq!(shown, json!({"offline": false}));
    for bad in [
        json!({"preset": "5g"}),
        json!({"preset": "4g", "latency": 1.0}),
        json!({"download": 0.0}),
        json!({"latency": -1.0}),
    ] {
        stage.fails(ErrorCode::BadArgs, "throttle", bad).await;
    }
    stage.check_wrong_moments("throttle", json!({"preset": "slow-3g"})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_are_added_in_all_frames_and_listed_masked() {
    let stage = Stage::at("/plain").await;
    let added = stage.act("headers", json!({"headers": ["X-Added: one", "X-Api-Key: CANARY"]})).await;
    assert!(!added.to_string().contains("CANARY"), "{added}");
    let seen = "fetch('/echo/headers').then((response) => response.json())";
    let headers = stage.eval(seen).await;
    assert_eq!((&headers["x-added"], &headers["x-api-key"]), (&json!("one"), &json!("CANARY")));
    stage.open("/echo/page").await;
    assert!(
        stage.eval("document.body.textContent").await.as_str().is_some_and(|text| text.contains("x-added"))
    );
    // A later frame in another process.
    let frame = stage.site.url("b", "/made/frame");
    let inner = "<script>fetch('/api/headers').then((a) => a.text()).then((text) => top.postMessage(text, '*'))</script>";
    stage
        .act("route", json!({"url": "/made/frame", "body": inner, "header": ["content-type: text/html"]}))
        .await;
    let script = format!(
        "new Promise((done) => {{ addEventListener('message', (event) => done(event.data));
         const frame = document.createElement('iframe'); frame.src = '{frame}'; document.body.append(frame); }})"
    );
    assert_eq!(stage.eval(&script).await, "one");
    stage.act("headers", json!({"remove": ["x-added"]})).await;
    assert_eq!(stage.eval("fetch('/api/headers').then((a) => a.text())").await, "absent");
    assert_eq!(stage.text("headers", json!({})).await, "X-Api-Key: •••");
    stage.act("headers", json!({"clear": true})).await;
    assert!(stage.eval(seen).await.get("x-api-key").is_none());
    for bad in
        [json!({"headers": ["no colon"]}), json!({"headers": ["a b: c"]}), json!({"remove": ["absent"]})]
    {
        stage.fails(ErrorCode::BadArgs, "headers", bad).await;
    }
    stage.check_wrong_moments("headers", json!({"headers": ["X: 1"]})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn t39_password_reaches_one_origin_and_no_result() {
    let stage = Stage::start().await;
    let who = "document.getElementById('who').textContent";
    let wrong = stage.act("http_auth", json!({"user": "alice", "password": "CANARY"})).await;
    assert!(!wrong.to_string().contains("CANARY") && wrong["origin"] == Value::Null, "{wrong}");
    stage.open("/auth/basic").await;
    assert_eq!(stage.eval(who).await, "no user");
    let file = stage.files.put("password", b"secret\nmore\n");
    let origin = stage.site.url("a", "/anything");
    let set = stage.act("http_auth", json!({"user": "alice", "password_file": file, "origin": origin})).await;
    assert_eq!(set["origin"], stage.site.url("a", ""));
    stage.open("/auth/basic").await;
    assert_eq!(stage.eval(who).await, "alice");
    // Another origin that requests credentials gets none, and its request ends.
    let other = stage.site.url("b", "/auth/basic");
    let status = format!("fetch('{other}', {{mode: 'no-cors', credentials: 'include'}}).then((a) => a.type)");
    stage.eval(&status).await;
    let seen = stage.act("requests", json!({"url": "b.localhost*/auth/basic"})).await;
    assert!(
        seen["requests"].as_array().is_some_and(|all| all.iter().all(|one| one["status"] == 401)),
        "{seen}"
    );
    let number = stage.act("requests", json!({"url": "a.localhost*/auth/basic", "status": "200"})).await;
    let number = number["requests"][0]["number"].clone();
    let text = stage.text("request", json!({"number": number})).await;
    assert!(!text.contains("YWxpY2U6c2VjcmV0"), "{text}");
    assert_eq!(stage.text("http_auth", json!({})).await, format!("alice for {}", stage.site.url("a", "")));
    stage.act("http_auth", json!({"clear": true})).await;
    assert_eq!(stage.eval("fetch('/api/echo?value=1').then((a) => a.text())").await, "echo 1");
    for bad in [
        json!({"user": "alice"}),
        json!({"password": "x"}),
        json!({"user": "a:b", "password": "x"}),
        json!({"user": "a", "password": "x", "password_file": "y"}),
        json!({"user": "a", "password": "x", "origin": "nowhere"}),
        json!({"user": "a", "password": "x", "clear": true}),
    ] {
        stage.fails(ErrorCode::BadArgs, "http_auth", bad).await;
    }
    stage.check_wrong_moments("http_auth", json!({"user": "alice", "password": "x"})).await;
}
