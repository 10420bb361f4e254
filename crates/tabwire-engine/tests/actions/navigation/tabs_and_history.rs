//! Navigation, history and tabs.

use std::time::Duration;

use serde_json::json;
use tabwire_api::ErrorCode;

use crate::actions::support::stage::{SHORT, Stage};

#[tokio::test(flavor = "multi_thread")]
async fn navigation_reports_status_and_redirects() {
    let stage = Stage::start().await;
    let url = stage.site.url("a", "/redirect/chain?count=2&to=/status%3Fcode%3D503");
    let went = stage.act("navigate", json!({"url": url})).await;
    assert_eq!(went["status"], 503);
    assert_eq!(went["redirects"].as_array().map(Vec::len), Some(2), "{went}");
    assert!(went["url"].as_str().is_some_and(|url| url.ends_with("/status?code=503")), "{went}");
    for state in ["load", "domcontentloaded", "networkidle", "commit"] {
        let url = stage.site.url("b", &format!("/plain?{state}"));
        let went = stage.act("navigate", json!({"url": url, "wait_until": state})).await;
        assert_eq!((went["status"].as_u64(), &went["url"]), (Some(200), &json!(url)), "{state}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f48_unreachable_url_fails_in_time() {
    let stage = Stage::start().await;
    for (path, words) in [("http://127.0.0.1:9/", "ERR_"), ("http://no-such-host.invalid/", "ERR_NAME")] {
        let failure = stage.try_act("navigate", json!({"url": path})).await.expect_err(path);
        assert_eq!(failure.code, ErrorCode::CdpError);
        assert!(failure.message.contains(words), "{failure:?}");
    }
    // Firefox tries ten times.
    let time = if stage.is_chromium() { SHORT } else { SHORT * 20 };
    let up = json!({"url": stage.site.url("a", "/hang/up")});
    let failure = stage.try_act_in(None, "navigate", up, time).await.expect_err("hangs up");
    assert_eq!(failure.code, ErrorCode::CdpError, "{failure:?}");
    stage.fails(ErrorCode::Timeout, "navigate", json!({"url": stage.site.url("a", "/hang")})).await;
    stage.fails(ErrorCode::BadArgs, "navigate", json!({"url": "two words"})).await;
    stage.fails(ErrorCode::BadArgs, "navigate", json!({"url": "http://x/", "wait_until": "soon"})).await;
    stage.open("/plain").await;
    assert_eq!(stage.eval("document.title").await, "Plain page");
}

#[tokio::test(flavor = "multi_thread")]
async fn back_forward_and_reload_work() {
    let stage = Stage::at("/plain").await;
    stage.fails(ErrorCode::NotActionable, "forward", json!({})).await;
    stage.open("/form").await;
    let back = stage.act("back", json!({})).await;
    assert!(back["url"].as_str().is_some_and(|url| url.ends_with("/plain")), "{back}");
    let forward = stage.act("forward", json!({})).await;
    assert!(forward["url"].as_str().is_some_and(|url| url.ends_with("/form")), "{forward}");
    stage.eval("window.marked = true").await;
    stage.act("reload", json!({"past_cache": true})).await;
    assert_eq!(stage.eval("window.marked === undefined").await, true);
    stage.open("/history").await;
    stage.act("click", json!({"target": "#push"})).await;
    let within = stage.act("back", json!({})).await;
    assert!(within["url"].as_str().is_some_and(|url| url.ends_with("/history")), "{within}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tabs_open_select_and_close() {
    let stage = Stage::at("/plain").await;
    let first = Stage::tab(&stage.act("tabs_list", json!({})).await["tabs"][0]);
    let second = stage.act("tab_new", json!({"url": stage.site.url("b", "/form")})).await;
    let second = Stage::tab(&second);
    assert_eq!(stage.eval("location.pathname").await, "/form", "a new tab is the current one");
    stage.act("tab_select", json!({"id": first})).await;
    assert_eq!(stage.eval("location.pathname").await, "/plain");
    let other = stage.try_act_in(
        Some(second),
        "eval",
        json!({"expression": "location.pathname"}),
        Duration::from_secs(20),
    );
    assert_eq!(other.await.expect("there")["value"], "/form");
    let closed = stage.act("tab_close", json!({"id": second})).await;
    assert_eq!(closed["current"], json!(first));
    stage.fails(ErrorCode::TabNotFound, "tab_select", json!({"id": second})).await;
    stage.fails(ErrorCode::TabNotFound, "tab_close", json!({"id": second})).await;
    stage.fails(ErrorCode::TabNotFound, "tab_select", json!({"id": "tab one"})).await;
    stage.fails(ErrorCode::StaleTab, "tab_select", json!({"id": "websocket:2:1"})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn popups_belong_to_the_session_and_are_reported() {
    let stage = Stage::at("/popup/kinds").await;
    for opener in ["#open", "#sized", "#noopener", "#link", "#cross"] {
        let before = stage.act("tabs_list", json!({})).await["tabs"].as_array().map_or(0, Vec::len);
        let done = stage.act("click", json!({"target": opener})).await;
        let tabs = stage.act("tabs_list", json!({})).await["tabs"].as_array().cloned().unwrap_or_default();
        assert_eq!(tabs.len(), before + 1, "{opener}");
        let opened = done["new_tabs"][0].as_str().unwrap_or_else(|| panic!("{opener}: {done}")).to_owned();
        let tab = opened.parse().expect("a tab id");
        let read =
            stage.try_act_in(Some(tab), "wait_for", json!({"load": "load"}), Duration::from_secs(20)).await;
        read.unwrap_or_else(|failure| panic!("{opener}: {failure:?}"));
        stage.act("tab_close", json!({"id": opened})).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t20_tab_with_a_local_page_cannot_be_read_or_used() {
    let stage = Stage::at("/plain").await;
    for name in ["navigate", "tab_new"] {
        for local in ["file:///etc/passwd", "chrome://version", "view-source:http://x/"] {
            stage.fails(ErrorCode::PolicyDenied, name, json!({"url": local})).await;
        }
    }
    let browser = stage.browser.connection().browser();
    let params = json!({"url": "file:///etc/hostname"});
    browser
        .send("Target.createTarget", &params, Duration::from_secs(10))
        .await
        .expect("another program opens it");
    let tabs = stage.act("tabs_list", json!({})).await["tabs"].as_array().cloned().unwrap_or_default();
    let local = tabs
        .iter()
        .find(|tab| tab["url"].as_str().is_some_and(|url| url.starts_with("file:")))
        .expect("listed");
    let tab = Stage::tab(local);
    for (name, params) in
        [("eval", json!({"expression": "1"})), ("snapshot", json!({})), ("click", json!({"target": "body"}))]
    {
        let refused =
            stage.try_act_in(Some(tab), name, params, Duration::from_secs(10)).await.expect_err(name);
        assert_eq!(refused.code, ErrorCode::PolicyDenied, "{name}: {refused:?}");
    }
    let away = json!({"url": stage.site.url("a", "/plain")});
    stage.try_act_in(Some(tab), "navigate", away, Duration::from_secs(20)).await.expect("may be left");
}

#[tokio::test(flavor = "multi_thread")]
async fn navigation_at_the_wrong_moment_fails_with_its_error() {
    let stage = Stage::start().await;
    for (name, params) in [
        ("reload", json!({})),
        ("back", json!({})),
        ("wait_for", json!({"target": "h1"})),
        ("snapshot", json!({})),
        ("find", json!({"text": "x"})),
    ] {
        stage.check_wrong_moments(name, params).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tabs_are_found_by_number_and_title() {
    let stage = Stage::at("/plain").await;
    let first = stage.act("tabs_list", json!({})).await["tabs"][0].clone();
    let number = first["tab"].as_str().and_then(|id| id.rsplit(':').next()).expect("a number").to_owned();
    stage.act("tab_new", json!({"url": stage.site.url("a", "/form")})).await;
    let by_number = stage.act("tab_select", json!({"id": number})).await;
    assert_eq!(by_number["tab"], first["tab"]);
    let by_url = stage.act("tab_select", json!({"id": "/FORM"})).await;
    assert_ne!(by_url["tab"], first["tab"]);
    let by_title = stage.act("tab_select", json!({"id": "plain page"})).await;
    assert_eq!(by_title["tab"], first["tab"]);
    stage.fails(ErrorCode::TabNotFound, "tab_select", json!({"id": "99"})).await;
    stage.fails(ErrorCode::TabNotFound, "tab_select", json!({"id": "no such title"})).await;
    stage.fails(ErrorCode::BadArgs, "tab_select", json!({"id": "localhost"})).await;
    // A tab names the tab that opened it.
    let opened = "opened.location.search === '?opened' && opened.document.readyState === 'complete'";
    stage.eval("void (window.opened = window.open('/plain?opened'))").await;
    stage.until(opened).await;
    let listed = stage.act("tabs_list", json!({})).await;
    let popup = listed["tabs"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|tab| tab["url"].as_str().is_some_and(|url| url.ends_with("?opened")));
    let popup = popup.unwrap_or_else(|| panic!("no popup in {listed}"));
    assert_eq!(popup["opener"], first["tab"], "{listed}");
    assert!(stage.text("tabs_list", json!({})).await.contains("(opened by "));
    stage.act("tab_close", json!({"id": "?opened"})).await;
}
