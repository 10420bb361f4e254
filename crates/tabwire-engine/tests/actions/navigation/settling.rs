//! Actions wait for their effects and report them, and do not wait without effects.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::actions::support::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn effects_of_a_click_are_reported() {
    let stage = Stage::at("/click/effects?milliseconds=150").await;
    let output = "document.getElementById('output').textContent";
    let click = async |id: &str| stage.act("click", json!({"target": format!("#{id}")})).await;

    let done = click("fetch").await;
    assert!(done["requests"].as_u64() >= Some(1) && done["content"] == true, "{done}");
    assert!(stage.eval(output).await.as_str().is_some_and(|text| text.starts_with("rendered ")));
    click("chain").await;
    assert_eq!(stage.eval(output).await, "rendered 3");
    click("animate").await;
    assert_eq!(stage.eval(output).await, "animation over");
    let done = click("text").await;
    assert_eq!(done["content"], true, "{done}");
    let done = click("push").await;
    assert!(done["url"].as_str().is_some_and(|url| url.ends_with("?pushed")), "{done}");
    let done = click("hash").await;
    assert!(done["url"].as_str().is_some_and(|url| url.ends_with("#changed")), "{done}");
    let done = click("error").await;
    assert!(
        done["console_errors"][0].as_str().is_some_and(|error| error.contains("thrown by a click")),
        "{done}"
    );
    let mut shortest = Duration::MAX;
    for _ in 0..3 {
        let started = Instant::now();
        let done = click("nowhere").await;
        shortest = shortest.min(started.elapsed());
        assert_eq!(done.get("navigated"), None, "{done}");
    }
    assert!(
        shortest < Duration::from_millis(900),
        "a response without content starts no download: {shortest:?}"
    );
    let done = click("navigate").await;
    assert_eq!(done["navigated"], true, "{done}");
    assert!(done["url"].as_str().is_some_and(|url| url.ends_with("/plain?from=navigate")), "{done}");
    stage.open("/click/effects").await;
    let done = click("slow-link").await;
    assert_eq!(done["navigated"], true, "{done}");
    assert_eq!(done.get("still_loading"), None, "{done}");
}

#[tokio::test(flavor = "multi_thread")]
async fn action_ends_on_a_page_that_never_settles() {
    let stage = Stage::at("/churn").await;
    let started = Instant::now();
    stage.act("press", json!({"keys": ["a"]})).await;
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    // A response body that the page never reads does not delay settling.
    stage.show("<button onclick=\"fetch('data:text/plain,x'.repeat(1))\">Go</button>").await;
    stage.act("click", json!({"target": "button"})).await;
}

/// The median of several measurements.
async fn median(stage: &Stage, name: &str, params: &Value) -> Duration {
    let mut times = Vec::new();
    for _ in 0..15 {
        let started = Instant::now();
        stage.act(name, params.clone()).await;
        times.push(started.elapsed());
    }
    times.sort_unstable();
    times[times.len() / 2]
}

#[tokio::test(flavor = "multi_thread")]
async fn action_without_effects_does_not_wait() {
    let stage = Stage::at("/click/effects").await;
    let click = json!({"target": "#nothing"});
    stage.act("click", click.clone()).await;
    // A wait for a single frame takes 16 ms, a click with all its events at least three round trips.
    let frames = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))";
    let waited = median(&stage, "eval", &json!({"expression": frames})).await;
    let clicked = median(&stage, "click", &click).await;
    assert!(
        clicked < Duration::from_millis(30).max(waited),
        "{clicked:?} for a click, {waited:?} for two frames"
    );
}
