//! `cookies`: set cookies are sent, cleared ones are not, and values stay secret.

use serde_json::{Value, json};
use tabwire_api::ErrorCode;

use crate::actions::support::stage::Stage;

/// The names in a response, sorted.
fn names(response: &Value) -> Vec<&str> {
    let cookies = response["cookies"].as_array().expect("cookies");
    let mut names: Vec<&str> = cookies.iter().filter_map(|cookie| cookie["name"].as_str()).collect();
    names.sort_unstable();
    names
}

/// The cookies that the server receives for a page.
async fn sent(stage: &Stage, name: &str) -> String {
    stage.act("navigate", json!({"url": stage.site.url(name, "/cookie/show")})).await;
    stage.eval("document.body.innerText").await.as_str().expect("text").to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn cookies_are_set_with_all_attributes_and_sent() {
    let stage = Stage::at("/plain").await;
    stage.act("cookies", json!({"verb": "set", "name": "plain", "value": "one two"})).await;
    let full = json!({
        "verb": "set", "name": "full", "value": "x", "http_only": true, "same_site": "strict",
        "path": "/cookie", "max_age": 3600,
    });
    let set = stage.act("cookies", full).await;
    let cookie = &set["cookies"][0];
    assert_eq!(cookie["domain"], "a.localhost", "for the host alone: {set}");
    assert_eq!((&cookie["http_only"], &cookie["same_site"]), (&json!(true), &json!("strict")));
    assert!(cookie["expires"].as_f64().is_some_and(|end| end > 1e9), "{set}");
    let below = json!({"verb": "set", "name": "below", "value": "y", "domain": "b.localhost"});
    assert_eq!(stage.act("cookies", below).await["cookies"][0]["domain"], ".b.localhost");

    let shown = sent(&stage, "a").await;
    assert!(shown.contains("plain=one two") && shown.contains("full=x"), "{shown}");
    assert_eq!(stage.eval("document.cookie").await, "plain=one two", "http-only is kept from scripts");
    assert!(sent(&stage, "x.b").await.contains("below=y"));
    assert!(!sent(&stage, "x.a").await.contains("plain"), "a host's cookie is not sent to hosts below");
}

#[tokio::test(flavor = "multi_thread")]
async fn cookies_are_set_in_a_partition() {
    let stage = Stage::at("/plain").await;
    let secure = json!({
        "verb": "set", "name": "own", "value": "z", "url": "https://c.localhost/", "secure": true,
        "same_site": "none", "partition": "https://a.localhost",
    });
    let secure = stage.act("cookies", secure).await;
    assert_eq!(secure["cookies"][0]["partition"], "https://a.localhost", "{secure}");
}

#[tokio::test(flavor = "multi_thread")]
async fn t39_cookie_values_are_shown_only_on_request() {
    let stage = Stage::at("/cookie/set?name=token&value=canary&attributes=Path=/").await;
    let listed = stage.act("cookies", json!({})).await;
    assert_eq!(names(&listed), ["token"]);
    assert_eq!(listed["cookies"][0]["bytes"], 6);
    let text = stage.text("cookies", json!({})).await;
    assert!(!listed.to_string().contains("canary") && !text.contains("canary"), "{listed} {text}");
    assert!(text.contains("token=[6 bytes]  a.localhost/"), "{text}");
    assert!(stage.text("cookies", json!({"values": true})).await.contains("token=\"canary\""));
    let one = stage.act("cookies", json!({"verb": "get", "name": "token"})).await;
    assert_eq!(one["cookies"][0]["value"], "canary");
    let set = stage.text("cookies", json!({"verb": "set", "name": "other", "value": "canary"})).await;
    assert!(!set.contains("canary"), "{set}");
}

#[tokio::test(flavor = "multi_thread")]
async fn cookies_are_cleared_by_name_domain_url_or_all() {
    let stage = Stage::start().await;
    for (site, name) in [("a", "one"), ("a", "two"), ("b", "one"), ("x.b", "three"), ("c", "four")] {
        stage.act("navigate", json!({"url": stage.site.url(site, "/plain")})).await;
        stage.eval(&format!("document.cookie = '{name}=1; max-age=600'")).await;
    }
    stage.open("/plain").await;
    assert_eq!(stage.act("cookies", json!({})).await["others"], 3);
    stage.fails(ErrorCode::BadArgs, "cookies", json!({"verb": "clear"})).await;
    let cleared = stage.act("cookies", json!({"verb": "clear", "name": "one"})).await;
    assert_eq!(names(&cleared), ["one"]);
    let all = stage.act("cookies", json!({"all": true})).await;
    assert_eq!(names(&all), ["four", "one", "three", "two"], "only the page's own `one` is cleared");
    stage.act("cookies", json!({"verb": "clear", "url": stage.site.url("c", "/")})).await;
    let cleared = stage.act("cookies", json!({"verb": "clear", "domain": "b.localhost"})).await;
    assert_eq!(names(&cleared), ["one", "three"]);
    assert_eq!(names(&stage.act("cookies", json!({"all": true})).await), ["two"]);
    stage.act("cookies", json!({"verb": "clear", "all": true})).await;
    assert!(
        stage.act("cookies", json!({"all": true})).await["cookies"].as_array().is_some_and(Vec::is_empty)
    );
    assert_eq!(stage.eval("document.cookie").await, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn cookies_rejects_bad_input_and_wrong_moments() {
    let stage = Stage::at("/plain").await;
    for bad in [
        json!({"verb": "get"}),
        json!({"verb": "set", "name": "a"}),
        json!({"verb": "set", "name": "a", "value": "b;c"}),
        json!({"verb": "set", "name": "a=", "value": "b"}),
        json!({"verb": "set", "name": "a", "value": "b", "expires": 5}),
        json!({"verb": "set", "name": "a", "value": "b", "same_site": "none"}),
        json!({"verb": "set", "name": "a", "value": "b", "path": "x"}),
        json!({"verb": "set", "name": "a", "value": "b", "url": "about:blank"}),
        json!({"verb": "list", "name": "a"}),
        json!({"verb": "list", "secure": true}),
        json!({"all": true, "domain": "b.localhost"}),
        json!({"verb": "eat"}),
    ] {
        stage.fails(ErrorCode::BadArgs, "cookies", bad).await;
    }
    stage.fails(ErrorCode::NotActionable, "cookies", json!({"verb": "get", "name": "missing"})).await;
    let refused = json!({"verb": "set", "name": "__Host-a", "value": "b"});
    stage.fails(ErrorCode::NotActionable, "cookies", refused).await;
    stage.check_wrong_moments("cookies", json!({})).await;
}
