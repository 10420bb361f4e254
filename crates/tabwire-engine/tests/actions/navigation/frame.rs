//! `frame`: targets, snapshots and scripts use the selected frame, in any process.

use serde_json::json;
use tabwire_api::ErrorCode;

use crate::actions::support::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn actions_use_the_selected_frame() {
    let stage = Stage::at("/frames/mix").await;
    stage.act("wait_for", json!({"text": "Form wrapped"})).await;
    for name in ["same", "sibling", "cross", "srcdoc", "blank", "sandbox", "blob"] {
        let result = stage.act("frame", json!({"frame": format!("#{name}")})).await;
        assert_eq!(
            result["frames"].as_array().expect("a list").iter().filter(|one| one["current"] == true).count(),
            1
        );
        // Every frame has these elements, so the targets are ambiguous without a selection.
        stage.act("fill", json!({"target": "#name", "value": format!("N-{name}")})).await;
        stage.act("click", json!({"target": "#save"})).await;
        let heading = stage.eval("document.querySelector('h3').textContent").await;
        assert_eq!(heading, format!("Form {name}"));
        let snapshot = stage.text("snapshot", json!({})).await;
        assert!(snapshot.contains(&format!("Save {name}")), "{snapshot}");
        assert!(!snapshot.contains("Frames of every kind"), "only the frame: {snapshot}");
        for reading in ["get_text", "read_as_markdown"] {
            let read = stage.text(reading, json!({})).await;
            assert!(read.contains(&format!("Form {name}")), "{reading}: {read}");
            assert!(!read.contains("Frames of every kind"), "{reading} only of the frame: {read}");
        }
        assert_eq!(stage.act("get", json!({"what": "count", "target": "#save"})).await["value"], 1);
        stage.act("wait_for", json!({"target": "#save"})).await;
        stage
            .act("wait_for", json!({"function": format!("document.body.textContent.includes('{name}')")}))
            .await;
        stage.act("frame", json!({"frame": "main"})).await;
        stage.act("wait_for", json!({"text": format!("saved {name}: N-{name}")})).await;
    }
    assert_eq!(stage.eval("document.title").await, "Frames of every kind");
    // A snapshot of the whole page lists all frames again, and its refs work with a selected frame.
    let whole = stage.text("snapshot", json!({"full": true})).await;
    for line in ["Frames of every kind", "Save same", "Save cross", "Save wrapped"] {
        assert!(whole.contains(line), "{line}: {whole}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_are_selected_by_name_url_and_element() {
    let stage = Stage::at("/frames/deep").await;
    stage.act("wait_for", json!({"target": "role=button[name='Save deep']"})).await;
    let listed = stage.text("frame", json!({})).await;
    let lines: Vec<&str> = listed.lines().collect();
    assert!(lines[0].starts_with("* main  ") && lines[1].starts_with("    middle  "), "{listed}");
    assert!(lines[2].starts_with("      inner  "), "{listed}");
    for by in ["inner", "/frames/form?name=deep"] {
        stage.act("frame", json!({"frame": by})).await;
        assert_eq!(stage.eval("location.search").await, "?name=deep", "{by}");
        stage.act("frame", json!({"frame": "main"})).await;
    }
    stage.fails(ErrorCode::BadArgs, "frame", json!({"frame": "iframe"})).await;
    stage.act("frame", json!({"frame": "#middle"})).await;
    assert_eq!(stage.eval("document.title").await, "Middle on site b");
    let inside = stage.text("snapshot", json!({})).await;
    assert!(inside.contains("Save deep") && !inside.contains("Outer button"), "{inside}");
    stage.fails(ErrorCode::SelectorNotFound, "click", json!({"target": "#outer"})).await;
    stage.act("click", json!({"target": "#save"})).await;
    // Searched in the selected frame, not in the page.
    stage.act("frame", json!({"frame": "iframe"})).await;
    assert_eq!(stage.eval("location.search").await, "?name=deep");
    stage.fails(ErrorCode::BadArgs, "frame", json!({"frame": "#save"})).await;
    stage.fails(ErrorCode::SelectorNotFound, "frame", json!({"frame": "nowhere.example/"})).await;
    stage.fails(ErrorCode::BadArgs, "frame", json!({"frame": ""})).await;
    assert_eq!(stage.eval("location.search").await, "?name=deep", "a failed selection changes nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn action_in_a_removed_frame_fails_and_acts_nowhere_else() {
    let stage = Stage::at("/frames/deep").await;
    stage.act("wait_for", json!({"target": "role=button[name='Save deep']"})).await;
    let action = tabwire_engine::find_action("navigate").expect("an action");
    stage.act("frame", json!({"frame": "inner"})).await;
    let context = stage.context(None, std::time::Duration::from_secs(30));
    let went =
        action.run(&context, json!({"url": stage.site.url("a", "/frames/mix")})).await.expect("it goes");
    assert!(went.notices.iter().any(|notice| notice.contains("is gone")), "{:?}", went.notices);
    assert_eq!(stage.eval("document.title").await, "Frames of every kind", "reported once");

    stage.act("frame", json!({"frame": "#cross"})).await;
    stage.act("frame", json!({})).await;
    let second = stage.second_session(Stage::tab(&stage.act("frame", json!({})).await)).await;
    let remove = json!({"expression": "document.getElementById('cross').remove()"});
    second.send("Runtime.evaluate", &remove, std::time::Duration::from_secs(10)).await.expect("removed");
    let failure = stage.fails(ErrorCode::TargetGone, "click", json!({"target": "#add"})).await;
    assert!(failure.message.contains("selected frame is gone"), "{failure:?}");
    stage.act("click", json!({"target": "#add"})).await;
}
