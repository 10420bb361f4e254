//! `state`: saves in one browser and loads in another.

use serde_json::{Value, json};
use tabwire_api::ErrorCode;

use crate::actions::support::stage::{SHORT, Stage};

/// The content of the file that a response names.
fn content(response: &Value) -> Vec<u8> {
    std::fs::read(response["path"].as_str().expect("a path")).expect("readable")
}

/// Logs in at one origin and fills the storage of three.
async fn live(stage: &Stage) {
    stage.open("/login").await;
    stage.act("fill", json!({"target": "#user", "value": "alice"})).await;
    stage.act("fill", json!({"target": "#password", "value": "secret"})).await;
    stage.act("click", json!({"target": "#remember"})).await;
    stage.act("click", json!({"target": "#submit"})).await;
    assert!(stage.eval("document.querySelector('#who').textContent").await.to_string().contains("alice"));
    stage.eval("localStorage.setItem('theme', 'dark\\n\\u202e\\ud83d\\ude00')").await;
    stage.eval("sessionStorage.setItem('only', 'this tab')").await;
    stage.act("navigate", json!({"url": stage.site.url("b", "/plain")})).await;
    stage.eval("localStorage.setItem('cart', '[1,2]')").await;
    // The origin of a closed tab counts as visited.
    let other = stage.act("tab_new", json!({"url": stage.site.url("c", "/plain")})).await;
    stage.eval("localStorage.setItem('seen', 'yes')").await;
    stage.act("tab_close", json!({"id": other["tab"]})).await;
    stage.act("navigate", json!({"url": stage.site.url("b", "/plain")})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn state_saved_in_one_browser_loads_in_another() {
    let (first, second) = tokio::join!(Stage::start_chromium(), Stage::start_chromium());
    live(&first).await;
    let saved = first.act("state", json!({"verb": "save"})).await;
    assert_eq!((&saved["cookies"], &saved["entries"]), (&json!(2), &json!(3)), "{saved}");
    let expected: Value = ["a", "b", "c"].iter().map(|name| first.site.url(name, "")).collect();
    assert_eq!(saved["origins"], expected);
    assert!(saved.get("left_out").is_none(), "{saved}");
    let file: Value = serde_json::from_slice(&content(&saved)).expect("JSON");
    assert_eq!(file["cookies"][0]["domain"], "a.localhost");
    assert_eq!(file["origins"][1]["localStorage"], json!([{"name": "cart", "value": "[1,2]"}]));

    second.act("navigate", json!({"url": first.site.url("a", "/plain")})).await;
    second.eval("window.untouched = true; localStorage.setItem('own', 'kept')").await;
    let asked = first.site.request_count("/");
    let path = second.files.put("state.json", &content(&saved));
    let loaded = second.act("state", json!({"verb": "load", "path": path})).await;
    assert_eq!((&loaded["cookies"], &loaded["entries"]), (&json!(2), &json!(3)), "{loaded}");
    assert_eq!(second.eval("window.untouched").await, true, "the page is not disturbed");
    assert_eq!(first.site.request_count("/"), asked, "no request is sent");
    assert_eq!(second.act("tabs_list", json!({})).await["tabs"].as_array().map(Vec::len), Some(1));

    // The hidden tab is closed in the browser too.
    let listed =
        second.browser.connection().browser().send("Target.getTargets", &json!({}), SHORT * 10).await;
    let listed: Value = listed.expect("listed").to().expect("read");
    let pages = listed["targetInfos"].as_array().expect("targets").iter();
    assert_eq!(pages.filter(|target| target["type"] == "page").count(), 1, "{listed}");

    second.act("navigate", json!({"url": first.site.url("a", "/account/private")})).await;
    assert!(second.eval("document.querySelector('#who').textContent").await.to_string().contains("alice"));
    assert_eq!(second.eval("localStorage.theme").await, "dark\n\u{202e}\u{1f600}");
    assert_eq!(second.eval("localStorage.own").await, "kept");
    second.act("navigate", json!({"url": first.site.url("b", "/plain")})).await;
    assert_eq!(second.eval("localStorage.cart").await, "[1,2]");

    second.eval("localStorage.setItem('more', '1'); document.cookie = 'more=1'").await;
    let path = path.display().to_string();
    second.act("state", json!({"verb": "load", "path": path, "replace": true})).await;
    second.act("reload", json!({})).await;
    assert_eq!(second.eval("Object.keys(localStorage).join() + document.cookie").await, "cart");
    let jar = |value: &Value| {
        let mut jar = value["cookies"].as_array().expect("cookies").clone();
        for cookie in &mut jar {
            // A cookie without SameSite counts as Lax in browsers, and Playwright's files say Lax.
            cookie["same_site"] = cookie.get("same_site").cloned().unwrap_or_else(|| json!("lax"));
        }
        jar.sort_unstable_by_key(|cookie| cookie["name"].to_string());
        jar
    };
    let list = json!({"all": true, "values": true});
    assert_eq!(jar(&first.act("cookies", list.clone()).await), jar(&second.act("cookies", list).await));
}

#[tokio::test(flavor = "multi_thread")]
async fn encrypted_state_opens_only_with_its_passphrase() {
    let stage = Stage::at("/plain").await;
    stage.eval("localStorage.setItem('token', 'canary'); document.cookie = 'id=canary'").await;
    let right = stage.files.put("right", b"correct horse battery staple\n");
    let wrong = stage.files.put("wrong", b"tr0ub4dor");
    let saved =
        stage.act("state", json!({"verb": "save", "path": "sealed.json", "passphrase_file": right})).await;
    assert_eq!(saved["sealed"], true);
    assert!(!String::from_utf8_lossy(&content(&saved)).contains("canary"));
    assert!(!saved.to_string().contains("canary") && !saved.to_string().contains("correct"));
    stage.eval("localStorage.clear()").await;
    stage.act("cookies", json!({"verb": "clear", "all": true})).await;

    let file = &saved["path"];
    let refused = stage
        .try_act("state", json!({"verb": "load", "path": file, "passphrase_file": wrong}))
        .await
        .expect_err("the wrong passphrase");
    assert!(refused.message.contains("passphrase is wrong"), "{refused:?}");
    let refused = stage.fails(ErrorCode::BadArgs, "state", json!({"verb": "load", "path": file})).await;
    assert!(refused.hint().contains("--passphrase-file"));
    assert_eq!(stage.eval("localStorage.length + document.cookie").await, "0");
    stage.act("state", json!({"verb": "load", "path": file, "passphrase_file": right})).await;
    assert_eq!(stage.eval("document.cookie").await, "id=canary");
    stage.act("reload", json!({})).await;
    assert_eq!(stage.eval("localStorage.token").await, "canary");
}

#[tokio::test(flavor = "multi_thread")]
async fn state_reports_unloadable_entries_and_rejects_bad_input() {
    let stage = Stage::at("/plain").await;
    let site = stage.site.url("a", "");
    let odd = json!({
        "cookies": [
            {"name": "good", "value": "1", "domain": "a.localhost", "path": "/", "expires": -1},
            {"name": "__Host-bad", "value": "1", "domain": "a.localhost", "path": "/x", "expires": -1},
            {"name": "old", "value": "1", "domain": "a.localhost", "path": "/", "expires": 5},
        ],
        "origins": [
            {"origin": "file:///etc", "localStorage": [{"name": "a", "value": "b"}]},
            {"origin": site, "localStorage": [{"name": "a", "value": "b"}], "indexedDB": [{"name": "db"}]},
        ],
    });
    let path = stage.files.put("odd.json", odd.to_string().as_bytes());
    let loaded = stage.act("state", json!({"verb": "load", "path": path})).await;
    assert_eq!((&loaded["cookies"], &loaded["expired"]), (&json!(1), &json!(1)), "{loaded}");
    assert_eq!(loaded["left_out"].as_array().map(Vec::len), Some(3), "{loaded}");
    assert_eq!(loaded["origins"], json!([site]));

    let garbage = stage.files.put("garbage", b"{\"cookies\": 5}");
    let empty = stage.files.put("empty", b"\n");
    for bad in [
        json!({"verb": "load"}),
        json!({"verb": "load", "path": garbage}),
        json!({"verb": "load", "path": path, "passphrase_file": garbage}),
        json!({"verb": "load", "path": path, "origins": ["https://x"]}),
        json!({"verb": "save", "replace": true}),
        json!({"verb": "save", "origins": ["about:blank"]}),
        json!({"verb": "save", "passphrase_file": empty}),
        json!({"verb": "forget"}),
    ] {
        stage.fails(ErrorCode::BadArgs, "state", bad).await;
    }
    stage.fails(ErrorCode::PolicyDenied, "state", json!({"verb": "load", "path": "/etc/hostname"})).await;
    stage.check_wrong_moments("state", json!({"verb": "save"})).await;
    stage.check_wrong_moments("state", json!({"verb": "load", "path": path})).await;
}
