//! Takes URLs, titles and texts of what was not granted out of events and responses that clients get all the same.
//! Knows nothing of grants: a closure says which URLs may be told.

use serde_json::{Value, json};

/// Whether the URL of a frame may be told: the frame's id, if it has one, and the URL.
pub(crate) type UrlAllowed<'a> = dyn Fn(Option<&str>, &str) -> bool + 'a;

/// Events in which something may have to be left out.
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

/// Commands in whose results something may have to be left out.
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

/// Leaves out of an event what may not be told; says whether something was.
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
        // They tell where a frame goes, or what is opened or loaded.
        _ => {
            if url_allowed(None, text(params, "/url")) {
                return false;
            }
            empty(params, &["url", "windowName", "suggestedFilename"]);
            true
        }
    }
}

/// A held request whose URL was not granted is told by its origin, so that it can be let go on or ended.
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

/// Leaves out of a frame's description what may not be told.
fn filter_frame(frame: &mut Value, url_allowed: &UrlAllowed<'_>) -> bool {
    let id = text(frame, "/id").to_owned();
    let unreachable = text(frame, "/unreachableUrl").to_owned();
    let is_told = url_allowed(Some(&id), text(frame, "/url"));
    if is_told && (unreachable.is_empty() || url_allowed(Some(&id), &unreachable)) {
        return false;
    }
    empty(frame, &["url", "name", "securityOrigin", "domainAndRegistry"]);
    remove(frame, &["urlFragment", "unreachableUrl", "securityOriginDetails"]);
    true
}

/// Leaves out of a result what may not be told; says whether something was.
pub(crate) fn filter_result(method: &str, result: &mut Value, url_allowed: &UrlAllowed<'_>) -> bool {
    match method {
        "Page.getFrameTree" | "Page.getResourceTree" => {
            result.get_mut("frameTree").is_some_and(|tree| filter_tree(tree, url_allowed))
        }
        "Page.getNavigationHistory" => {
            let mut is_veiled = false;
            for entry in result.get_mut("entries").and_then(Value::as_array_mut).into_iter().flatten() {
                if !url_allowed(None, text(entry, "/url")) || !url_allowed(None, text(entry, "/userTypedURL"))
                {
                    empty(entry, &["url", "userTypedURL", "title"]);
                    is_veiled = true;
                }
            }
            is_veiled
        }
        _ => false,
    }
}

fn filter_tree(tree: &mut Value, url_allowed: &UrlAllowed<'_>) -> bool {
    let mut is_veiled = false;
    let mut left = vec![tree];
    while let Some(tree) = left.pop() {
        let Some(members) = tree.as_object_mut() else { continue };
        let is_hidden = members.get_mut("frame").is_some_and(|frame| filter_frame(frame, url_allowed));
        is_veiled |= is_hidden;
        if let Some(resources) = members.get_mut("resources").and_then(Value::as_array_mut) {
            let before = resources.len();
            resources.retain(|resource| !is_hidden && url_allowed(None, text(resource, "/url")));
            is_veiled |= resources.len() != before;
        }
        left.extend(members.get_mut("childFrames").and_then(Value::as_array_mut).into_iter().flatten());
    }
    is_veiled
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frame `v` and URLs of `v.test` may not be told.
    fn url_allowed(frame: Option<&str>, url: &str) -> bool {
        frame != Some("v") && !url.contains("v.test")
    }

    #[test]
    fn m8_no_veiled_event_tells_a_url_or_text_of_what_was_not_granted() {
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
    fn m8_no_veiled_result_tells_a_url_or_title_of_what_was_not_granted() {
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
