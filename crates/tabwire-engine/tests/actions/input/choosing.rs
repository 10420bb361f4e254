//! `select`, `check`, `uncheck` and `focus`: the requested state holds afterwards.

use serde_json::json;
use tabwire_api::ErrorCode;

use crate::actions::support::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn options_are_selected_by_label_value_and_index() {
    let stage = Stage::at("/selects").await;
    let done = stage.act("select", json!({"target": "#single", "options": ["Red"]})).await;
    assert_eq!((&done["value"], &done["element"]), (&json!("Red"), &json!("combobox \"Colour\"")));
    stage.act("select", json!({"target": "label=Colour", "options": ["g"], "by": "value"})).await;
    assert_eq!(stage.eval("document.getElementById('single').value").await, "g");
    stage.act("select", json!({"target": "#twins", "options": ["2"], "by": "index"})).await;
    assert_eq!(stage.eval("document.getElementById('twins').value").await, "2");
    let done = stage.act("select", json!({"target": "#multiple", "options": ["Apple", "plum"]})).await;
    assert_eq!(done["value"], "Apple, Plum");
    // Its options appear later and depend on the first selection.
    stage.act("select", json!({"target": "#country", "options": ["Peru"]})).await;
    stage.act("select", json!({"target": "#city", "options": ["Lima"]})).await;
    assert_eq!(stage.eval("document.getElementById('city').value").await, "Lima");
}

#[tokio::test(flavor = "multi_thread")]
async fn impossible_selections_fail_with_the_reason() {
    let stage = Stage::at("/selects").await;
    let failure = stage
        .fails(ErrorCode::NotActionable, "select", json!({"target": "#single", "options": ["Pink"]}))
        .await;
    assert!(failure.hint().contains("\"Red\", \"Green\""), "{failure:?}");
    stage.fails(ErrorCode::NotActionable, "select", json!({"target": "#single", "options": ["Blue"]})).await;
    stage
        .fails(ErrorCode::NotActionable, "select", json!({"target": "#stubborn", "options": ["Second"]}))
        .await;
    stage.fails(ErrorCode::BadArgs, "select", json!({"target": "#single", "options": ["r", "g"]})).await;
    stage
        .fails(ErrorCode::BadArgs, "select", json!({"target": "#single", "options": ["0"], "by": "index"}))
        .await;
    stage.fails(ErrorCode::BadArgs, "select", json!({"target": "#custom", "options": ["Ant"]})).await;
    stage.show("<select><option>A</option></select>").await;
    stage.act("select", json!({"target": "select", "options": ["A"]})).await;
    stage.check_wrong_moments("select", json!({"target": "select", "options": ["A"]})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn check_boxes_of_every_kind_are_ticked_and_unticked() {
    let stage = Stage::at("/checks").await;
    let boxes = [
        "plain",
        "mixed",
        "clear",
        "clipped",
        "none",
        "reborn",
        "late",
        "with-link",
        "fast",
        "warp",
        "switch-input",
    ];
    for id in boxes {
        let done = stage.act("check", json!({"target": format!("#{id}")})).await;
        assert_eq!(done["did"], "ticked", "{id}");
        assert_eq!(stage.eval(&format!("document.getElementById('{id}').checked")).await, true, "{id}");
    }
    for id in ["switch-button", "aria-check", "aria-mixed", "round"] {
        stage.act("check", json!({"target": format!("#{id}")})).await;
        assert_eq!(stage.eval(&format!("document.getElementById('{id}').ariaChecked")).await, "true", "{id}");
    }
    assert_eq!(stage.act("check", json!({"target": "#checked"})).await["did"], "already ticked:");
    for id in ["plain", "none", "checked", "reborn", "late"] {
        stage.act("uncheck", json!({"target": format!("#{id}")})).await;
        assert_eq!(stage.eval(&format!("document.getElementById('{id}').checked")).await, false, "{id}");
    }
    stage.act("uncheck", json!({"target": "#aria-mixed"})).await;
    stage.act("uncheck", json!({"target": "text=\"Check box from a div\""})).await;
    assert_eq!(stage.eval("document.getElementById('aria-check').ariaChecked").await, "false");
    assert_eq!(stage.eval("location.hash").await, "", "the link in a label was not followed");
}

#[tokio::test(flavor = "multi_thread")]
async fn check_fails_with_the_reason() {
    let stage = Stage::at("/checks").await;
    let stubborn =
        stage.try_act("check", json!({"target": "#stubborn"})).await.expect_err("undone by the page");
    assert_eq!(stubborn.code, ErrorCode::NotActionable, "{stubborn:?}");
    stage.fails(ErrorCode::NotActionable, "check", json!({"target": "#disabled"})).await;
    stage.fails(ErrorCode::BadArgs, "check", json!({"target": "h1"})).await;
    stage.fails(ErrorCode::BadArgs, "uncheck", json!({"target": "#slow"})).await;
    stage.fails(ErrorCode::BadArgs, "uncheck", json!({"target": "h1"})).await;
    for name in ["check", "uncheck"] {
        stage.check_wrong_moments(name, json!({"target": "input"})).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn focus_moves_to_the_element() {
    let stage = Stage::at("/keys").await;
    let done = stage.act("focus", json!({"target": "#area"})).await;
    assert_eq!(done["element"], "textbox \"Long text\"");
    assert_eq!(stage.eval("document.activeElement.id").await, "area");
    stage.fails(ErrorCode::NotActionable, "focus", json!({"target": "h1"})).await;
    stage.fails(ErrorCode::BadArgs, "focus", json!({"target": ""})).await;
    stage.check_wrong_moments("focus", json!({"target": "button"})).await;
}
