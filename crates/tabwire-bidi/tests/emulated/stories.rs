//! Generated stories: whatever the order of commands, responses and events, every command is answered exactly once, also
//! when a realm, a frame, a tab or the browser goes.

use serde_json::{Value, json};

use crate::stage::{Sent, Stage};

/// A small generator of numbers; the same for the same seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(bound.max(1)).expect("small")).expect("small")
    }

    fn pick<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.get(self.below(of.len()))
    }
}

/// Methods with parameters that reach every part of the emulated browser.
fn commands(context: i64, node: i64) -> Vec<(&'static str, Value)> {
    let mouse = |kind: &str| json!({"type": kind, "x": 1, "y": 2, "button": "left"});
    let patterns = json!({"patterns": [{"urlPattern": "*"}]});
    vec![
        ("Runtime.evaluate", json!({"expression": "1", "contextId": context, "returnByValue": true})),
        ("Runtime.evaluate", json!({"expression": "x", "contextId": context, "awaitPromise": true})),
        ("Runtime.callFunctionOn", json!({"functionDeclaration": "f", "executionContextId": context})),
        ("Page.navigate", json!({"url": "http://a.test/"})),
        ("Page.reload", json!({})),
        ("Page.getFrameTree", json!({})),
        ("Page.createIsolatedWorld", json!({"frameId": "tab", "worldName": "w"})),
        (
            "Page.addScriptToEvaluateOnNewDocument",
            json!({"source": "1", "worldName": "w", "runImmediately": true}),
        ),
        ("Page.removeScriptToEvaluateOnNewDocument", json!({"identifier": "1"})),
        ("Page.captureScreenshot", json!({})),
        ("Page.printToPDF", json!({"transferMode": "ReturnAsStream"})),
        ("Page.getLayoutMetrics", json!({})),
        ("Page.handleJavaScriptDialog", json!({"accept": true})),
        ("Page.getNavigationHistory", json!({})),
        ("Page.navigateToHistoryEntry", json!({"entryId": 1})),
        ("Input.dispatchMouseEvent", mouse("mouseMoved")),
        ("Input.dispatchMouseEvent", mouse("mousePressed")),
        ("Input.dispatchMouseEvent", mouse("mouseReleased")),
        ("Input.dispatchKeyEvent", json!({"type": "keyDown", "key": "a"})),
        ("Input.insertText", json!({"text": "t"})),
        ("DOM.describeNode", json!({"backendNodeId": node})),
        ("DOM.resolveNode", json!({"backendNodeId": node})),
        ("DOM.getFrameOwner", json!({"frameId": "frame"})),
        ("DOM.setFileInputFiles", json!({"backendNodeId": node, "files": []})),
        ("Fetch.enable", patterns),
        ("Fetch.disable", json!({})),
        ("Fetch.continueRequest", json!({"requestId": "interception-1"})),
        ("Network.getCookies", json!({})),
        ("Storage.setCookies", json!({"cookies": [{"name": "n", "value": "v", "domain": "a.test"}]})),
        ("Network.getResponseBody", json!({"requestId": "r"})),
        ("Runtime.addBinding", json!({"name": "b"})),
        ("Emulation.setTimezoneOverride", json!({"timezoneId": "UTC"})),
        ("Target.createTarget", json!({"url": "http://a.test/"})),
        ("Target.closeTarget", json!({"targetId": "tab"})),
        ("Target.createBrowserContext", json!({})),
        ("Target.disposeBrowserContext", json!({"browserContextId": "u"})),
        ("Target.activateTarget", json!({"targetId": "tab"})),
        ("Browser.setDownloadBehavior", json!({"behavior": "allowAndName", "downloadPath": "/d"})),
        ("Browser.getVersion", json!({})),
        ("Tracing.start", json!({})),
    ]
}

/// A plausible result of a command of BiDi.
fn result_of(sent: &Sent, number: usize) -> Value {
    match sent.method.as_str() {
        "script.evaluate" | "script.callFunction" => {
            let handle = json!({"type": "object", "handle": "h"});
            let values = [json!({"type": "null"}), handle, json!({"type": "string", "value": "j{}"})];
            json!({"type": "success", "realm": "main", "result": values[number % values.len()]})
        }
        "browsingContext.navigate" => json!({"navigation": format!("N{}", number % 4), "url": "u"}),
        "browsingContext.create" => json!({"context": format!("tab{number}")}),
        "browsingContext.locateNodes" => json!({"nodes": [{"sharedId": "s"}]}),
        "browser.createUserContext" => json!({"userContext": "u"}),
        "network.addIntercept" => json!({"intercept": format!("I{number}")}),
        "script.addPreloadScript" => json!({"script": format!("P{number}")}),
        _ => json!({}),
    }
}

