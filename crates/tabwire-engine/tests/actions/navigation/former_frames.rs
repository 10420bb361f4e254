//! Frames of the page before are not listed, searched or judged after a navigation.

use std::time::{Duration, Instant};

use serde_json::json;
use tabwire_cdp::Deadline;

use crate::actions::support::late_link::{LateLists, StaleLists};
use crate::actions::support::stage::Stage;

/// The frames that the page has now, one line each.
async fn frames(stage: &Stage) -> Vec<String> {
    stage.text("frame", json!({})).await.lines().map(str::to_owned).collect()
}

/// Checks that only the main frame is there, and that searches end at once.
async fn check_alone(stage: &Stage, when: &str) {
    let listed = frames(stage).await;
    assert_eq!(listed.len(), 1, "{when}: {listed:?}");
    let began = Instant::now();
    stage.act("find", json!({"text": "Plain"})).await;
    stage.act("wait_for", json!({"text_gone": "Form wrapped"})).await;
    stage.act("screenshot", json!({})).await;
    assert!(began.elapsed() < Duration::from_secs(5), "{when}: {:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn b5_frames_of_other_processes_go_with_their_page() {
    let stage = Stage::start().await;
    for round in 0..6 {
        // Left at different moments: while its frames get their processes, and when they have them.
        let (from, to) = if round % 2 == 0 { ("a", "b") } else { ("c", "a") };
        let path = if round % 3 == 0 { "/frames" } else { "/frames/mix" };
        let wait = if round % 2 == 0 { "commit" } else { "load" };
        let url = stage.site.url(from, path);
        stage.act("navigate", json!({"url": url, "wait_until": wait})).await;
        stage.act("navigate", json!({"url": stage.site.url(to, "/plain")})).await;
        check_alone(&stage, &format!("round {round}")).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b5_a_late_list_of_frames_does_not_bring_them_back() {
    let late = LateLists::default();
    let stage = Stage::start_over(|link, tasks| late.link(link, tasks)).await;
    stage.open("/frames/mix").await;
    stage.act("wait_for", json!({"text": "Form wrapped"})).await;
    let tab = stage.browser.current_tab().expect("a tab");
    // The page is attached again, with its frames, and navigates before the list of them is read.
    stage.browser.detach_tab(tab, Deadline::after(Duration::from_secs(5))).await;
    late.hold();
    stage.act("navigate", json!({"url": stage.site.url("b", "/plain")})).await;
    assert!(late.held() > 0, "no list was under way");
    check_alone(&stage, "after the late list").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b5_a_late_list_does_not_move_a_frame_back() {
    let stale = StaleLists::default();
    let stage = Stage::start_chromium_over(|link, tasks| stale.link(link, tasks)).await;
    stage.open("/plain").await;
    let form = |site: &str| stage.site.url(site, "/frames/form?name=moving");
    let own = json!(form("a"));
    stage
        .eval(&format!(
            "new Promise((done) => {{ window.frame = document.createElement('iframe'); frame.onload = done; \
             frame.src = {own}; document.body.append(frame); }})"
        ))
        .await;
    let tab = stage.browser.current_tab().expect("a tab");
    let other = stage.second_session(tab).await;
    // The page is attached again. The list of its frames arrives when the frame has moved to another process.
    let deadline = || Deadline::after(Duration::from_secs(10));
    stage.browser.detach_tab(tab, deadline()).await;
    stale.hold();
    let page = stage.act("eval", json!({"expression": "frame.src"}));
    let moving = async {
        stale.first().await;
        let script = format!("frame.src = {}; 1", json!(form("b")));
        other.send("Runtime.evaluate", &json!({"expression": script}), deadline()).await.expect("sent");
    };
    tokio::join!(page, moving);
    stage.act("wait_for", json!({"target": "role=button[name='Save moving']"})).await;
    let began = Instant::now();
    let text = stage.text("snapshot", json!({})).await;
    assert!(text.contains("Save moving") && !text.contains("not read"), "{text}");
    stage.act("click", json!({"target": "role=button[name='Save moving']"})).await;
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn b5_a_page_from_the_cache_has_its_frames_again() {
    let stage = Stage::at("/frames").await;
    stage.act("wait_for", json!({"target": "role=button[name='Press']"})).await;
    let before = frames(&stage).await;
    assert!(before.len() >= 3, "{before:?}");
    for round in 0..3 {
        stage.act("navigate", json!({"url": stage.site.url("b", "/plain")})).await;
        check_alone(&stage, &format!("away {round}")).await;
        stage.act("back", json!({})).await;
        stage.act("click", json!({"target": "role=button[name='Press']"})).await;
        assert_eq!(frames(&stage).await.len(), before.len(), "back {round}");
    }
}
