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

/// A list whose rows make room while the mouse passes them with the button held.
const SORTABLE: &str = "<style>li { height: 40px; width: 200px; background: #ddd; user-select: none }</style>\
    <ul id=list><li>one</li><li>two</li><li>three</li><li>four</li><li>five</li></ul><script>\
    let held = null; window.moves = 0;\
    list.onpointerdown = (event) => { held = event.target; };\
    document.onpointermove = (event) => { if (!held) return; moves++;\
      const over = document.elementFromPoint(event.clientX, event.clientY);\
      if (!over || over === held || over.parentNode !== list) return;\
      const rows = [...list.children];\
      if (rows.indexOf(over) === rows.indexOf(held) + 1) over.after(held);\
      else if (rows.indexOf(over) === rows.indexOf(held) - 1) over.before(held); };\
    document.onpointerup = () => { held = null; };</script>";

#[tokio::test(flavor = "multi_thread")]
async fn b14_drag_moves_in_steps_and_says_when_nothing_changed() {
    let stage = Stage::start().await;
    stage.show(SORTABLE).await;
    let done = stage.act("drag", json!({"target": "text=one", "to": "text=five"})).await;
    assert!(done.get("unchanged").is_none(), "{done}");
    assert_eq!(
        stage.eval("[...list.children].map((row) => row.textContent).join()").await,
        "two,three,four,five,one"
    );
    assert!(stage.eval("moves").await.as_u64() >= Some(8));
    stage.show("<p>One</p><p>Two</p>").await;
    let text = stage.text("drag", json!({"target": "text=One", "to": "text=Two"})).await;
    assert!(text.contains("nothing changed on the page"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn mouse_drags_and_clicks_between_points() {
    let stage = Stage::start().await;
    stage
        .show(
            "<body style='margin:0'><canvas id=pad width=300 height=200></canvas><p id=log></p><script>\
             let path = null; pad.onpointerdown = (event) => { path = [event.offsetX]; };\
             pad.onpointermove = (event) => { path?.push(event.offsetX); };\
             pad.onpointerup = () => { log.textContent = path.length; path = null; };\
             pad.onclick = (event) => { log.title = event.offsetX + ',' + event.offsetY; };</script>",
        )
        .await;
    let text = stage.text("mouse", json!({"what": "drag", "at": [20, 30], "to": [220, 90]})).await;
    assert!(text.starts_with("dragged from 20,30 to 220,90"), "{text}");
    assert!(stage.eval("Number(log.textContent)").await.as_u64() >= Some(10));
    stage.act("mouse", json!({"what": "click", "at": [50, 60]})).await;
    assert_eq!(stage.eval("log.title").await, "50,60");
    stage.fails(ErrorCode::BadArgs, "mouse", json!({"what": "drag", "at": [1, 1]})).await;
    stage.fails(ErrorCode::BadArgs, "mouse", json!({"what": "click"})).await;
}
