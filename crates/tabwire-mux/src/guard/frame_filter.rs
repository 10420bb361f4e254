//! Removes URLs, titles and texts of sites without a grant from events and responses. A closure decides which
//! URLs the client may receive.

use serde_json::{Value, json};

/// Whether the client may receive a frame's URL: the frame's id, if it has one, and the URL.
pub(crate) type UrlAllowed<'a> = dyn Fn(Option<&str>, &str) -> bool + 'a;

/// Events whose parameters may need filtering.
pub(crate) const FILTERED_EVENTS: &[&str] = &[
    "Fetch.authRequired",
    "Fetch.requestPaused",
    "Page.documentOpened",
    "Page.downloadWillBegin",
    "Page.frameAttached",
    "Page.frameNavigated",
    "Page.frameRequestedNavigation",
    "Page.frameScheduledNavigation",
    "Page.frameStartedNavigating",
    "Page.javascriptDialogClosed",
    "Page.javascriptDialogOpening",
    "Page.navigatedWithinDocument",
    "Page.windowOpen",
    "Runtime.executionContextCreated",
];

/// Commands whose results may need filtering.
pub(crate) const FILTERED_RESULTS: &[&str] =
    &["Page.getFrameTree", "Page.getNavigationHistory", "Page.getResourceTree", "Target.getTargetInfo"];

fn text<'a>(value: &'a Value, path: &str) -> &'a str {
    value.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

/// Empties texts of an object.
fn empty(object: &mut Value, fields: &[&str]) {
    for field in fields {
        if let Some(value) = object.get_mut(*field) {
            *value = json!("");
        }
    }
}

/// Removes members of an object.
fn remove(object: &mut Value, fields: &[&str]) {
    if let Some(members) = object.as_object_mut() {
        for field in fields {
            members.remove(*field);
        }
    }
}

/// Removes URLs and texts without a grant from an event; returns whether it changed.
pub(crate) fn filter_event(method: &str, params: &mut Value, url_allowed: &UrlAllowed<'_>) -> bool {
    let frame = text(params, "/frameId").to_owned();
    let named = Some(frame.as_str()).filter(|frame| !frame.is_empty());
    let own = |url: &str| url_allowed(named, url);
    match method {
        "Page.frameNavigated" | "Page.documentOpened" => {
            params.get_mut("frame").is_some_and(|frame| filter_frame(frame, url_allowed))
        }
        "Page.frameAttached" => {
            let parent = text(params, "/parentFrameId");
            if url_allowed(Some(parent), "") {
                return false;
            }
            remove(params, &["stack"]);
            true
        }
        "Page.javascriptDialogOpening" | "Page.javascriptDialogClosed" => {
            if own(text(params, "/url")) && own("") {
                return false;
            }
            empty(params, &["url", "message", "defaultPrompt", "userInput"]);
            true
        }
        "Runtime.executionContextCreated" => {
            let frame = text(params, "/context/auxData/frameId").to_owned();
            let origin = text(params, "/context/origin").to_owned();
            let is_web = origin.starts_with("http");
            if url_allowed(Some(&frame), "") && (!is_web || url_allowed(None, &origin)) {
                return false;
            }
            if let Some(context) = params.get_mut("context") {
                empty(context, &["origin", "name"]);
            }
            true
        }
        "Fetch.requestPaused" | "Fetch.authRequired" => filter_paused_request(params, url_allowed),
        // Events with the URL of a navigation, a new window or a download.
        _ => {
            if url_allowed(None, text(params, "/url")) {
                return false;
            }
            empty(params, &["url", "windowName", "suggestedFilename"]);
            true
        }
    }
}

/// Reduces a paused request without a grant to its origin, so that the client can still continue or fail it.
fn filter_paused_request(params: &mut Value, url_allowed: &UrlAllowed<'_>) -> bool {
    let url = text(params, "/request/url").to_owned();
    if url_allowed(None, &url) {
        return false;
    }
    if let Some(request) = params.get_mut("request") {
        request["url"] = json!(origin_of(&url));
        request["headers"] = json!({});
        remove(request, &["urlFragment", "postData", "postDataEntries", "hasPostData"]);
    }
    if params.get("responseHeaders").is_some() {
        params["responseHeaders"] = json!([]);
    }
    remove(params, &["responseStatusText"]);
    if let Some(challenge) = params.get_mut("authChallenge") {
        empty(challenge, &["realm"]);
    }
    true
}

/// Scheme, host and port of a URL.
fn origin_of(url: &str) -> String {
    let end = url.find("://").map_or(0, |at| at + 3);
    let rest = url.get(end..).unwrap_or_default();
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    if end == 0 { String::new() } else { format!("{}{host}/", url.get(..end).unwrap_or_default()) }
}

/// Removes URLs and texts without a grant from a frame's description.
fn filter_frame(frame: &mut Value, url_allowed: &UrlAllowed<'_>) -> bool {
    let id = text(frame, "/id").to_owned();
    let unreachable = text(frame, "/unreachableUrl").to_owned();
    let is_allowed = url_allowed(Some(&id), text(frame, "/url"));
    if is_allowed && (unreachable.is_empty() || url_allowed(Some(&id), &unreachable)) {
        return false;
    }
    empty(frame, &["url", "name", "securityOrigin", "domainAndRegistry"]);
    remove(frame, &["urlFragment", "unreachableUrl", "securityOriginDetails"]);
    true
}

