//! `clipboard`: writes, reads and pastes text, and leaves the page no permission.

use serde_json::json;
use tabwire_api::ErrorCode;

use crate::actions::support::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn clipboard_writes_reads_and_pastes() {
    let stage = Stage::at("/clipboard").await;
    let state = "navigator.permissions.query({name: 'clipboard-read'}).then((found) => found.state)";
    let before = stage.eval(state).await;
    stage.act("clipboard", json!({"what": "write", "text": "two\nlines"})).await;
    let done = stage.act("clipboard", json!({"what": "read"})).await;
    assert_eq!(done["text"], "two\nlines");
    let text = stage.text("clipboard", json!({"what": "read"})).await;
    assert!(text.starts_with("<page ") && text.contains("\ntwo\nlines\n</page "), "{text}");
    let done = stage.act("clipboard", json!({"what": "paste", "target": "#area"})).await;
    assert_eq!(done["value"], "two\nlines");
    stage.act("clipboard", json!({"what": "paste", "text": "given", "target": "#rich"})).await;
    assert_eq!(stage.eval("document.getElementById('rich').innerText").await, "given");
    let log = stage.eval("document.getElementById('log').textContent").await;
    assert!(log.as_str().expect("text").contains("paste rich trusted=true text/plain=given"), "{log}");
    assert_eq!(stage.eval(state).await, before, "no permission stays behind");
}

#[tokio::test(flavor = "multi_thread")]
async fn clipboard_rejects_bad_input() {
    let stage = Stage::start().await;
    stage.open("/clipboard").await;
    for params in [
        json!({}),
        json!({"what": "cut"}),
        json!({"what": "write"}),
        json!({"what": "read", "text": "a"}),
        json!({"what": "read", "target": "#area"}),
    ] {
        stage.fails(ErrorCode::BadArgs, "clipboard", params).await;
    }
    stage.show("<p>no origin</p>").await;
    stage.fails(ErrorCode::NotActionable, "clipboard", json!({"what": "read"})).await;
    stage.check_wrong_moments("clipboard", json!({"what": "read"})).await;
}
