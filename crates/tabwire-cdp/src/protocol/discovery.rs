//! The HTTP discovery documents of a debugging port.

use serde_json::{Value, json};

/// The body of `/json/version`, from the result of `Browser.getVersion` and the browser's websocket URL.
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
