//! `dblclick`, `hover`, `tap`, `mouse` and `select_text`.

use serde_json::json;
use tabwire_api::ErrorCode;

use crate::actions::support::stage::Stage;

const LOG: &str = "document.getElementById('log').textContent";

#[tokio::test(flavor = "multi_thread")]
async fn dblclick_hover_and_tap_fire_events() {
    let stage = Stage::at("/click/targets").await;
    let done = stage.act("dblclick", json!({"target": "#double"})).await;
    assert_eq!(done["element"], "button \"Double click me\"");
    let log = stage.eval(LOG).await;
    assert!(
        log.as_str().expect("text").contains("dblclick double button=0 count=2 keys=none trusted=true"),
        "{log}"
    );

    stage.act("hover", json!({"target": "#opener"})).await;
    assert_eq!(stage.eval("getComputedStyle(document.getElementById('menu')).display").await, "block");
    stage.act("click", json!({"target": "#entry"})).await;

    stage.act("tap", json!({"target": "#touch"})).await;
    let log = stage.eval(LOG).await;
    let log = log.as_str().expect("text");
    assert!(log.contains("touchstart touch fingers=1\ntouchend touch fingers=0\nclick touch"), "{log}");
    assert!(log.contains("click entry"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn mouse_moves_presses_and_turns_the_wheel() {
    let stage = Stage::at("/click/targets").await;
    let place = stage.eval("(() => { const box = document.getElementById('press').getBoundingClientRect(); return [box.x + 5, box.y + 5]; })()").await;
    let text = stage.text("mouse", json!({"what": "move", "at": place})).await;
    assert!(text.starts_with("moved the mouse to "), "{text}");
    stage.act("mouse", json!({"what": "down"})).await;
    assert!(!stage.eval(LOG).await.as_str().expect("text").contains("mouseup"));
    stage.act("mouse", json!({"what": "up"})).await;
    let log = stage.eval(LOG).await;
    let log = log.as_str().expect("text");
    assert!(
        log.contains(
            "pointerdown press mouse\nmousedown press mouse\npointerup press mouse\nmouseup press mouse"
        ),
        "{log}"
    );
    assert!(log.contains("click press button=0 count=1"), "{log}");
    stage.act("mouse", json!({"what": "wheel", "at": [10, 10], "by": [0, 300]})).await;
    stage.until("scrollY > 200").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pointer_actions_reject_bad_input() {
    let stage = Stage::at("/click/targets").await;
    for name in ["dblclick", "hover", "tap"] {
        stage.fails(ErrorCode::BadArgs, name, json!({"target": ".twin"})).await;
        stage.fails(ErrorCode::BadArgs, name, json!({"target": "#pad", "position": "x"})).await;
        stage.fails(ErrorCode::NotActionable, name, json!({"target": "#hidden"})).await;
    }
    for params in [
        json!({}),
        json!({"what": "jump"}),
        json!({"what": "move"}),
        json!({"what": "wheel"}),
        json!({"what": "up", "by": [1, 1]}),
        json!({"what": "move", "at": [-1, 5]}),
    ] {
        stage.fails(ErrorCode::BadArgs, "mouse", params).await;
    }
    for (name, params) in [
        ("dblclick", json!({"target": "body"})),
        ("hover", json!({"target": "body"})),
        ("tap", json!({"target": "body"})),
        ("mouse", json!({"what": "move", "at": [5, 5]})),
    ] {
        stage.check_wrong_moments(name, params).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn select_text_selects_like_a_drag_of_the_mouse() {
    let stage = Stage::start().await;
    stage
        .show(
            "<p id=p>Some <b>bold\n words</b> to select <span hidden>unseen</span></p><input id=i value='one two three'>\
             <div id=empty style='width:9px;height:9px'></div><script>\
             document.onmouseup = () => { document.title = 'up: ' + getSelection().toString(); };\
             i.onselect = () => { window.chosen = i.value.slice(i.selectionStart, i.selectionEnd); };</script>",
        )
        .await;
    let part = stage.text("select_text", json!({"target": "#p", "text": "bold words to"})).await;
    assert!(part.starts_with("selected 14 characters in paragraph"), "{part}");
    assert_eq!(stage.eval("getSelection().toString().replace(/\\s+/g, ' ')").await, "bold words to");
    assert_eq!(stage.eval("document.title.replace(/\\s+/g, ' ')").await, "up: bold words to");
    stage.act("select_text", json!({"target": "#p"})).await;
    assert_eq!(stage.eval("getSelection().toString().trim()").await, "Some bold words to select");
    let field = stage.act("select_text", json!({"target": "#i", "text": "two"})).await;
    assert_eq!(field["selected"], "two");
    assert_eq!(stage.eval("i.value.slice(i.selectionStart, i.selectionEnd)").await, "two");
    stage.act("press", json!({"keys": ["X"]})).await;
    assert_eq!(stage.eval("i.value").await, "one X three");
    for bad in [
        json!({"target": "#p", "text": "absent"}),
        json!({"target": "#p", "text": "unseen"}),
        json!({"target": "#empty"}),
    ] {
        stage.fails(ErrorCode::SelectorNotFound, "select_text", bad).await;
    }
}
