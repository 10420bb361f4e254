//! `trace`: a file for Chrome's developer tools, and a summary of the page's performance.

use serde_json::{Value, json};
use tabwire_api::ErrorCode;

use crate::actions::support::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn trace_summary_matches_the_page_measurements() {
    let stage = Stage::at("/plain").await;
    let started = stage.text("trace", json!({"verb": "start"})).await;
    assert!(started.contains("`stop`"), "{started}");
    stage.fails(ErrorCode::Busy, "trace", json!({"verb": "start"})).await;
    stage.open("/vitals?shift=yes&milliseconds=50").await;
    stage.until("window.vitals.shift > 0 && window.vitals.paint > 0").await;
    stage.act("click", json!({"target": "#sluggish"})).await;
    stage.until("window.vitals.interaction >= 200").await;
    stage.eval("new Promise((done) => setTimeout(() => { busy(300); done(); }))").await;
    let own = stage.eval("window.vitals").await;
    let result = stage.act("trace", json!({"verb": "stop"})).await;
    let path = result["path"].as_str().expect("a path");
    let trace: Value = serde_json::from_slice(&std::fs::read(path).expect("written")).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("events");
    assert_eq!(result["events"], events.len());
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("a number: {result}"));
    assert!((number(&result["lcp"]["value"]) - number(&own["paint"])).abs() < 50.0, "{result} {own}");
    assert!((number(&result["cls"]["value"]) - number(&own["shift"])).abs() < 0.01, "{result} {own}");
    assert!((number(&result["inp"]["value"]) - number(&own["interaction"])).abs() < 20.0, "{result} {own}");
    assert!(number(&result["long_tasks"]["longest_ms"]) >= 250.0, "{result}");
    assert_eq!(result["truncated"], false);
    assert!(result["scripts"][0]["url"].as_str().is_some_and(|url| url.contains("/vitals")), "{result}");
}

#[tokio::test(flavor = "multi_thread")]
async fn trace_start_and_stop_in_the_wrong_state_fail() {
    let stage = Stage::at("/plain").await;
    stage.fails(ErrorCode::NotActionable, "trace", json!({"verb": "stop"})).await;
    for bad in [
        json!({}),
        json!({"verb": "pause"}),
        json!({"verb": "start", "output": "x.json"}),
        json!({"verb": "start", "categories": ["a b"]}),
        json!({"verb": "stop", "categories": ["v8"]}),
    ] {
        stage.fails(ErrorCode::BadArgs, "trace", bad).await;
    }
    // A path that cannot be written does not lose the trace.
    stage.act("trace", json!({"verb": "start"})).await;
    stage.files.put("taken.json", b"mine");
    stage.fails(ErrorCode::BadArgs, "trace", json!({"verb": "stop", "output": "taken.json"})).await;
    // A dialog does not block it.
    let opening = json!({"expression": "setTimeout(() => alert('in the way'), 0); new Promise(() => {})"});
    assert_eq!(stage.try_act("eval", opening).await.expect_err("blocked").code, ErrorCode::DialogOpen);
    let stopped = stage.text("trace", json!({"verb": "stop", "output": "fresh.json"})).await;
    assert!(stopped.contains("fresh.json") && stopped.contains("LCP: no page was loaded"), "{stopped}");
    stage.act("dialog", json!({"answer": "accept"})).await;
    let second = stage.act("tab_new", json!({})).await;
    let tab = Stage::tab(&second);
    stage.act("tab_close", json!({"id": tab})).await;
    let gone = stage
        .try_act_in(Some(tab), "trace", json!({"verb": "start"}), crate::actions::support::stage::SHORT)
        .await;
    assert_eq!(gone.expect_err("no such tab").code, ErrorCode::TabNotFound);
}
