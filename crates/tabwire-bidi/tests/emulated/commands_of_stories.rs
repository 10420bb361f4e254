//! Table: what hub and browser say in the stories: every method of the emulated browser, and every event that it reads.

use serde_json::{Value, json};

/// Every method, with parameters that reach its whole implementation.
pub(crate) fn commands(context: i64, node: i64, paused: &Value, session: &str) -> Vec<(&'static str, Value)> {
    let object = format!("{context}|s|h");
    let mut all = settings_and_targets(node, &object, session);
    all.extend(input_and_network(paused));
    all.extend(page_and_scripts(context, &object));
    all
}

fn settings_and_targets(node: i64, object: &str, session: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("Browser.close", json!({})),
        ("Browser.getVersion", json!({})),
        ("Browser.grantPermissions", json!({"permissions": ["geolocation"], "origin": "http://a.test"})),
        ("Browser.resetPermissions", json!({})),
        ("Browser.setDownloadBehavior", json!({"behavior": "allowAndName", "downloadPath": "/d"})),
        (
            "Browser.setPermission",
            json!({"permission": {"name": "geolocation"}, "setting": "granted", "origin": "http://a.test"}),
        ),
        ("DOM.describeNode", json!({"backendNodeId": node})),
        ("DOM.describeNode", json!({"objectId": object})),
        ("DOM.disable", json!({})),
        ("DOM.enable", json!({})),
        ("DOM.getBoxModel", json!({"objectId": object})),
        ("DOM.getContentQuads", json!({"backendNodeId": node})),
        ("DOM.getFrameOwner", json!({"frameId": "frame"})),
        ("DOM.resolveNode", json!({"backendNodeId": node})),
        ("DOM.scrollIntoViewIfNeeded", json!({"backendNodeId": node})),
        ("DOM.setFileInputFiles", json!({"objectId": object, "files": []})),
        ("Emulation.clearDeviceMetricsOverride", json!({})),
        ("Emulation.clearGeolocationOverride", json!({})),
        ("Emulation.setCPUThrottlingRate", json!({"rate": 1})),
        ("Emulation.setCPUThrottlingRate", json!({"rate": 4})),
        ("Emulation.setDefaultBackgroundColorOverride", json!({})),
        ("Emulation.setDeviceMetricsOverride", json!({"width": 800, "height": 600, "deviceScaleFactor": 1})),
        ("Emulation.setEmulatedMedia", json!({"media": "", "features": []})),
        ("Emulation.setEmulatedMedia", json!({"media": "print"})),
        ("Emulation.setFocusEmulationEnabled", json!({"enabled": true})),
        ("Emulation.setGeolocationOverride", json!({"latitude": 1, "longitude": 2})),
        ("Emulation.setLocaleOverride", json!({"locale": "de-DE"})),
        ("Emulation.setTimezoneOverride", json!({"timezoneId": "UTC"})),
        ("Emulation.setTouchEmulationEnabled", json!({"enabled": false})),
        ("Emulation.setUserAgentOverride", json!({"userAgent": "x"})),
        ("Log.clear", json!({})),
        ("Storage.clearCookies", json!({})),
        ("Storage.getCookies", json!({})),
        ("Storage.setCookies", json!({"cookies": [{"name": "n", "value": "v", "domain": "a.test"}]})),
        ("Target.activateTarget", json!({"targetId": "tab"})),
        ("Target.attachToBrowserTarget", json!({})),
        ("Target.attachToTarget", json!({"targetId": "tab", "flatten": true})),
        ("Target.closeTarget", json!({"targetId": "tab"})),
        ("Target.createBrowserContext", json!({})),
        ("Target.createTarget", json!({"url": "http://a.test/"})),
        ("Target.detachFromTarget", json!({"sessionId": session})),
        ("Target.disposeBrowserContext", json!({"browserContextId": "u"})),
        ("Target.getBrowserContexts", json!({})),
        ("Target.getTargetInfo", json!({})),
        ("Target.getTargets", json!({})),
        (
            "Target.setAutoAttach",
            json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true}),
        ),
        ("Target.setDiscoverTargets", json!({"discover": true})),
        // One that Firefox cannot do, and one that does not exist.
        ("Tracing.start", json!({})),
        ("Unknown.method", json!({})),
    ]
}

