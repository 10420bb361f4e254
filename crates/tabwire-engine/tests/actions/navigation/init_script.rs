//! `init_script`: runs before the page's own scripts, in frames of all processes, until it is removed.

use serde_json::{Value, json};
use tabwire_api::ErrorCode;

use crate::actions::support::stage::Stage;

/// The marks that the scripts left in the page, and those in the document of a new cross-site frame, which has a query:
/// Firefox also runs them in the empty document before it. `two` comes last.
async fn marks(stage: &Stage) -> Value {
    let look = format!(
        "new Promise((done) => {{ const frame = document.createElement('iframe'), said = [];
           addEventListener('message', ({{ data }}) => {{
             said.push(data); if (data === 'two') done([window.marks ?? null, said]); }});
           frame.src = '{}'; document.body.append(frame); }})",
        stage.site.url("b", "/plain?frame")
    );
    stage.eval(&look).await
}

#[tokio::test(flavor = "multi_thread")]
async fn init_scripts_run_first_in_all_frames_until_removed() {
    let stage = Stage::at("/frames").await;
    let first = "window.marks = ['one']; if (top !== self && location.search) parent.postMessage('one', '*')";
    let added = stage.act("init_script", json!({"verb": "add", "script": first})).await;
    let file = stage.files.put(
        "two.js",
        b"window.initScripts = 'before the page'; (window.marks ??= []).push('two');
        if (top !== self && location.search) parent.postMessage('two', '*')",
    );
    let second = stage.act("init_script", json!({"verb": "add", "file": file})).await;
    assert_eq!((&added["id"], &second["id"]), (&json!("s1"), &json!("s2")));
    assert_eq!(stage.eval("window.marks ?? null").await, Value::Null, "existing documents do not change");
    let said = json!(["one", "two"]);
    assert_eq!(marks(&stage).await[1], said, "in a frame of a site that the page had before");

    stage.open("/device").await;
    assert_eq!(stage.eval("readDevice()").await["initScripts"], "before the page");
    assert_eq!(marks(&stage).await, json!([said, said]));
    let listed = stage.text("init_script", json!({})).await;
    assert_eq!(listed.lines().count(), 2, "{listed}");

    let removed = stage.act("init_script", json!({"verb": "remove", "script": "s1"})).await;
    assert_eq!(removed["scripts"].as_array().map(Vec::len), Some(1));
    // The frame's process still exists and must have removed it too.
    assert_eq!(marks(&stage).await[1], json!(["two"]));
    stage.act("navigate", json!({"url": stage.site.url("c", "/device")})).await;
    assert_eq!(marks(&stage).await, json!([["two"], ["two"]]));
    stage.act("init_script", json!({"verb": "remove", "all": true})).await;
    stage.act("reload", json!({})).await;
    assert_eq!(stage.eval("window.marks ?? null").await, Value::Null);
    assert_eq!(stage.text("init_script", json!({})).await, "no init scripts");
}

#[tokio::test(flavor = "multi_thread")]
async fn init_script_rejects_bad_input_and_wrong_moments() {
    let stage = Stage::at("/plain").await;
    for bad in [
        json!({"verb": "add"}),
        json!({"verb": "add", "script": " "}),
        json!({"verb": "add", "script": "1", "file": "x"}),
        json!({"verb": "add", "script": "1", "all": true}),
        json!({"verb": "remove"}),
        json!({"verb": "remove", "script": "one"}),
        json!({"verb": "list", "script": "1"}),
        json!({"verb": "run"}),
    ] {
        stage.fails(ErrorCode::BadArgs, "init_script", bad).await;
    }
    stage.fails(ErrorCode::NotActionable, "init_script", json!({"verb": "remove", "script": "s9"})).await;
    stage.check_wrong_moments("init_script", json!({"verb": "add", "script": "1"})).await;
    stage.check_wrong_moments("init_script", json!({})).await;
}
