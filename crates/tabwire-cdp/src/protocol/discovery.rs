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

/// Prefix of the WebSocket paths of pages.
pub const PAGE_PATH: &str = "/devtools/page/";

/// The hosted DevTools; the browser's revision follows.
const DEVTOOLS_URL: &str = "https://chrome-devtools-frontend.appspot.com/serve_rev/";

/// One target in the format of `/json/list`. `base` is the host with the path below which the endpoints are.
#[must_use]
pub fn target_body(target: &Value, base: &str, revision: &str) -> Value {
    let id = target["targetId"].as_str().unwrap_or_default();
    let kind = target["type"].as_str().unwrap_or_default();
    let app = if matches!(kind, "service_worker" | "shared_worker") { "worker_app" } else { "inspector" };
    let mut entry = json!({
        "description": "",
        "devtoolsFrontendUrl": format!("{DEVTOOLS_URL}{revision}/{app}.html?ws={base}{PAGE_PATH}{id}"),
        "id": id,
        "title": target["title"],
        "type": kind,
        "url": target["url"],
        "webSocketDebuggerUrl": format!("ws://{base}{PAGE_PATH}{id}"),
    });
    if let (Some(opener), Some(members)) =
        (target.get("parentFrameId").or(target.get("openerId")), entry.as_object_mut())
    {
        members.insert("parentId".to_owned(), opener.clone());
    }
    entry
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_workers_use_the_worker_devtools() {
        let frontend_url = |kind: &str| {
            let target = json!({"targetId": "T", "type": kind, "title": "", "url": ""});
            target_body(&target, "localhost:7", "@abc")["devtoolsFrontendUrl"].as_str().unwrap().to_owned()
        };
        for (kind, app) in [("page", "inspector"), ("worker", "inspector"), ("shared_worker", "worker_app")] {
            assert_eq!(
                frontend_url(kind),
                format!("{DEVTOOLS_URL}@abc/{app}.html?ws=localhost:7/devtools/page/T"),
                "{kind}"
            );
        }
    }
}
