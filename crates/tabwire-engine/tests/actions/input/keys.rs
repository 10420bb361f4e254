//! `type` and `press`: keys arrive as from a keyboard.

use serde_json::json;
use tabwire_api::ErrorCode;

use crate::actions::support::stage::Stage;

const LOG: &str = "document.getElementById('log').textContent";

#[tokio::test(flavor = "multi_thread")]
async fn type_sends_keys_one_by_one() {
    let stage = Stage::at("/keys").await;
    let done = stage.act("type", json!({"text": "Ab1!", "target": "#text"})).await;
    assert_eq!((&done["value"], &done["element"]), (&json!("Ab1!"), &json!("textbox \"Text\"")));
    let log = stage.eval(LOG).await;
    let log = log.as_str().expect("text");
    for line in [
        "keydown A code=KeyA repeat=false trusted=true",
        "keypress b code=KeyB repeat=false trusted=true",
        "keyup ! code=Digit1 repeat=false trusted=true",
        "beforeinput text insertText A",
    ] {
        assert!(log.contains(line), "{line}: {log}");
    }
    // Typed after the existing text; characters of other keyboards arrive in order.
    let done = stage.act("type", json!({"text": "-aé漢b🙂c"})).await;
    assert_eq!(done["value"], "Ab1!-aé漢b🙂c");
    let done = stage.act("type", json!({"text": "one\ntwo", "target": "#area", "slowly": true})).await;
    assert_eq!(done["value"], "one\ntwo");
    stage.act("type", json!({"text": "find", "target": "#submits", "submit": true})).await;
    assert!(stage.eval(LOG).await.as_str().expect("text").contains("submit find"));
}

#[tokio::test(flavor = "multi_thread")]
async fn long_text_is_typed_completely_and_in_order() {
    let stage = Stage::start().await;
    stage.show("<textarea id=area></textarea>").await;
    let text = "The quick brown fox; jumps_over 13 lazy DOGS? ".repeat(8);
    let done = stage.act("type", json!({"text": text, "target": "#area"})).await;
    assert_eq!(stage.eval("document.getElementById('area').value").await, text, "{done}");
}

#[tokio::test(flavor = "multi_thread")]
async fn chords_trigger_browser_shortcuts() {
    let stage = Stage::at("/keys").await;
    stage.act("type", json!({"text": "copy me", "target": "#text"})).await;
    stage.act("press", json!({"keys": ["Control+a", "Control+c"]})).await;
    stage.act("press", json!({"keys": ["Control+v", "Control+v"], "target": "#area"})).await;
    assert_eq!(stage.eval("document.getElementById('area').value").await, "copy mecopy me");
    let done =
        stage.act("press", json!({"keys": ["Home", "Shift+ArrowRight", "Shift+ArrowRight", "Delete"]})).await;
    assert_eq!(done["value"], "py mecopy me", "{done}");
    stage.act("press", json!({"keys": ["Shift+Tab"]})).await;
    assert_eq!(stage.eval("document.activeElement.id").await, "text");
    stage.act("press", json!({"keys": ["Control+k"]})).await;
    assert_eq!(stage.eval("document.getElementById('shortcut').textContent").await, "search opened");
    stage.act("press", json!({"keys": ["esc"], "target": "#focusable"})).await;
    assert_eq!(stage.eval("document.getElementById('shortcut').textContent").await, "escaped");
    stage.act("press", json!({"keys": ["Space"], "target": "#button"})).await;
    assert!(stage.eval(LOG).await.as_str().expect("text").contains("click button"));
    let text = stage.text("press", json!({"keys": ["Enter"], "target": "#submits"})).await;
    assert_eq!(text.lines().next(), Some("pressed Enter in textbox \"Enter submits\""));
    assert!(stage.eval(LOG).await.as_str().expect("text").contains("submit"));
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_reach_the_focused_frame() {
    let stage = Stage::at("/frames/deep").await;
    stage.act("click", json!({"target": "label=\"Name deep\""})).await;
    let done = stage.act("type", json!({"text": "Ann"})).await;
    assert_eq!((&done["value"], &done["element"]), (&json!("Ann"), &json!("textbox \"Name deep\"")));
    stage.act("press", json!({"keys": ["Enter"]})).await;
    stage.until("document.getElementById('log').textContent.includes('saved deep: Ann')").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn type_and_press_reject_bad_input() {
    let stage = Stage::at("/keys").await;
    stage.fails(ErrorCode::BadArgs, "type", json!({"text": ""})).await;
    stage.fails(ErrorCode::BadArgs, "type", json!({"text": "a", "nth": 2})).await;
    stage.fails(ErrorCode::BadArgs, "type", json!({"text": "a long text, slowly", "slowly": true})).await;
    stage.fails(ErrorCode::SelectorNotFound, "type", json!({"text": "a", "target": "#nowhere"})).await;
    stage.fails(ErrorCode::NotActionable, "type", json!({"text": "a", "target": "h1"})).await;
    for keys in [json!([]), json!(["Entre"]), json!(["Hyper+a"]), json!([""])] {
        stage.fails(ErrorCode::BadArgs, "press", json!({"keys": keys})).await;
    }
    stage.check_wrong_moments("type", json!({"text": "a"})).await;
    stage.check_wrong_moments("press", json!({"keys": ["Enter"]})).await;
}
