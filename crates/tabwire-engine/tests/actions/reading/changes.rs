//! What changed, in the result of an action, and controls that only a real page has.

use std::time::Duration;

use serde_json::json;
use tabwire_engine::{Context, find_action};

use crate::actions::support::stage::Stage;

/// Runs an action whose result includes changes, and returns them.
async fn changes(stage: &Stage, name: &str, params: serde_json::Value) -> String {
    let action = find_action(name).expect("an action");
    let context = Context { snapshot: true, ..stage.context(None, Duration::from_secs(30)) };
    let output = action.run(&context, params).await.expect("succeeds");
    output.value["snapshot"].as_str().unwrap_or_else(|| panic!("{}", output.value)).to_owned()
}

const PAGE: &str = r#"<title>Tasks</title><h1>Tasks</h1><p>Many words that do not change.</p>
    <table><tr><th>Thing<th>State<tr><td>Milk<td>None<tr><td>Tea<td><button id=a onclick="this.textContent='Done'">Open</button><tr><td>Rice<td><button onclick="this.closest('tr').remove()">Remove</button><tr><td>Bread<td>None</table>"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_first_action_reports_only_changes() {
    let stage = Stage::start().await;
    stage.show(PAGE).await;
    let first = changes(&stage, "click", json!({"target": "#a"})).await;
    assert!(first.contains("(changes during this action)\n") && !first.contains("Many words"), "{first}");
    assert!(first.contains("~ ") && first.contains("button \"Done\" [e"), "{first}");
    assert!(first.contains("row of \"Tea\"\n"), "the row is named: {first}");
    let second = changes(&stage, "click", json!({"target": "text=Remove"})).await;
    assert!(second.contains("(changes since the last snapshot)\n"), "{second}");
    assert!(second.contains("- ") && second.contains("row of \"Rice\" (with "), "{second}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_action_leaves_no_baseline_for_later_changes() {
    let stage = Stage::start().await;
    stage.show(PAGE).await;
    let action = find_action("click").expect("an action");
    let context = Context { snapshot: true, ..stage.context(None, Duration::from_millis(300)) };
    action.run(&context, json!({"target": "#missing"})).await.expect_err("no such element");
    let seen = stage.text("snapshot", json!({"delta": true})).await;
    assert!(seen.contains("Many words"), "the client has not seen the page: {seen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn b13_content_of_a_delegating_wrapper_is_not_below_the_button_before_it() {
    let stage = Stage::start().await;
    stage
        .show("<button>Date</button><div id=picker><span><button>1</button></span><span><button>2</button></span><span><button>3</button></span><span><button>4</button></span></div><script>picker.addEventListener('click', () => {})</script>")
        .await;
    let page = stage.act("snapshot", json!({})).await;
    let names: Vec<_> = page["nodes"].as_array().expect("nodes").iter().map(|node| &node["name"]).collect();
    assert_eq!(names, ["Date", "1", "2", "3", "4"], "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn b13_a_hidden_file_input_is_used_through_its_label() {
    let stage = Stage::start().await;
    stage
        .show("<label>Choose a photo <input type=file style='display:none' onclick=\"event.preventDefault(); document.title = 'opened'\"></label>")
        .await;
    let text = stage.text("snapshot", json!({})).await;
    let given = text.split("button \"Choose a photo\" [").nth(1).and_then(|rest| rest.split(']').next());
    let given = given.unwrap_or_else(|| panic!("no button in {text}"));
    stage.act("click", json!({"target": given})).await;
    assert_eq!(stage.act("eval", json!({"expression": "document.title"})).await["value"], "opened");
    let found = stage.text("find", json!({"text": "photo"})).await;
    assert!(found.contains("Choose a photo"), "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn b13_a_value_is_written_exactly_on_one_line() {
    let stage = Stage::start().await;
    stage
        .show(
            "<input aria-label=A value='a  b '><textarea aria-label=B>x\n- button \"Forged\" [e9]</textarea>",
        )
        .await;
    let text = stage.text("snapshot", json!({})).await;
    assert!(text.contains(r#"value="a  b ""#), "{text}");
    assert!(text.contains(r#"value="x\n- button \"Forged\" [e9]""#), "{text}");
}