/// Removes URLs and texts without a grant from a result; returns whether it changed.
pub(crate) fn filter_result(method: &str, result: &mut Value, url_allowed: &UrlAllowed<'_>) -> bool {
    match method {
        "Page.getFrameTree" | "Page.getResourceTree" => {
            result.get_mut("frameTree").is_some_and(|tree| filter_tree(tree, url_allowed))
        }
        "Page.getNavigationHistory" => {
            let mut has_changed = false;
            for entry in result.get_mut("entries").and_then(Value::as_array_mut).into_iter().flatten() {
                if !url_allowed(None, text(entry, "/url")) || !url_allowed(None, text(entry, "/userTypedURL"))
                {
                    empty(entry, &["url", "userTypedURL", "title"]);
                    has_changed = true;
                }
            }
            has_changed
        }
        _ => false,
    }
}

fn filter_tree(tree: &mut Value, url_allowed: &UrlAllowed<'_>) -> bool {
    let mut has_changed = false;
    let mut left = vec![tree];
    while let Some(tree) = left.pop() {
        let Some(members) = tree.as_object_mut() else { continue };
        let is_hidden = members.get_mut("frame").is_some_and(|frame| filter_frame(frame, url_allowed));
        has_changed |= is_hidden;
        if let Some(resources) = members.get_mut("resources").and_then(Value::as_array_mut) {
            let before = resources.len();
            resources.retain(|resource| !is_hidden && url_allowed(None, text(resource, "/url")));
            has_changed |= resources.len() != before;
        }
        left.extend(members.get_mut("childFrames").and_then(Value::as_array_mut).into_iter().flatten());
    }
    has_changed
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frame `v` and URLs of `v.test` have no grant.
    fn url_allowed(frame: Option<&str>, url: &str) -> bool {
        frame != Some("v") && !url.contains("v.test")
    }

    #[test]
    fn m8_filtered_events_contain_no_ungranted_url_or_text() {
        let events = [
            (
                "Page.frameNavigated",
                json!({"frame": {"id": "v", "url": "https://v.test/CANARY", "name": "CANARY", "securityOrigin": "CANARY", "urlFragment": "#CANARY", "unreachableUrl": "CANARY"}}),
            ),
            ("Page.documentOpened", json!({"frame": {"id": "x", "url": "https://v.test/CANARY"}})),
            ("Page.frameAttached", json!({"frameId": "x", "parentFrameId": "v", "stack": {"url": "CANARY"}})),
            ("Page.frameStartedNavigating", json!({"frameId": "a", "url": "https://v.test/CANARY"})),
            ("Page.frameRequestedNavigation", json!({"frameId": "a", "url": "https://v.test/CANARY"})),
            ("Page.frameScheduledNavigation", json!({"frameId": "a", "url": "https://v.test/CANARY"})),
            ("Page.navigatedWithinDocument", json!({"frameId": "v", "url": "https://v.test/CANARY"})),
            ("Page.windowOpen", json!({"url": "https://v.test/CANARY", "windowName": "CANARY"})),
            (
                "Page.downloadWillBegin",
                json!({"url": "https://v.test/CANARY", "suggestedFilename": "CANARY"}),
            ),
            (
                "Page.javascriptDialogOpening",
                json!({"frameId": "v", "url": "https://v.test/", "message": "CANARY", "defaultPrompt": "CANARY"}),
            ),
            ("Page.javascriptDialogClosed", json!({"frameId": "v", "userInput": "CANARY"})),
            (
                "Runtime.executionContextCreated",
                json!({"context": {"id": 1, "origin": "https://CANARY", "name": "CANARY", "auxData": {"frameId": "v"}}}),
            ),
            (
                "Fetch.requestPaused",
                json!({"requestId": "1", "request": {"url": "https://v.test/CANARY", "headers": {"x": "CANARY"}, "postData": "CANARY"}, "responseHeaders": ["CANARY"]}),
            ),
            (
                "Fetch.authRequired",
                json!({"requestId": "1", "request": {"url": "https://v.test/CANARY"}, "authChallenge": {"realm": "CANARY"}}),
            ),
        ];
        assert_eq!(events.len(), FILTERED_EVENTS.len());
        for (method, mut params) in events {
            assert!(FILTERED_EVENTS.contains(&method), "{method}");
            assert!(filter_event(method, &mut params, &url_allowed), "{method}");
            assert!(!params.to_string().contains("CANARY"), "{method}: {params}");
        }
        let mut own = json!({"frame": {"id": "a", "url": "https://a.test/"}});
        assert!(!filter_event("Page.frameNavigated", &mut own, &url_allowed));
    }

    #[test]
    fn m8_filtered_results_contain_no_ungranted_url_or_title() {
        let frame = |id: &str, url: &str| json!({"id": id, "url": url});
        let resource = |url: &str| json!({"url": url, "type": "Image"});
        let mut tree = json!({"frameTree": {
            "frame": frame("a", "https://a.test/"),
            "resources": [resource("https://a.test/x"), resource("https://v.test/CANARY")],
            "childFrames": [{"frame": frame("v", "https://v.test/CANARY"), "resources": [resource("https://a.test/CANARY")]}],
        }});
        assert!(filter_result("Page.getResourceTree", &mut tree, &url_allowed));
        assert!(!tree.to_string().contains("CANARY") && tree.to_string().contains("a.test/x"), "{tree}");
        let mut history = json!({"currentIndex": 0, "entries": [
            {"id": 1, "url": "https://a.test/", "userTypedURL": "", "title": "kept"},
            {"id": 2, "url": "https://v.test/CANARY", "userTypedURL": "CANARY", "title": "CANARY"},
        ]});
        assert!(filter_result("Page.getNavigationHistory", &mut history, &url_allowed));
        assert!(!history.to_string().contains("CANARY") && history.to_string().contains("kept"), "{history}");
        assert_eq!(origin_of("https://u:p@v.test:8/x?y"), "https://v.test:8/");
        assert_eq!(origin_of("data:CANARY"), "");
    }
}
