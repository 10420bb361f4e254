//! `vitals`: values from the browser's performance entries, also on pages without observers.

use std::time::Duration;

use serde_json::json;

use tabwire_api::ErrorCode;

use crate::actions::support::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn vitals_match_the_page_measurements() {
    let stage = Stage::at("/vitals?shift=yes&milliseconds=100").await;
    stage.until("window.vitals.shift > 0 && document.querySelector('#large')").await;
    stage.act("click", json!({"target": "#sluggish"})).await;
    stage.until("window.vitals.interaction >= 200").await;
    // The browser reports the click of an interaction after its press, and either may be the slower event.
    let until = tokio::time::Instant::now() + Duration::from_secs(10);
    let (result, own) = loop {
        let before = stage.eval("window.vitals").await;
        let result = stage.act("vitals", json!({})).await;
        let own = stage.eval("window.vitals").await;
        let is_same = result["inp"]["value"].as_f64() == own["interaction"].as_f64();
        if before == own && (is_same || tokio::time::Instant::now() > until) {
            break (result, own);
        }
    };
    let number = |value: &serde_json::Value| value.as_f64().unwrap_or_else(|| panic!("a number: {result}"));
    assert!((number(&result["lcp"]["value"]) - number(&own["paint"])).abs() < 1.0, "{result} {own}");
    assert!((number(&result["cls"]["value"]) - number(&own["shift"])).abs() < 0.001, "{result} {own}");
    assert!((number(&result["inp"]["value"]) - number(&own["interaction"])).abs() < 1.0, "{result} {own}");
    assert_ne!(result["inp"]["rating"], "good", "{result}");
    assert_eq!(result["inp"]["element"], "button#sluggish");
    assert_eq!(result["lcp"]["element"], "div#large");
    assert!(number(&result["ttfb"]["value"]) > 0.0 && number(&result["fcp"]["value"]) > 0.0, "{result}");

    stage.act("click", json!({"target": "#task"})).await;
    stage
        .until("document.querySelector('#output').textContent === 'task over' && window.vitals.tasks >= 2")
        .await;
    let result = stage.act("vitals", json!({})).await;
    assert!(result["long_tasks"]["longest_ms"].as_f64().is_some_and(|longest| longest >= 300.0), "{result}");
    assert_eq!(result["interactions"], 2);
    let text = stage.text("vitals", json!({})).await;
    assert!(text.contains("LCP: ") && text.contains("long tasks: "), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn vitals_work_on_pages_without_observers() {
    let stage = Stage::at("/plain").await;
    let task =
        "const end = performance.now() + 150; while (performance.now() < end); document.body.append('x');";
    let work = format!(
        "new Promise((done) => setTimeout(() => {{ {task} requestAnimationFrame(() => setTimeout(done)); }}))"
    );
    stage.eval(&work).await;
    let result = stage.act("vitals", json!({})).await;
    assert_eq!(result["cls"]["value"], 0.0);
    assert!(result.get("inp").is_none(), "{result}");
    assert!(result["long_tasks"]["longest_ms"].as_f64().is_some_and(|longest| longest >= 150.0), "{result}");
    assert!(result["lcp"]["value"].as_f64().is_some_and(|value| value > 0.0), "{result}");
    let text = stage.text("vitals", json!({})).await;
    assert!(text.contains("INP: no interaction yet"), "{text}");
    stage.fails(ErrorCode::BadArgs, "vitals", json!({"since": 1})).await;
    stage.check_wrong_moments("vitals", json!({})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn interactions_above_the_minimum_duration_count() {
    let stage = Stage::start().await;
    stage
        .show(
            "<button id=first>First</button><button id=slower>Slower</button><script>
             slower.addEventListener('click', () => { const end = performance.now() + 90; while (performance.now() < end); });
             </script>",
        )
        .await;
    stage.act("click", json!({"target": "#first"})).await;
    stage.act("click", json!({"target": "#slower"})).await;
    let mut result = json!(null);
    for _ in 0..100 {
        result = stage.act("vitals", json!({})).await;
        if result["inp"]["element"] == "button#slower" {
            break;
        }
        // The browser reports the entry with the next frame.
        stage.eval("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))").await;
    }
    assert_eq!(result["inp"]["element"], "button#slower", "{result}");
    assert!(result["inp"]["value"].as_f64().is_some_and(|value| value >= 88.0), "{result}");
}
