//! `fill_form`: many fields at once, each in the way of its kind.

use std::time::Duration;

use serde_json::json;
use tabwire_api::ErrorCode;

use crate::actions::support::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn fill_form_fills_and_submits() {
    let stage = Stage::at("/form").await;
    let form = r##"{"label=Name": "Anna", "#password": "s3cret", "label=Colour": "Green", "text=Agree": true, "#small": "big", "#notes": "a\nb"}"##;
    let done = stage.act("fill_form", json!({"form": form, "fields": {"label=Name": "Ann"}})).await;
    assert_eq!(done["fields"].as_array().map(Vec::len), Some(7), "{done}");
    assert!(!done.to_string().contains("s3cret"), "{done}");
    let values = "['name', 'password', 'colour', 'notes'].map((id) => document.getElementById(id).value)";
    assert_eq!(stage.eval(values).await, json!(["Ann", "s3cret", "green", "a\nb"]));
    assert_eq!(stage.eval("[agree.checked, big.checked, small.checked]").await, json!([true, true, false]));
    let done = stage.act("fill_form", json!({"fields": [{"target": "#name", "value": "Eve"}, {"target": "#agree", "value": "off"}], "submit": true})).await;
    assert_eq!(done["submitted_by"], "button \"Send\"", "{done}");
    assert_eq!(done["navigated"], true, "{done}");
    assert!(stage.eval("document.body.innerText").await.as_str().expect("text").contains("Eve"));
}

#[tokio::test(flavor = "multi_thread")]
async fn fill_form_lists_failed_fields_and_does_not_submit() {
    let stage = Stage::at("/form").await;
    let fields = json!([{"target": "#name", "value": "Anna"}, {"target": "#nowhere", "value": "x"}, {"target": "#agree", "value": "perhaps"}]);
    // Each field gets a share of the timeout, which must suffice for existing fields on a busy machine too.
    let params = json!({"fields": fields, "submit": true});
    let failure = stage.try_act_in(None, "fill_form", params, Duration::from_secs(6)).await;
    let failure = failure.expect_err("a field is not there");
    assert_eq!(failure.code, ErrorCode::SelectorNotFound, "{failure:?}");
    assert!(failure.message.starts_with("1 of 3 fields were filled."), "{failure:?}");
    assert_eq!(failure.details["fields"][0]["value"], "Anna", "{failure:?}");
    assert!(failure.details["fields"][2]["error"].is_string(), "{failure:?}");
    assert_eq!(stage.eval("location.pathname").await, "/form");
    for params in [
        json!({}),
        json!({"form": "{"}),
        json!({"fields": {"#name": null}}),
        json!({"fields": {"#file": "a.txt"}}),
        json!({"fields": {"#small": "huge"}}),
    ] {
        stage.fails(ErrorCode::BadArgs, "fill_form", params).await;
    }
    stage.check_wrong_moments("fill_form", json!({"fields": {"#name": "a"}})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fill_form_works_in_shadow_roots_and_frames() {
    let stage = Stage::at("/shadow").await;
    let fields = json!({"label=E-mail": "a@b.c", "label=Plan": "Paid", "label=\"Accept terms\"": true, "label=Street": "High St", "label=City": "Lima", "label=\"Slotted nickname\"": "Ann"});
    stage.act("fill_form", json!({"fields": fields})).await;
    stage.act("click", json!({"target": "text=Send"})).await;
    let log = stage.eval("document.getElementById('log').textContent").await;
    assert!(log.as_str().expect("text").contains("sent a@b.c, Paid, true, High St, Lima, Ann"), "{log}");
    stage.open("/frames/deep").await;
    let fields =
        json!({"label=\"Name deep\"": "Ann", "label=\"City deep\"": "Oslo", "label=\"Agree deep\"": true});
    stage.act("fill_form", json!({"fields": fields, "submit": true})).await;
    stage.until("document.getElementById('log').textContent.includes('saved deep: Ann, oslo, true')").await;
}
