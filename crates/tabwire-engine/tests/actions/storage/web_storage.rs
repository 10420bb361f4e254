//! `storage`: reads and writes the storage that the page sees.

use serde_json::json;
use tabwire_api::ErrorCode;

use crate::actions::support::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn storage_reads_and_writes_the_page_storage() {
    let stage = Stage::at("/storage").await;
    for area in ["local", "session"] {
        let key = "a\nb: \u{202e}c";
        stage.act("storage", json!({"area": area, "verb": "set", "key": key, "value": "one\ntwo"})).await;
        stage.act("storage", json!({"area": area, "verb": "set", "key": "token", "value": "canary"})).await;
        assert_eq!(stage.eval(&format!("{area}Storage.token")).await, "canary");
        assert_eq!(stage.eval(&format!("{area}Storage.getItem('a\\nb: \\u202ec')")).await, "one\ntwo");

        let listed = stage.text("storage", json!({"area": area})).await;
        assert_eq!(listed.lines().count(), 3, "{listed}");
        assert!(listed.contains("\"token\" [6 bytes]") && !listed.contains("canary"), "{listed}");
        let with_values = stage.text("storage", json!({"area": area, "values": true})).await;
        assert!(with_values.contains("= \"one\\ntwo\""), "{with_values}");
        let got = stage.act("storage", json!({"area": area, "verb": "get", "key": "token"})).await;
        assert_eq!(got["entries"][0]["value"], "canary");
        assert_eq!(got["origin"], stage.site.url("a", ""));

        stage.act("storage", json!({"area": area, "verb": "remove", "key": "token"})).await;
        assert_eq!(stage.eval(&format!("{area}Storage.length")).await, 1);
        let cleared = stage.text("storage", json!({"area": area, "verb": "clear"})).await;
        assert!(cleared.starts_with("cleared") && cleared.ends_with("1 key"), "{cleared}");
        assert_eq!(stage.eval(&format!("{area}Storage.length")).await, 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn storage_rejects_bad_input_and_wrong_moments() {
    let stage = Stage::at("/plain").await;
    for bad in [
        json!({"area": "local", "verb": "get"}),
        json!({"area": "local", "verb": "set", "key": "a"}),
        json!({"area": "local", "verb": "list", "key": "a"}),
        json!({"area": "local", "verb": "remove", "key": "a", "value": "b"}),
        json!({"area": "both"}),
        json!({}),
    ] {
        stage.fails(ErrorCode::BadArgs, "storage", bad).await;
    }
    for verb in ["get", "remove"] {
        let missing = json!({"area": "local", "verb": verb, "key": "missing"});
        stage.fails(ErrorCode::NotActionable, "storage", missing).await;
    }
    let large = json!({"area": "local", "verb": "set", "key": "a", "value": "x".repeat(6_000_000)});
    let failed = stage.try_act("storage", large).await.expect_err("larger than an origin's quota");
    assert_eq!(failed.code, ErrorCode::NotActionable);
    stage.show("no origin").await;
    stage.fails(ErrorCode::NotActionable, "storage", json!({"area": "local"})).await;
    stage.check_wrong_moments("storage", json!({"area": "session"})).await;
}
