//! `wait_for`: ends as soon as its condition holds, and reports the actual state after a timeout.

use std::time::Duration;

use serde_json::json;
use tabwire_api::ErrorCode;

use crate::actions::support::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn wait_for_waits_for_elements_and_texts() {
    let stage = Stage::at("/click/late?milliseconds=300").await;
    stage.act("wait_for", json!({"target": "#late"})).await;
    stage.act("wait_for", json!({"target": "#gone", "state": "hidden"})).await;
    stage.act("wait_for", json!({"target": "#late", "state": "enabled"})).await;
    stage.fails(ErrorCode::Timeout, "wait_for", json!({"target": "#nowhere"})).await;
    stage.fails(ErrorCode::Timeout, "wait_for", json!({"text": "never said"})).await;
    stage.act("wait_for", json!({"text_gone": "never said"})).await;
    stage.show("<p id=p>soon</p><script>setTimeout(() => p.textContent = 'now', 200)</script>").await;
    stage.act("wait_for", json!({"text": "now"})).await;
    stage.open("/frames/deep").await;
    stage.act("wait_for", json!({"target": "role=button[name='Save deep']"})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wait_for_waits_for_urls_loads_scripts_and_time() {
    let stage = Stage::at("/history").await;
    stage.eval("setTimeout(() => history.pushState({}, '', '/history/later'), 150); 1").await;
    let waited = stage.act("wait_for", json!({"url": "*/later"})).await;
    assert!(waited["detail"].as_str().is_some_and(|url| url.ends_with("/history/later")), "{waited}");
    let failure = stage.fails(ErrorCode::Timeout, "wait_for", json!({"url": "/checkout"})).await;
    assert!(failure.message.contains("/history/later"), "{failure:?}");
    stage.eval("setTimeout(() => location.href = '/slow/page', 0); 1").await;
    stage.act("wait_for", json!({"url": "/slow/page"})).await;
    for state in ["domcontentloaded", "load", "networkidle"] {
        stage.act("wait_for", json!({"load": state})).await;
    }
    stage.eval("setTimeout(() => window.done = 1, 100); 1").await;
    stage.act("wait_for", json!({"function": "window.done === 1"})).await;
    stage.act("wait_for", json!({"function": "() => window.done"})).await;
    stage.fails(ErrorCode::EvalFailed, "wait_for", json!({"function": "missing.member"})).await;
    stage.fails(ErrorCode::Timeout, "wait_for", json!({"function": "false"})).await;
    stage.act("wait_for", json!({"time": 30})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wait_for_needs_exactly_one_condition() {
    let stage = Stage::at("/plain").await;
    for params in [
        json!({}),
        json!({"target": "h1", "text": "x"}),
        json!({"target": "h1", "state": "odd"}),
        json!({"time": 999_999}),
        json!({"url": ""}),
    ] {
        stage.fails(ErrorCode::BadArgs, "wait_for", params).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn long_wait_in_one_tab_does_not_delay_other_tabs() {
    let stage = Stage::at("/plain").await;
    let waiting = Stage::tab(&stage.act("tabs_list", json!({})).await["tabs"][0]);
    let other = Stage::tab(&stage.act("tab_new", json!({"url": stage.site.url("b", "/plain")})).await);
    let timeout = Duration::from_secs(30);
    let wait = stage.try_act_in(Some(waiting), "wait_for", json!({"target": "#never"}), timeout);
    let work = async {
        for round in 1..=5 {
            for tab in [waiting, other] {
                let clicked =
                    stage.try_act_in(Some(tab), "click", json!({"target": "#count"}), timeout).await;
                clicked.unwrap_or_else(|failure| panic!("round {round}: {failure:?}"));
            }
        }
        stage.try_act_in(Some(other), "snapshot", json!({}), timeout).await.expect("seen");
    };
    tokio::select! {
        biased;
        waited = wait => panic!("the wait ended first: {waited:?}"),
        () = work => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b5_a_timeout_names_the_allowed_time_when_frames_left_meanwhile() {
    let stage = Stage::at("/frames").await;
    stage.act("wait_for", json!({"target": "role=button[name='Press']"})).await;
    let leave =
        "setTimeout(() => document.querySelectorAll('iframe').forEach((frame) => frame.remove()), 700); 1";
    let timeout = Duration::from_millis(1_500);
    for (name, params) in [
        ("wait_for", json!({"target": "#nowhere"})),
        ("click", json!({"target": "#nowhere"})),
        ("wait_for", json!({"text_gone": "Main page"})),
    ] {
        stage.open("/frames").await;
        stage.eval("document.body.append('Main page'); 1").await;
        stage.eval(leave).await;
        let failure = stage.try_act_in(None, name, params, timeout).await.expect_err("nothing there");
        assert!(failure.message.contains("within 1500 ms"), "{name}: {failure:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wait_for_download_returns_the_file() {
    let stage = Stage::at("/downloads/routes").await;
    let wait = stage.act("wait_for", json!({"download": true}));
    let click = async {
        stage.eval("setTimeout(() => location.href = '/download/report.txt', 50); 1").await;
    };
    let (waited, ()) = tokio::join!(wait, click);
    assert_eq!(waited["held"], "\"report.txt\" is downloaded", "{waited}");
    let path = waited["detail"].as_str().expect("a path");
    assert_eq!(std::fs::read_to_string(path).expect("a file"), "report content\n");
    // A download that runs when the wait begins counts; a finished one does not.
    stage.fails(ErrorCode::Timeout, "wait_for", json!({"download": true})).await;
    let slow = stage.site.url("a", "/download/slow?bytes=20&milliseconds=100");
    stage.eval(&format!("location.href = {slow:?}; 1")).await;
    while stage.act("downloads", json!({})).await["downloads"].as_array().map(Vec::len) != Some(2) {}
    let waited = stage.act("wait_for", json!({"download": true})).await;
    let path = waited["detail"].as_str().expect("a path");
    assert_eq!(std::fs::read(path).expect("a file").len(), 20);
    let broken = stage.site.url("a", "/download/broken?bytes=10&after=3");
    stage.eval(&format!("setTimeout(() => location.href = {broken:?}, 50); 1")).await;
    let failed = stage.try_act("wait_for", json!({"download": true})).await.expect_err("broken");
    assert_eq!(failed.code, ErrorCode::DownloadFailed, "{failed:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wait_for_finds_elements_in_a_late_cross_site_frame() {
    let stage = Stage::at("/plain").await;
    let later = format!(
        "setTimeout(() => {{ const frame = document.createElement('iframe'); frame.src = '{}'; document.body.append(frame); }}, 200); 1",
        stage.site.url("b", "/login")
    );
    stage.eval(&later).await;
    let waited = stage.act("wait_for", json!({"target": "#password"})).await;
    assert_eq!(waited["held"], "#password is visible");
    stage.eval(&later).await;
    stage.eval("setTimeout(() => document.querySelectorAll('iframe').forEach((frame) => frame.remove()), 600); 1").await;
    stage.act("wait_for", json!({"target": "#password", "state": "detached"})).await;
    assert_eq!(stage.eval("document.querySelectorAll('iframe').length").await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn actions_find_elements_in_a_late_cross_site_frame() {
    let stage = Stage::start().await;
    let later = |stage: &Stage| {
        format!(
            "setTimeout(() => {{ const frame = document.createElement('iframe'); frame.src = '{}'; document.body.append(frame); }}, 200); 1",
            stage.site.url("b", "/login")
        )
    };
    for (action, params, field) in [
        ("fill", json!({"target": "#user", "value": "anna"}), "value"),
        ("check", json!({"target": "#remember"}), "did"),
        ("fill_form", json!({"form": "{\"#user\": \"anna\", \"#remember\": true}"}), "fields"),
        ("click", json!({"target": "#remember"}), "did"),
    ] {
        stage.open("/plain").await;
        stage.eval(&later(&stage)).await;
        let done = stage.act(action, params).await;
        assert!(!done[field].is_null(), "{action}: {done}");
    }
    stage.open("/plain").await;
    stage.eval(&later(&stage)).await;
    let missing = stage.fails(ErrorCode::SelectorNotFound, "click", json!({"target": "#nowhere"})).await;
    assert!(missing.message.contains("#nowhere"), "{missing:?}");
}