fn input_and_network(paused: &Value) -> Vec<(&'static str, Value)> {
    let mouse = |kind: &str| json!({"type": kind, "x": 1, "y": 2, "button": "left"});
    let header = json!([{"name": "a", "value": "b"}]);
    vec![
        ("Fetch.continueRequest", json!({"requestId": paused, "headers": header})),
        ("Fetch.continueResponse", json!({"requestId": paused, "responseCode": 200})),
        (
            "Fetch.continueWithAuth",
            json!({"requestId": paused, "authChallengeResponse": {"response": "CancelAuth"}}),
        ),
        ("Fetch.disable", json!({})),
        ("Fetch.enable", json!({"patterns": [{"urlPattern": "*"}], "handleAuthRequests": true})),
        ("Fetch.enable", json!({"patterns": [{"urlPattern": "*", "requestStage": "Response"}]})),
        ("Fetch.failRequest", json!({"requestId": paused, "errorReason": "Failed"})),
        ("Fetch.fulfillRequest", json!({"requestId": paused, "responseCode": 200, "body": "eA=="})),
        ("IO.close", json!({"handle": "1"})),
        ("IO.read", json!({"handle": "1"})),
        ("Input.dispatchKeyEvent", json!({"type": "keyDown", "key": "a"})),
        ("Input.dispatchMouseEvent", mouse("mouseMoved")),
        ("Input.dispatchMouseEvent", mouse("mousePressed")),
        ("Input.dispatchMouseEvent", mouse("mouseReleased")),
        ("Input.dispatchTouchEvent", json!({"type": "touchStart", "touchPoints": [{"x": 1, "y": 1}]})),
        ("Input.dispatchTouchEvent", json!({"type": "touchEnd", "touchPoints": []})),
        ("Input.insertText", json!({"text": "t"})),
        ("Input.setIgnoreInputEvents", json!({"ignore": true})),
        ("Input.setInterceptDrags", json!({"enabled": true})),
        ("Input.setInterceptDrags", json!({"enabled": false})),
        ("Network.deleteCookies", json!({"name": "n", "domain": "a.test"})),
        ("Network.disable", json!({})),
        ("Network.emulateNetworkConditions", json!({"offline": true, "latency": 0})),
        ("Network.enable", json!({})),
        ("Network.getCookies", json!({})),
        ("Network.getRequestPostData", json!({"requestId": "r1"})),
        ("Network.getResponseBody", json!({"requestId": "r1"})),
        ("Network.setBlockedURLs", json!({"urls": []})),
        ("Network.setBypassServiceWorker", json!({"bypass": false})),
        ("Network.setCacheDisabled", json!({"cacheDisabled": true})),
        ("Network.setCookie", json!({"name": "n", "value": "v", "url": "http://a.test/"})),
        ("Network.setExtraHTTPHeaders", json!({"headers": {"a": "b"}})),
        ("Network.setUserAgentOverride", json!({"userAgent": "x"})),
    ]
}

