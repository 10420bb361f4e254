//! `fill`: text is entered in one step, the page gets input events, and their effects are reported.

use serde_json::json;
use tabwire_api::ErrorCode;

use crate::actions::support::stage::Stage;

/// A field, and a log of its events.
const HEARD: &str = "<input id=f aria-label=F><script>window.heard = [];
    for (const type of ['beforeinput', 'input', 'change', 'keydown'])
      addEventListener(type, event => heard.push(`${type} ${event.inputType ?? ''} ${event.data ?? ''}`.trim()), true);
    </script>";

#[tokio::test(flavor = "multi_thread")]
async fn fill_fires_input_events_and_can_be_undone() {
    let stage = Stage::start().await;
    stage.show(HEARD).await;
    let done = stage.act("fill", json!({"target": "#f", "value": "first"})).await;
    assert_eq!((&done["value"], &done["element"]), (&json!("first"), &json!("textbox \"F\"")), "{done}");
    stage.act("fill", json!({"target": "#f", "value": "second"})).await;
    let heard = stage.eval("heard.splice(0).join('|')").await;
    let edit = |text: &str| format!("beforeinput insertText {text}|input insertText {text}");
    assert_eq!(heard, format!("{}|{}", edit("first"), edit("second")));
    stage.act("press", json!({"keys": ["Control+z"]})).await;
    assert_eq!(stage.eval("f.value").await, "first");
    stage.eval("heard.length = 0; f.blur()").await;
    assert_eq!(stage.eval("heard.splice(0).join('|')").await, "change");
    stage.act("fill", json!({"target": "#f", "value": ""})).await;
    let heard = stage.eval("heard.splice(0).join('|')").await;
    assert_eq!(heard, "beforeinput deleteContentBackward|input deleteContentBackward");
    assert_eq!(stage.eval("f.value").await, "");
    // Clearing an empty field fires no event.
    stage.act("fill", json!({"target": "#f", "value": ""})).await;
    assert_eq!(stage.eval("heard.length").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn fill_reports_refused_and_rewritten_text() {
    let stage = Stage::start().await;
    stage.show("<input id=f><input id=mask><input id=short minlength=5>").await;
    stage.eval("f.addEventListener('beforeinput', event => event.preventDefault())").await;
    let refused = stage.fails(ErrorCode::NotActionable, "fill", json!({"target": "#f", "value": "x"})).await;
    assert!(refused.message.contains("did not accept the value"), "{refused:?}");
    // Like an input mask: the page prevents the input and sets its own value.
    stage
        .eval("mask.addEventListener('beforeinput', event => { event.preventDefault(); mask.value = event.data; })")
        .await;
    let done = stage.act("fill", json!({"target": "#mask", "value": "0815"})).await;
    assert_eq!(done["value"], "0815", "{done}");
    // `minlength` applies only to text that a user entered.
    stage.act("fill", json!({"target": "#short", "value": "abc"})).await;
    assert_eq!(stage.eval("short.validity.tooShort").await, true);
}

#[tokio::test(flavor = "multi_thread")]
async fn fill_reports_effects_of_the_input_event() {
    let stage = Stage::start().await;
    stage.show("<title>Before</title><input id=f oninput='document.title = f.value'>").await;
    let done = stage.act("fill", json!({"target": "#f", "value": "After"})).await;
    assert_eq!(done["title"], "After", "{done}");
    stage.show("<input id=f oninput='setTimeout(() => setTimeout(() => document.title = f.value))'>").await;
    let done = stage.act("fill", json!({"target": "#f", "value": "Later"})).await;
    assert_eq!(done["title"], "Later", "{done}");
    stage.show("<input id=f oninput='alert(f.value)'>").await;
    let done = stage.act("fill", json!({"target": "#f", "value": "Hello"})).await;
    assert_eq!(done["dialog"]["message"], "Hello", "{done}");
    stage.fails(ErrorCode::DialogOpen, "fill", json!({"target": "#f", "value": "again"})).await;
    stage.act("dialog", json!({"answer": "accept"})).await;
    assert_eq!(stage.eval("f.value").await, "Hello", "nothing was entered behind the dialog");
    stage.open("/form").await;
    stage.eval("document.querySelector('#name').oninput = () => location.assign('/inputs')").await;
    let done = stage.act("fill", json!({"target": "#name", "value": "x"})).await;
    assert!(done["url"].as_str().is_some_and(|url| url.ends_with("/inputs")), "{done}");
}

#[tokio::test(flavor = "multi_thread")]
async fn fill_works_in_late_fields_and_in_xhtml() {
    let stage = Stage::start().await;
    stage
        .show("<div id=place></div><script>setTimeout(() => place.innerHTML = '<input id=f>', 300)</script>")
        .await;
    let done = stage.act("fill", json!({"target": "#f", "value": "late"})).await;
    assert_eq!(done["value"], "late", "{done}");
    let page = "<html xmlns='http://www.w3.org/1999/xhtml'><body><input id='f'/></body></html>";
    stage
        .eval(&format!(
            "location.href = URL.createObjectURL(new Blob([`{page}`], {{type: 'application/xhtml+xml'}}))"
        ))
        .await;
    stage.act("wait_for", json!({"target": "input"})).await;
    let done = stage.act("fill", json!({"target": "#f", "value": "strict"})).await;
    assert_eq!(done["value"], "strict", "{done}");
}

#[tokio::test(flavor = "multi_thread")]
async fn b15_number_field_gets_key_events() {
    let stage = Stage::start().await;
    stage
        .show(
            "<input id=n type=number value=7 onkeyup=\"log.textContent = this.value\"><p id=log></p>\
             <input id=t>",
        )
        .await;
    let done = stage.act("fill", json!({"target": "#n", "value": "-12.5"})).await;
    assert_eq!(done["value"], "-12.5");
    assert_eq!(stage.eval("log.textContent").await, "-12.5");
    let done = stage.act("fill", json!({"target": "#n", "value": ""})).await;
    assert_eq!(done["value"], "");
}
