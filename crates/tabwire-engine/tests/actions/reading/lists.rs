//! Links with filters and refs, limited searches, waits with refs, scrolling until an element appears, console objects.

use std::time::{Duration, Instant};

use serde_json::json;
use tabwire_api::ErrorCode;
use tabwire_engine::{Context, find_action};

use crate::actions::support::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn links_are_filtered_by_url_and_have_refs() {
    let stage = Stage::at("/plain").await;
    let other = stage.site.url("b", "/plain");
    stage
        .eval(&format!(
            "document.body.innerHTML = `<a href='/shop/1'>One</a><a href='/shop/2'>Two</a>\
             <a href='/logout'>Out</a><a href='{other}'>Other</a>`; 1"
        ))
        .await;
    let texts = |links: &serde_json::Value| -> Vec<String> {
        let list = links["links"].as_array().expect("links").iter();
        list.map(|link| link["text"].as_str().expect("text").to_owned()).collect()
    };
    let inside = stage.act("extract_links", json!({"same_origin": true, "exclude": ["*/logout"]})).await;
    assert_eq!(texts(&inside), ["One", "Two"]);
    let shop = stage.act("extract_links", json!({"include": ["*/shop/2"]})).await;
    assert_eq!(texts(&shop), ["Two"]);
    let target = shop["links"][0]["ref"].as_str().expect("a ref").to_owned();
    let done = stage.act("click", json!({"target": target})).await;
    assert_eq!(done["element"], "link \"Two\"");
}

#[tokio::test(flavor = "multi_thread")]
async fn find_shows_at_most_its_limit() {
    let stage = Stage::start().await;
    stage.show(&"<p>total</p>".repeat(9)).await;
    let found = stage.act("find", json!({"text": "total", "limit": 2})).await;
    assert_eq!((&found["shown"], &found["matches"]), (&json!(2), &json!(9)));
    stage.fails(ErrorCode::BadArgs, "find", json!({"text": "total", "limit": 0})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wait_reports_the_ref_and_the_time() {
    let stage = Stage::start().await;
    stage
        .show("<script>setTimeout(() => document.body.innerHTML = '<button>Pay</button>', 200)</script>")
        .await;
    let done = stage.act("wait_for", json!({"target": "role=button"})).await;
    assert!(done["waited_ms"].is_u64(), "{done}");
    let target = done["ref"].as_str().expect("a ref").to_owned();
    assert_eq!(stage.act("click", json!({"target": target})).await["element"], "button \"Pay\"");
}

#[tokio::test(flavor = "multi_thread")]
async fn wait_for_new_tab_reports_it() {
    let stage = Stage::at("/plain").await;
    let url = stage.site.url("b", "/plain");
    stage.eval(&format!("document.body.innerHTML = `<button onclick=\"setTimeout(() => window.open('{url}'), 400)\">Pop</button>`; 1")).await;
    stage.act("click", json!({"target": "text=Pop"})).await;
    let done = stage.act("wait_for", json!({"new_tab": true})).await;
    assert!(
        done["new_tab"].is_string() && done["detail"].as_str().is_some_and(|text| text.contains(&url)),
        "{done}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn scroll_goes_on_until_the_element_is_there() {
    let stage = Stage::start().await;
    stage
        .show(
            "<div id=rows></div><script>let count = 0; const more = () => { for (let at = 0; at < 20; at++) \
             rows.insertAdjacentHTML('beforeend', `<p>Row ${++count}</p>`); }; more(); more();\
             addEventListener('scroll', () => { if (count < 120 && scrollY + innerHeight > document.documentElement.scrollHeight - 50) more(); });</script>",
        )
        .await;
    let done = stage.act("scroll", json!({"until": "text=\"Row 95\""})).await;
    assert!(done["place"]["y"].as_f64() > Some(1000.0), "{done}");
    let failure = stage.try_act("scroll", json!({"until": "text=Nowhere"})).await.expect_err("not there");
    assert_eq!(failure.code, ErrorCode::SelectorNotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn console_shows_the_contents_of_objects() {
    let stage = Stage::start().await;
    stage.show("<p>x</p>").await;
    stage.eval("console.log('cart', {a: 1, b: 'x'}, [1, 2]); 1").await;
    let text = stage.text("console", json!({})).await;
    assert!(
        text.contains("cart {a: 1, b: \"x\"} [1, 2]") || text.contains("cart {a: 1, b: \\\"x\\\"} [1, 2]"),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn reading_an_element_that_is_missing_ends_soon_by_default() {
    let stage = Stage::start().await;
    stage.show("<p>x</p>").await;
    for (name, params) in [
        ("get_text", json!({"target": "#no"})),
        ("get", json!({"what": "value", "target": "#no"})),
        ("extract_links", json!({"target": "#no"})),
        ("snapshot", json!({"within": "#no"})),
    ] {
        let context = Context { has_timeout: false, ..stage.context(None, Duration::from_secs(30)) };
        let began = Instant::now();
        let failure = find_action(name).expect("known").run(&context, params).await.expect_err("missing");
        assert_eq!(failure.code, ErrorCode::SelectorNotFound, "{name}: {failure:?}");
        assert!(began.elapsed() < Duration::from_secs(15), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b10_emulation_is_reset_when_the_result_arrives() {
    let stage = Stage::start().await;
    stage.show("<p>x</p>").await;
    let before = stage.eval("innerWidth").await;
    for width in [390, 401, 412, 777] {
        stage.act("emulate", json!({"viewport": format!("{width}x700")})).await;
        assert_eq!(stage.eval("innerWidth").await, width);
        stage.act("emulate", json!({"reset": true})).await;
        assert_eq!(stage.eval("innerWidth").await, before);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b5_frames_of_the_page_before_are_not_searched() {
    let stage = Stage::at("/plain").await;
    let inner = stage.site.url("b", "/plain");
    for round in 0..4 {
        stage.open("/plain").await;
        stage
            .eval(&format!(
                "document.body.innerHTML = `<iframe src='{inner}'></iframe><iframe src='/plain'></iframe>`; 1"
            ))
            .await;
        stage.act("navigate", json!({"url": stage.site.url("c", "/plain")})).await;
        stage.act("find", json!({"text": "nowhere at all"})).await;
        stage.act("wait_for", json!({"text_gone": "nowhere at all"})).await;
        assert_eq!(
            stage.act("get", json!({"what": "count", "target": "iframe"})).await["value"],
            0,
            "{round}"
        );
    }
}
