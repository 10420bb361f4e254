//! `vitals`: what the browser noted, also on pages that do not measure themselves.

use std::time::Duration;

use serde_json::json;

use tabwire_api::ErrorCode;

use crate::actions::support::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn vitals_are_what_the_page_itself_measured() {
    let stage = Stage::at("/vitals?shift=yes&milliseconds=100").await;
    stage.until("window.vitals.shift > 0 && document.querySelector('#large')").await;
    stage.act("click", json!({"target": "#sluggish"})).await;
    stage.until("window.vitals.interaction >= 200").await;
    // The click of an interaction is told later than the press that began it, and either may be the slower one.
    let until = tokio::time::Instant::now() + Duration::from_secs(10);
    let (told, own) = loop {
        let before = stage.eval("window.vitals").await;
        let told = stage.act("vitals", json!({})).await;
        let own = stage.eval("window.vitals").await;
        let is_same = told["inp"]["value"].as_f64() == own["interaction"].as_f64();
        if before == own && (is_same || tokio::time::Instant::now() > until) {
            break (told, own);
        }
    };
    let number = |value: &serde_json::Value| value.as_f64().unwrap_or_else(|| panic!("a number: {told}"));
    assert!((number(&told["lcp"]["value"]) - number(&own["paint"])).abs() < 1.0, "{told} {own}");
    assert!((number(&told["cls"]["value"]) - number(&own["shift"])).abs() < 0.001, "{told} {own}");
    assert!((number(&told["inp"]["value"]) - number(&own["interaction"])).abs() < 1.0, "{told} {own}");
    assert_ne!(told["inp"]["rating"], "good", "{told}");
    assert_eq!(told["inp"]["element"], "button#sluggish");
    assert_eq!(told["lcp"]["element"], "div#large");
    assert!(number(&told["ttfb"]["value"]) > 0.0 && number(&told["fcp"]["value"]) > 0.0, "{told}");

    stage.act("click", json!({"target": "#task"})).await;
    stage
        .until("document.querySelector('#output').textContent === 'task over' && window.vitals.tasks >= 2")
        .await;
    let told = stage.act("vitals", json!({})).await;
    assert!(told["long_tasks"]["longest_ms"].as_f64().is_some_and(|longest| longest >= 300.0), "{told}");
    assert_eq!(told["interactions"], 2);
    let text = stage.text("vitals", json!({})).await;
    assert!(text.contains("LCP: ") && text.contains("long tasks: "), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_that_measure_nothing_are_measured_too() {
    let stage = Stage::at("/plain").await;
    let task =
        "const end = performance.now() + 150; while (performance.now() < end); document.body.append('x');";
    let work = format!(
        "new Promise((done) => setTimeout(() => {{ {task} requestAnimationFrame(() => setTimeout(done)); }}))"
    );
    stage.eval(&work).await;
    let told = stage.act("vitals", json!({})).await;
    assert_eq!(told["cls"]["value"], 0.0);
    assert!(told.get("inp").is_none(), "{told}");
    assert!(told["long_tasks"]["longest_ms"].as_f64().is_some_and(|longest| longest >= 150.0), "{told}");
    assert!(told["lcp"]["value"].as_f64().is_some_and(|value| value > 0.0), "{told}");
    let text = stage.text("vitals", json!({})).await;
    assert!(text.contains("INP: no interaction yet"), "{text}");
    stage.fails(ErrorCode::BadArgs, "vitals", json!({"since": 1})).await;
    stage.check_wrong_moments("vitals", json!({})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn quick_interactions_count_too() {
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
    let mut told = json!(null);
    for _ in 0..100 {
        told = stage.act("vitals", json!({})).await;
        if told["inp"]["element"] == "button#slower" {
            break;
        }
        // Told with the frame after it.
        stage.eval("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))").await;
    }
    assert_eq!(told["inp"]["element"], "button#slower", "{told}");
    assert!(told["inp"]["value"].as_f64().is_some_and(|value| value >= 88.0), "{told}");
}
