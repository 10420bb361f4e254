//! `har`: recordings are valid HAR files and replay without the server.

use serde_json::{Value, json};
use tabwire_api::ErrorCode;

use crate::actions::support::stage::Stage;

fn entry<'a>(archive: &'a Value, part: &str) -> &'a Value {
    let entries = archive["log"]["entries"].as_array().expect("entries");
    let found =
        entries.iter().find(|entry| entry["request"]["url"].as_str().is_some_and(|url| url.contains(part)));
    found.unwrap_or_else(|| panic!("{part}: {archive}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn har_recording_replays_without_the_server() {
    let stage = Stage::at("/cookie/set?name=session&value=CANARY1").await;
    stage.act("har", json!({"action": "start"})).await;
    stage.open("/requests").await;
    stage.eval("viaFetch('kept')").await;
    stage.eval("fetch('/echo', {method: 'POST', body: 'password=CANARY2', headers: {'content-type': 'application/x-www-form-urlencoded'}}).then((a) => a.status)").await;
    // The bodies are kept after the page is gone.
    stage.act("navigate", json!({"url": stage.site.url("b", "/plain")})).await;
    let stopped = stage.act("har", json!({"action": "stop", "file": "kept.har"})).await;
    assert_eq!(stopped["recording"], false, "{stopped}");
    let path = stopped["path"].as_str().expect("a path").to_owned();
    let content = std::fs::read_to_string(&path).expect("a file");
    let archive: Value = serde_json::from_str(&content).expect("JSON");
    assert_eq!(archive["log"]["version"], "1.2");
    let kept = entry(&archive, "/api/echo");
    assert_eq!(kept["response"]["content"]["text"], "echo kept");
    assert_eq!((&kept["response"]["status"], &kept["request"]["method"]), (&json!(200), &json!("GET")));
    assert!(
        kept["startedDateTime"].as_str().is_some_and(|date| date.starts_with("20") && date.ends_with('Z'))
    );
    assert!(kept["timings"]["wait"].is_number() && kept["time"].is_number(), "{kept}");
    assert!(
        entry(&archive, "/requests")["response"]["content"]["text"]
            .as_str()
            .is_some_and(|t| t.contains("viaFetch"))
    );
    let sent = entry(&archive, "/echo");
    let sent = archive["log"]["entries"]
        .as_array()
        .expect("entries")
        .iter()
        .find(|e| e["request"]["method"] == "POST")
        .unwrap_or(sent);
    assert!(!sent["request"].to_string().contains("CANARY"), "{sent}");

    let visits = stage.site.request_count("/api/echo");
    let replayed = stage.act("har", json!({"action": "replay", "file": path, "strict": true})).await;
    assert_eq!(replayed["replay"]["strict"], true);
    stage.open("/requests").await;
    assert_eq!(stage.eval("viaFetch('kept')").await, "200 echo kept");
    assert_eq!(stage.eval("viaFetch('other')").await, "fetch failed");
    assert_eq!(stage.site.request_count("/api/echo"), visits);
    let shown = stage.act("requests", json!({"url": "value=kept"})).await;
    assert_eq!(
        shown["requests"].as_array().and_then(|all| all.last()).map(|last| &last["from"]),
        Some(&json!("archive"))
    );
    stage.act("har", json!({"action": "replay", "file": path})).await;
    assert_eq!(stage.eval("viaFetch('other')").await, "200 echo other");
    assert_eq!(stage.eval("viaFetch('kept')").await, "200 echo kept");
    assert_eq!(stage.site.request_count("/api/echo"), visits + 1);
    stage.act("har", json!({"action": "live"})).await;
    stage.eval("viaFetch('kept')").await;
    assert_eq!(stage.site.request_count("/api/echo"), visits + 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn har_masks_secrets_by_default_and_rejects_bad_input() {
    let stage = Stage::at("/cookie/set?name=session&value=CANARY1").await;
    for bad in [
        json!({"action": "stop"}),
        json!({"action": "live"}),
        json!({"action": "replay"}),
        json!({"action": "start", "file": "x"}),
        json!({"action": "start", "strict": true}),
        json!({"action": "show", "show_secrets": true}),
        json!({"action": "rewind"}),
        json!({"action": "replay", "file": "/nowhere/at/all"}),
        json!({"action": "replay", "file": stage.files.put("no.har", b"{}")}),
    ] {
        stage.fails(ErrorCode::BadArgs, "har", bad).await;
    }
    stage.act("har", json!({"action": "start"})).await;
    stage.fails(ErrorCode::Busy, "har", json!({"action": "start"})).await;
    stage.open("/plain").await;
    let stopped = stage.act("har", json!({"action": "stop", "show_secrets": true})).await;
    let content = std::fs::read_to_string(stopped["path"].as_str().expect("a path")).expect("a file");
    assert!(content.contains("session=CANARY1"), "{content}");
    assert_eq!(stage.text("har", json!({})).await, "not recording, not replaying");
    stage.check_wrong_moments("har", json!({"action": "start"})).await;
}
