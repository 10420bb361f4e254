//! `download_file` and `downloads`: complete files by every way, safe names, and failures with a reason.

use std::time::Duration;

use serde_json::{Value, json};
use tabwire_api::ErrorCode;

use crate::actions::support::stage::{SHORT, Stage};
use crate::actions::support::test_files::content_of;

fn content(download: &Value) -> String {
    let path = download["path"].as_str().unwrap_or_else(|| panic!("a path in {download}"));
    content_of(path)
}

#[tokio::test(flavor = "multi_thread")]
async fn clicks_download_files_of_every_kind() {
    let stage = Stage::chromium_at("/downloads/routes").await;
    for (target, name, holds) in [
        ("#attribute", "renamed.txt", "plain content\n"),
        ("#disposition", "report.txt", "report content\n"),
        ("#disposition-cross", "report.txt", "report content\n"),
        ("#unknown", "unknown", "unknown content\n"),
        ("#redirected", "redirected.txt", "content of redirected.txt\n"),
        ("#new-tab", "report.txt", "report content\n"),
        ("#data", "data.txt", "data content\n"),
        ("#blob", "blob.txt", "blob content\n"),
        ("#navigation", "report.txt", "report content\n"),
        ("#frame", "report.txt", "report content\n"),
        ("#posted", "posted.txt", "posted content"),
        ("#empty", "empty.bin", ""),
    ] {
        let done = stage.act("download_file", json!({"target": target})).await;
        assert_eq!(
            (done["name"].as_str(), done["state"].as_str()),
            (Some(name), Some("complete")),
            "{target}: {done}"
        );
        assert_eq!(content(&done), holds, "{target}");
        assert_eq!(done["bytes"].as_u64(), Some(holds.len() as u64), "{target}");
    }
    assert_eq!(stage.eval("document.title").await, "Downloads by every route", "the page has not navigated");
    let late = stage.act("download_file", json!({"target": "#late"})).await;
    assert_eq!(late["name"], "late.txt");
    let listed = stage.act("downloads", json!({})).await;
    assert_eq!(listed["downloads"].as_array().map(Vec::len), Some(13), "{listed}");
    let text = stage.text("downloads", json!({})).await;
    assert!(text.lines().all(|line| line.contains("complete")), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn url_download_uses_cookies_and_is_invisible_to_the_page() {
    let stage = Stage::chromium_at("/downloads/routes").await;
    let url = |path: &str| stage.site.url("a", path);
    // Firefox takes longer to open the tab that downloads.
    let time = if stage.is_chromium() { SHORT } else { SHORT * 20 };
    let refused = stage.try_act_in(None, "download_file", json!({"url": "/download/private"}), time).await;
    let refused = refused.expect_err("needs a cookie");
    assert_eq!(refused.code, ErrorCode::DownloadFailed, "{refused:?}");
    assert!(refused.message.contains("403"), "{refused:?}");
    stage.eval("document.cookie = 'session=alice; path=/; SameSite=Strict'").await;
    stage.eval("window.seen = 0; navigation.onnavigate = () => seen++; new MutationObserver(() => seen++).observe(document, {subtree: true, childList: true, attributes: true})").await;
    let private = stage.act("download_file", json!({"url": "/download/private"})).await;
    assert_eq!(
        (private["name"].as_str(), content(&private).as_str()),
        (Some("private.txt"), "secret of alice\n")
    );
    // Pages that a browser would display are saved too.
    let page = stage.act("download_file", json!({"target": url("/plain")})).await;
    assert!(content(&page).contains("<html"), "{page}");
    let redirected = stage.act("download_file", json!({"target": url("/download/redirect")})).await;
    assert_eq!(redirected["name"], "redirected.txt");
    let elsewhere =
        stage.act("download_file", json!({"target": stage.site.url("b", "/download/plain.txt")})).await;
    assert_eq!(content(&elsewhere), "plain content\n");
    assert_eq!(stage.eval("seen").await, 0, "the page noticed");
    let output = stage.files.put("old.txt", b"").with_file_name("saved.txt");
    let saved =
        stage.act("download_file", json!({"target": url("/download/plain.txt"), "output": output})).await;
    assert_eq!((saved["path"].as_str(), content(&saved).as_str()), (output.to_str(), "plain content\n"));
    let data = stage.act("download_file", json!({"target": "data:text/plain,hello"})).await;
    assert_eq!(content(&data), "hello");
    let blob = stage.eval("URL.createObjectURL(new Blob(['from a blob']))").await;
    assert_eq!(content(&stage.act("download_file", json!({"target": blob})).await), "from a blob");
    let tabs = stage.act("tabs_list", json!({})).await;
    assert_eq!(tabs["tabs"].as_array().map(Vec::len), Some(1), "{tabs}");
    assert_eq!(stage.act("downloads", json!({})).await["downloads"].as_array().map(Vec::len), Some(7));
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_downloads_report_the_reason() {
    let stage = Stage::chromium_at("/downloads/routes").await;
    let fails = async |code: ErrorCode, params: Value, words: &str| {
        let failed = stage.try_act("download_file", params.clone()).await.expect_err("must fail");
        assert_eq!(failed.code, code, "{params}: {failed:?}");
        assert!(failed.message.contains(words), "{params}: {failed:?}");
    };
    fails(ErrorCode::DownloadFailed, json!({"target": "#broken"}), "failed").await;
    fails(
        ErrorCode::DownloadFailed,
        json!({"url": "/download/broken?bytes=100000&after=5000&milliseconds=50"}),
        "failed",
    )
    .await;
    fails(ErrorCode::DownloadFailed, json!({"url": "/status?code=404"}), "404").await;
    fails(ErrorCode::DownloadFailed, json!({"url": "http://127.0.0.1:9/"}), "did not start").await;
    fails(ErrorCode::DownloadFailed, json!({"target": "#huge", "max_bytes": 1_000_000}), "1000000").await;
    fails(
        ErrorCode::DownloadFailed,
        json!({"url": "/download/large.bin", "max_bytes": 1_000}),
        "the limit is 1000",
    )
    .await;
    fails(ErrorCode::DownloadFailed, json!({"url": "/download/plain.txt", "max_bytes": 3}), "the limit is 3")
        .await;
    let slow = json!({"url": "/download/slow?bytes=100000&milliseconds=5000"});
    let late = stage
        .try_act_in(None, "download_file", slow, Duration::from_millis(800))
        .await
        .expect_err("too slow");
    assert_eq!(late.code, ErrorCode::Timeout, "{late:?}");
    let list = stage.act("downloads", json!({})).await;
    let states: Vec<_> =
        list["downloads"].as_array().expect("a list").iter().map(|one| one["state"].clone()).collect();
    assert!(!states.is_empty() && states.iter().all(|state| state == "failed"), "{list}");
    fails(ErrorCode::DownloadFailed, json!({"target": "#attribute-cross"}), "navigated instead").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn click_reports_downloads_with_their_path() {
    let stage = Stage::chromium_at("/downloads/routes").await;
    let click = async |target: &str| stage.act("click", json!({"target": target})).await["downloads"].clone();
    for (target, holds) in
        [("#disposition", "report content\n"), ("#blob", "blob content\n"), ("#attribute", "plain content\n")]
    {
        let listed = click(target).await;
        assert_eq!(listed.as_array().map(Vec::len), Some(1), "{target}: {listed}");
        assert_eq!(content(&listed[0]), holds, "{target}");
    }
    assert_eq!(click("#three").await.as_array().map(Vec::len), Some(3));
    // Longer than the download takes on a busy machine.
    stage
        .eval("document.querySelector('#slow').href = '/download/slow?bytes=200000&milliseconds=60000'")
        .await;
    let slow = click("#slow").await;
    assert_eq!(slow[0]["state"], "under_way", "{slow}");
    let text = stage.text("click", json!({"target": "#name-traversal"})).await;
    assert!(text.contains("download: ") && text.contains("complete"), "{text}");
    assert!(click("h1").await.is_null());
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_input_and_wrong_moments_fail_well() {
    let stage = Stage::chromium_at("/downloads/routes").await;
    for bad in [
        json!({}),
        json!({"target": "#blob", "url": "/x"}),
        json!({"url": "file:///etc/passwd"}),
        json!({"url": "http://"}),
        json!({"url": "javascript:alert(1)"}),
        json!({"target": "#blob", "nht": 1}),
    ] {
        stage.fails(ErrorCode::BadArgs, "download_file", bad).await;
    }
    let outside = json!({"target": "#blob", "output": "/tmp/outside.txt"});
    stage.fails(ErrorCode::PolicyDenied, "download_file", outside).await;
    stage.fails(ErrorCode::SelectorNotFound, "download_file", json!({"target": "#nothing"})).await;
    stage.fails(ErrorCode::BadArgs, "downloads", json!({"all": true})).await;
    assert_eq!(stage.act("downloads", json!({})).await["downloads"], json!([]), "nothing began");
    let address = stage.site.url("a", "/download/plain.txt");
    stage.check_wrong_moments("download_file", json!({"target": "body"})).await;
    stage.check_wrong_moments("download_file", json!({"target": address})).await;
    // The list belongs to the session: a dialog does not block it, but a closed tab is an error.
    let tab = Stage::tab(&stage.act("tab_new", json!({})).await);
    stage.act("tab_close", json!({"id": tab})).await;
    let gone = stage.try_act_in(Some(tab), "downloads", json!({}), Duration::from_secs(5)).await;
    assert_eq!(gone.expect_err("gone").code, ErrorCode::TabNotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_type_of_a_download_is_that_of_its_response() {
    let stage = Stage::chromium_at("/plain").await;
    let url = "/download/named?name=report.txt&type=application/pdf";
    let fetched = stage.act("download_file", json!({"url": url})).await;
    assert_eq!((&fetched["name"], &fetched["mime_type"]), (&json!("report.txt"), &json!("application/pdf")));
    stage.eval(&format!("document.body.innerHTML = '<a id=d href=\"{url}\">d</a>'")).await;
    let clicked = stage.act("download_file", json!({"target": "#d"})).await;
    assert_eq!(clicked["mime_type"], "application/pdf", "{clicked}");
    let data = stage.act("download_file", json!({"target": "data:text/csv,a"})).await;
    assert_eq!(data["mime_type"], "text/csv", "{data}");
}