fn happen(stage: &mut Stage, numbers: &mut Numbers) {
    let number = numbers.below(1_000);
    let navigation =
        json!({"context": "tab", "navigation": format!("N{}", number % 4), "url": "http://a.test/"});
    match numbers.below(14) {
        0 => stage.add_realm(&format!("realm{number}"), "tab"),
        1 => stage.event("script.realmDestroyed", json!({"realm": "main"})),
        2 => stage.add_realm("main", "tab"),
        3 => stage.event("browsingContext.navigationStarted", navigation),
        4 => stage.event("browsingContext.navigationCommitted", navigation),
        5 => stage.event("browsingContext.navigationFailed", navigation),
        6 => stage.event("browsingContext.load", navigation),
        7 => stage.add_context("frame", Some("tab")),
        8 => stage.event("browsingContext.contextDestroyed", json!({"context": "frame"})),
        9 => stage.event("browsingContext.userPromptOpened", json!({"context": "tab", "type": "alert"})),
        10 => stage.event("browsingContext.userPromptClosed", json!({"context": "tab"})),
        11 => stage.event("browsingContext.downloadWillBegin", navigation),
        12 => stage.event(
            "network.beforeRequestSent",
            json!({
                "context": "tab", "isBlocked": true, "intercepts": ["I"],
                "request": {"request": format!("r{number}"), "url": "http://a.test/"},
            }),
        ),
        _ => stage.add_context(&format!("tab{number}"), None),
    }
}

fn tell(seed: u64) {
    let mut numbers = Numbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let (mut stage, session) = Stage::with_tab();
    for _ in 0..120 {
        match numbers.below(10) {
            0..=3 => {
                let realms = stage.events("Runtime.executionContextCreated");
                let context = realms.last().and_then(|event| event["context"]["id"].as_i64()).unwrap_or(1);
                let all = commands(context, 1);
                let (method, params) = numbers.pick(&all).expect("one").clone();
                let session = (numbers.below(8) > 0).then_some(session.as_str());
                stage.ask(session, method, params);
            }
            4..=6 if !stage.open.is_empty() => {
                let at = numbers.below(stage.open.len());
                let sent = stage.open.remove(at);
                let errors = ["no such frame", "no such node", "unknown error", "invalid argument"];
                let outcome = match numbers.below(5) {
                    0 => Err(*numbers.pick(&errors).expect("one")),
                    _ => Ok(result_of(&sent, numbers.below(6))),
                };
                stage.respond_to(&sent, &outcome);
            }
            7 => {
                let sent = json!({"id": 1, "junk": true}).to_string();
                stage.browser.from_browser(sent.as_bytes());
                stage.browser.from_browser(b"not JSON");
                stage.browser.from_hub(b"{");
                stage.take();
            }
            _ => happen(&mut stage, &mut numbers),
        }
        assert!(stage.answers.values().all(|count| *count <= 1), "seed {seed}: answered twice");
    }
    if numbers.below(3) == 0 {
        stage.event("browsingContext.contextDestroyed", json!({"context": "tab"}));
    }
    stage.browser.browser_disconnected();
    stage.take();
    let lost: Vec<_> = stage.answers.iter().filter(|(_, count)| **count != 1).collect();
    assert!(lost.is_empty(), "seed {seed}: {lost:?}");
    let late = stage.ask(None, "Browser.getVersion", json!({}));
    assert_eq!(stage.answer(late)["error"]["data"], "BROWSER_GONE");
}

#[test]
fn every_command_is_answered_exactly_once() {
    let is_full = std::env::var("TABWIRE_TEST_SIZE").is_ok_and(|size| size == "full");
    for seed in 0..if is_full { 4_000 } else { 100 } {
        tell(seed);
    }
}

#[test]
fn every_command_is_answered_when_the_browser_is_lost_at_its_start() {
    use tabwire_bidi::{BrowserFacts, EmulatedBrowser, Output};
    let mut browser = EmulatedBrowser::new("S", BrowserFacts::default());
    browser.from_hub(br#"{"id":1,"method":"Browser.getVersion"}"#);
    browser.browser_disconnected();
    let answers = browser.take_outputs().into_iter().filter(|output| matches!(output, Output::ToHub(_)));
    assert_eq!(answers.count(), 1);
}