fn page_and_scripts(context: i64, object: &str) -> Vec<(&'static str, Value)> {
    vec![
        (
            "Page.addScriptToEvaluateOnNewDocument",
            json!({"source": "1", "worldName": "w", "runImmediately": true}),
        ),
        ("Page.bringToFront", json!({})),
        ("Page.captureScreenshot", json!({})),
        ("Page.close", json!({})),
        ("Page.createIsolatedWorld", json!({"frameId": "tab", "worldName": "w"})),
        ("Page.disable", json!({})),
        ("Page.enable", json!({})),
        ("Page.getFrameTree", json!({})),
        ("Page.getLayoutMetrics", json!({})),
        ("Page.getNavigationHistory", json!({})),
        ("Page.handleJavaScriptDialog", json!({"accept": true})),
        ("Page.navigate", json!({"url": "http://a.test/"})),
        ("Page.navigateToHistoryEntry", json!({"entryId": 1})),
        ("Page.printToPDF", json!({"transferMode": "ReturnAsStream"})),
        ("Page.reload", json!({"ignoreCache": true})),
        ("Page.removeScriptToEvaluateOnNewDocument", json!({"identifier": "1"})),
        ("Page.screencastFrameAck", json!({"sessionId": 1})),
        ("Page.setInterceptFileChooserDialog", json!({"enabled": true})),
        ("Page.setLifecycleEventsEnabled", json!({"enabled": true})),
        ("Page.startScreencast", json!({"format": "jpeg", "quality": 60, "maxWidth": 800, "maxHeight": 450})),
        ("Page.startScreencast", json!({"format": "png"})),
        ("Page.stopScreencast", json!({})),
        ("Runtime.addBinding", json!({"name": "b"})),
        ("Runtime.callFunctionOn", json!({"functionDeclaration": "f", "executionContextId": context})),
        (
            "Runtime.callFunctionOn",
            json!({"functionDeclaration": "f", "objectId": object, "returnByValue": true}),
        ),
        ("Runtime.disable", json!({})),
        ("Runtime.discardConsoleEntries", json!({})),
        ("Runtime.enable", json!({})),
        ("Runtime.evaluate", json!({"expression": "1", "contextId": context, "returnByValue": true})),
        ("Runtime.evaluate", json!({"expression": "x", "contextId": context, "awaitPromise": true})),
        ("Runtime.evaluate", json!({"expression": "await x", "contextId": context, "replMode": true})),
        ("Runtime.getProperties", json!({"objectId": object})),
        ("Runtime.releaseObject", json!({"objectId": object})),
        ("Runtime.releaseObjectGroup", json!({"objectGroup": "g"})),
        ("Runtime.removeBinding", json!({"name": "b"})),
        ("Runtime.runIfWaitingForDebugger", json!({})),
    ]
}

/// An event of the browser in or around the tab.
pub(crate) fn event(number: usize) -> (&'static str, Value) {
    let navigation =
        |url: &str| json!({"context": "tab", "navigation": format!("N{}", number % 4), "url": url});
    let page = navigation("http://a.test/");
    let status = [200, 302, 401][number % 3];
    let request = |is_blocked: bool| {
        json!({
            "context": "tab", "isBlocked": is_blocked, "intercepts": [format!("I{}", number % 6)],
            "navigation": null, "redirectCount": number % 2, "timestamp": number,
            "request": {"request": format!("r{}", number % 5), "url": "http://a.test/"},
            "response": {
                "url": "http://a.test/", "status": status,
                "headers": [{"name": "Location", "value": {"type": "string", "value": "/x"}}],
            },
            "errorText": "NS_BINDING_ABORTED",
        })
    };
    let source = json!({"context": "tab", "realm": "main"});
    let mut events = vec![
        ("browsingContext.navigationStarted", page.clone()),
        ("browsingContext.navigationCommitted", page.clone()),
        ("browsingContext.navigationCommitted", navigation("about:neterror?e=x")),
        ("browsingContext.navigationFailed", page.clone()),
        ("browsingContext.navigationAborted", page.clone()),
        ("browsingContext.fragmentNavigated", page.clone()),
        ("browsingContext.historyUpdated", page.clone()),
        ("browsingContext.domContentLoaded", page.clone()),
        ("browsingContext.load", page.clone()),
        ("browsingContext.contextDestroyed", json!({"context": "frame"})),
        ("browsingContext.userPromptOpened", json!({"context": "tab", "type": "alert"})),
        ("browsingContext.userPromptClosed", json!({"context": "tab"})),
        ("browsingContext.downloadWillBegin", page.clone()),
        ("browsingContext.downloadEnd", page),
        ("network.beforeRequestSent", request(true)),
        ("network.beforeRequestSent", request(false)),
        ("network.responseStarted", request(true)),
        ("network.responseStarted", request(false)),
        ("network.responseCompleted", request(false)),
        ("network.authRequired", request(true)),
        ("network.fetchError", request(false)),
        ("log.entryAdded", json!({"type": "console", "method": "log", "args": [], "source": source})),
        ("log.entryAdded", json!({"type": "javascript", "level": "error", "text": "E: x", "source": source})),
        (
            "input.fileDialogOpened",
            json!({"context": "tab", "multiple": false, "element": {"sharedId": "s"}}),
        ),
        (
            "script.message",
            json!({"channel": "x\u{1}b", "data": {"type": "string", "value": "v"}, "source": source}),
        ),
    ];
    // Rarely: the content process crashes, and nothing of the tab responds any more.
    if number.is_multiple_of(17) {
        events.push(("browsingContext.navigationCommitted", navigation("about:tabcrashed")));
    }
    events.swap_remove(number % events.len())
}
