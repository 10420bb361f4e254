//! `drag`: with HTML drag and drop, and on pages that handle mouse events.

use serde_json::json;
use tabwire_api::ErrorCode;

use crate::actions::support::stage::Stage;

const LOG: &str = "document.getElementById('log').textContent";

#[tokio::test(flavor = "multi_thread")]
async fn html_drag_and_drop_delivers_data() {
    let stage = Stage::at("/drag").await;
    let done = stage.act("drag", json!({"target": "#apple", "to": "#to"})).await;
    assert_eq!((&done["native"], &done["effect"]), (&json!(true), &json!("move")), "{done}");
    assert_eq!(done["to"], "list \"To\"");
    assert_eq!(stage.eval("document.getElementById('apple').parentNode.id").await, "to");
    let log = stage.eval(LOG).await;
    let log = log.as_str().expect("text");
    assert!(log.contains("dragstart apple trusted=true"), "{log}");
    assert!(log.contains("drop apple on to types=text/plain,application/x-fixture"), "{log}");
    assert!(log.contains("dragend apple move"), "{log}");

    let text = stage.text("drag", json!({"target": "#pear", "to": "#refuses"})).await;
    assert!(text.contains("no element accepted the drop"), "{text}");
    assert_eq!(stage.eval("document.getElementById('pear').parentNode.id").await, "from");
    // The mouse works afterwards.
    stage.act("click", json!({"target": "#drag-link"})).await;
    assert_eq!(stage.eval("location.pathname").await, "/plain");
}

#[tokio::test(flavor = "multi_thread")]
async fn mouse_driven_drag_moves_the_element() {
    let stage = Stage::at("/drag").await;
    let done = stage.act("drag", json!({"target": "#box", "to": "#slot"})).await;
    assert_eq!(done["native"], false, "{done}");
    let log = stage.eval(LOG).await;
    let log = log.as_str().expect("text").to_owned();
    assert!(log.contains("pointerdown mouse trusted=true\npointerup in slot moved"), "{log}");
    stage.act("drag", json!({"target": "#knob", "by": [150, 0]})).await;
    assert_eq!(stage.eval("document.getElementById('knob').getAttribute('aria-valuenow')").await, "50");
}

#[tokio::test(flavor = "multi_thread")]
async fn drag_rejects_bad_input() {
    let stage = Stage::at("/drag").await;
    stage.fails(ErrorCode::BadArgs, "drag", json!({"target": "#box"})).await;
    stage.fails(ErrorCode::BadArgs, "drag", json!({"target": "#box", "to": "#slot", "by": [1, 1]})).await;
    stage.fails(ErrorCode::BadArgs, "drag", json!({"target": "#box", "by": [1, 1], "to_nth": 1})).await;
    stage.fails(ErrorCode::SelectorNotFound, "drag", json!({"target": "#box", "to": "#nowhere"})).await;
    // A drag without a valid end presses no button.
    assert_eq!(stage.eval(LOG).await, "");
    stage.check_wrong_moments("drag", json!({"target": "body", "by": [10, 10]})).await;
}
