//! `scroll`: the page, an element, an element into view, and content that scrolling loads.

use serde_json::json;
use tabwire_api::ErrorCode;

use crate::actions::support::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn scroll_moves_pages_and_elements() {
    let stage = Stage::at("/scroll").await;
    let done = stage.act("scroll", json!({"by": [0, 500]})).await;
    assert_eq!((&done["moved_y"], &done["at"]), (&json!(500.0), &json!(["left"])), "{done}");
    let done = stage.act("scroll", json!({"to": "bottom"})).await;
    assert!(done["at"].as_array().expect("edges").contains(&json!("bottom")), "{done}");
    stage.act("scroll", json!({"to": "right"})).await;
    let done = stage.act("scroll", json!({"to": "0,0"})).await;
    assert_eq!(done["at"], json!(["top", "left"]));
    let done = stage.act("scroll", json!({"target": "#inner", "to": "bottom"})).await;
    assert_eq!(done["scrolled"], "region \"Inner box\"");
    assert_eq!(stage.eval("window.positions().page").await, json!([0, 0]));
    assert!(stage.eval("window.positions().inner[1]").await.as_f64().is_some_and(|y| y > 1000.0));
    stage.act("scroll", json!({"target": "#bottom"})).await;
    assert!(
        stage.eval("document.getElementById('bottom').getBoundingClientRect().bottom <= innerHeight").await
            == true
    );
    let text = stage.text("scroll", json!({"by": [0, -100]})).await;
    assert!(text.starts_with("scrolled the page by 0,-100\nat "), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn scroll_waits_for_content_that_it_loads() {
    let stage = Stage::at("/list/infinite?loads=3").await;
    stage.until("document.querySelectorAll('li').length >= 20").await;
    let done = stage.act("scroll", json!({"to": "bottom"})).await;
    assert!(stage.eval("document.querySelectorAll('li').length").await.as_u64() >= Some(40), "{done}");
    assert_eq!(done["content"], true, "{done}");
    assert!(!done["at"].as_array().expect("edges").contains(&json!("bottom")), "more has come: {done}");
    stage.act("scroll", json!({"to": "bottom"})).await;
    let done = stage.act("scroll", json!({"to": "bottom"})).await;
    assert!(done["at"].as_array().expect("edges").contains(&json!("bottom")), "{done}");
}

#[tokio::test(flavor = "multi_thread")]
async fn scroll_rejects_bad_input() {
    let stage = Stage::at("/scroll").await;
    for params in [
        json!({}),
        json!({"to": "middle"}),
        json!({"to": "top", "by": [0, 1]}),
        json!({"by": "down"}),
        json!({"to": "top", "nth": 1}),
    ] {
        stage.fails(ErrorCode::BadArgs, "scroll", params).await;
    }
    stage.fails(ErrorCode::SelectorNotFound, "scroll", json!({"target": "#nowhere"})).await;
    stage.check_wrong_moments("scroll", json!({"to": "top"})).await;
}
