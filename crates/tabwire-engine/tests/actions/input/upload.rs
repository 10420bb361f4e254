//! `upload`: files reach inputs and choosers unchanged, and only from permitted directories.

use serde_json::{Value, json};
use tabwire_api::ErrorCode;

use crate::actions::support::stage::Stage;

/// The page's log of files, once it has this many lines.
async fn log(stage: &Stage, lines: usize) -> String {
    stage.until(&format!("document.getElementById('log').textContent.split('\\n').length > {lines}")).await;
    stage.eval("document.getElementById('log').textContent").await.as_str().expect("text").to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn uploaded_files_reach_inputs_and_the_server() {
    let stage = Stage::at("/files").await;
    let one = stage.files.put("one.txt", b"first file");
    let two = stage.files.put("été 😀.txt", b"second");
    let done = stage.act("upload", json!({"files": [one], "target": "#one"})).await;
    assert_eq!(done["files"], json!([{"name": "one.txt", "bytes": 10}]), "{done}");
    assert!(log(&stage, 1).await.contains("one: one.txt 10 \"first file\" trusted=true"));
    let text = stage.text("upload", json!({"files": [one, two], "target": "label=Many files"})).await;
    assert!(text.starts_with("gave 2 files to") && text.contains("\"été 😀.txt\" (6 bytes)"), "{text}");
    assert!(log(&stage, 2).await.contains("many: one.txt 10 \"first file\"; été 😀.txt 6 \"second\""));
    stage.act("upload", json!({"files": [two], "target": "#styled"})).await;
    assert!(log(&stage, 3).await.contains("styled-input: été 😀.txt 6"));
    let image = stage.files.put("a.svg", b"<svg/>");
    stage.act("upload", json!({"files": [image], "target": "#pictures"})).await;
    stage.act("click", json!({"target": "#send"})).await;
    stage.until("location.pathname === '/upload'").await;
    let sent = stage.eval("document.body.textContent").await.to_string();
    for part in ["one.txt", "a.svg", "été 😀.txt", "a note"] {
        assert!(sent.contains(part), "{part} in {sent}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn file_choosers_receive_files_however_they_open() {
    let stage = Stage::at("/files").await;
    let file = stage.files.put("chosen.txt", b"chosen");
    for (number, (target, from)) in [
        ("#open", "open"),
        ("#open-late", "open-late"),
        ("#dropzone", "dropzone-click"),
        ("#open-detached", "detached"),
    ]
    .into_iter()
    .enumerate()
    {
        let done = stage.act("upload", json!({"files": [file], "target": target})).await;
        assert_eq!(done["to"], "the open file chooser", "{done}");
        let logged = log(&stage, number + 1).await;
        assert!(
            logged.contains(&format!("{from}: chosen.txt 6 \"chosen\" trusted=true")),
            "{target}: {logged}"
        );
    }
    let opened = stage.act("click", json!({"target": "#open"})).await;
    assert_eq!(opened["file_chooser"], "single", "{opened}");
    stage.fails(ErrorCode::BadArgs, "upload", json!({"files": [file, file]})).await;
    let done = stage.act("upload", json!({"files": [file]})).await;
    assert!(done.get("file_chooser").is_none(), "{done}");
    assert!(log(&stage, 5).await.ends_with("open: chosen.txt 6 \"chosen\" trusted=true\n"));
    stage.fails(ErrorCode::NotActionable, "upload", json!({"files": [file]})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn t30_forbidden_or_unaccepted_files_are_refused() {
    let stage = Stage::at("/files").await;
    let file = stage.files.put("a.txt", b"a");
    let refuse = async |code: ErrorCode, params: Value| {
        stage.fails(code, "upload", params).await;
        assert_eq!(
            stage
                .eval("[...document.querySelectorAll('input[type=file]')].every((one) => !one.files.length)")
                .await,
            true
        );
    };
    refuse(ErrorCode::PolicyDenied, json!({"files": ["/etc/passwd"], "target": "#one"})).await;
    refuse(ErrorCode::BadArgs, json!({"files": [file.with_file_name("none")], "target": "#one"})).await;
    refuse(ErrorCode::BadArgs, json!({"files": [], "target": "#one"})).await;
    refuse(ErrorCode::BadArgs, json!({"files": [file, file], "target": "#one"})).await;
    refuse(ErrorCode::BadArgs, json!({"files": [file], "target": "#pictures"})).await;
    refuse(ErrorCode::NotActionable, json!({"files": [file], "target": "#folder"})).await;
    refuse(ErrorCode::SelectorNotFound, json!({"files": [file], "target": "#nothing"})).await;
    refuse(ErrorCode::NotActionable, json!({"files": [file], "target": "h1"})).await;
    stage.act("upload", json!({"files": [file], "target": "#pictures", "any_kind": true})).await;
    stage.eval("document.getElementById('one').disabled = true").await;
    stage.fails(ErrorCode::NotActionable, "upload", json!({"files": [file], "target": "#one"})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn upload_at_the_wrong_moment_fails_with_its_error() {
    let stage = Stage::start().await;
    let file = stage.files.put("a.txt", b"a");
    stage.check_wrong_moments("upload", json!({"files": [file], "target": "body"})).await;
}
