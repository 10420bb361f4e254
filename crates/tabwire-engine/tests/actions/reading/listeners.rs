//! Elements that are clickable only through event listeners.

use std::time::Duration;

use serde_json::{Value, json};

use crate::actions::support::stage::Stage;

/// The names of clickable elements without an interactive role, in page order.
fn clickables(node: &Value, found: &mut Vec<String>) {
    if node["role"] == "clickable" || node["clickable"] == true {
        found.push(node["name"].as_str().unwrap_or_default().to_owned());
    }
    for below in ["nodes", "children"] {
        for child in node[below].as_array().into_iter().flatten() {
            clickables(child, found);
        }
    }
}

async fn clickable(stage: &Stage) -> Vec<String> {
    let mut found = Vec::new();
    clickables(&stage.act("snapshot", json!({"budget": 20_000})).await, &mut found);
    found
}

/// Takes snapshots until these are clickable: on a busy machine the first snapshot may come before all listeners are
/// known.
async fn becomes(stage: &Stage, expected: &[&str]) {
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    loop {
        let found = clickable(stage).await;
        if found == expected {
            return;
        }
        assert!(std::time::Instant::now() < deadline, "{found:?} in place of {expected:?}");
    }
}

/// The elements with listeners, in the page and in a frame with the same page.
const LISTENING: [&str; 8] = [
    "Plain listener",
    "Pressed listener",
    "Property listener",
    "",
    "Menu",
    "",
    "Shadow listener",
    "Inner listener",
];

#[tokio::test(flavor = "multi_thread")]
async fn first_snapshot_lists_elements_with_click_listeners() {
    let stage = Stage::chromium_at("/click/listeners?frame=yes").await;
    stage.act("wait_for", json!({"text": "Nothing but listeners"})).await;
    let twice: Vec<&str> = LISTENING.iter().chain(&LISTENING).copied().collect();
    let began = std::time::Instant::now();
    let found = clickable(&stage).await;
    if began.elapsed() < Duration::from_millis(400) {
        assert_eq!(found, twice, "{}", stage.text("snapshot", json!({})).await);
    }
    becomes(&stage, &twice).await;
    // Their refs work, also in a cross-site frame.
    stage.act("click", json!({"target": "text=Shadow listener", "nth": 1})).await;
    stage.until("document.querySelector('#log').textContent === 'shadow\\n'").await;
    let text = stage.text("find", json!({"text": "inner listener"})).await;
    assert!(text.contains("clickable \"Inner listener\" [e"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn added_and_removed_listeners_change_the_next_snapshot() {
    let stage = Stage::chromium_at("/click/listeners").await;
    becomes(&stage, &LISTENING).await;
    stage.act("click", json!({"target": "#more"})).await;
    let mut more = LISTENING.to_vec();
    more.push("Late listener");
    becomes(&stage, &more).await;
    stage.act("click", json!({"target": "#fewer"})).await;
    more.retain(|name| *name != "Plain listener" && *name != "Property listener");
    becomes(&stage, &more).await;
    // A new document starts without listeners.
    stage.act("reload", json!({})).await;
    becomes(&stage, &LISTENING).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn listener_added_between_snapshots_is_found() {
    let stage = Stage::chromium_at("/click/listeners").await;
    becomes(&stage, &LISTENING).await;
    // The listener is added after some snapshots, without any action on the page.
    stage
        .eval("void setTimeout(() => document.querySelector('h1').addEventListener('click', () => {}), 500)")
        .await;
    let mut more = vec!["Nothing but listeners"];
    more.extend(LISTENING);
    becomes(&stage, &more).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_listeners_do_not_delay_the_first_snapshot() {
    let stage = Stage::chromium_at("/click/listeners?rows=10000").await;
    let began = std::time::Instant::now();
    stage.act("snapshot", json!({})).await;
    let first = began.elapsed();
    // The agent reports the last rows last, after the snapshots.
    stage.eval("scrollTo(0, 1e9)").await;
    let deadline = std::time::Instant::now() + Duration::from_secs(30);
    loop {
        let found = clickable(&stage).await;
        if found.iter().any(|name| name == "Row 10000") {
            break;
        }
        assert!(std::time::Instant::now() < deadline, "{found:?}");
    }
    let began = std::time::Instant::now();
    stage.act("snapshot", json!({})).await;
    // Far longer than the first snapshot takes, and shorter than reporting all listeners first would take.
    let later = began.elapsed();
    assert!(first.max(later) < Duration::from_secs(5), "{first:?}, {later:?}");
}
