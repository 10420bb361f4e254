//! What a debugging port tells of its browser over HTTP. Knows nothing of HTTP itself.

use serde_json::{Value, json};

/// The body of `/json/version`, from what `Browser.getVersion` answered and where the browser's websocket is.
#[must_use]
pub fn version_body(version: &Value, websocket: &str) -> Value {
    let agent = version["userAgent"].as_str().unwrap_or_default();
    let engine =
        agent.split_once("AppleWebKit/").and_then(|(_, rest)| rest.split(' ').next()).unwrap_or_default();
    let revision = version["revision"].as_str().unwrap_or_default();
    json!({
        "Browser": version["product"],
        "File-Path-Style": "posix",
        "Protocol-Version": version["protocolVersion"],
        "User-Agent": version["userAgent"],
        "V8-Version": version["jsVersion"],
        "WebKit-Version": format!("{engine} ({revision})"),
        "webSocketDebuggerUrl": websocket,
    })
}
