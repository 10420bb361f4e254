//! Generated stories: whatever the order of commands, responses and events, every command is answered exactly once, also
//! when a realm, a frame, a tab or the browser goes.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::commands_of_stories::{commands, event};
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

/// A plausible result of a command of BiDi.
fn result_of(sent: &Sent, number: usize) -> Value {
    match sent.method.as_str() {
        "script.evaluate" | "script.callFunction" => {
            let handle = json!({"type": "object", "handle": "h"});
            let text = |value: &str| json!({"type": "string", "value": value});
            let values =
                [json!({"type": "null"}), handle, text("j{}"), text("[[0,0,1,0,1,1,0,1]]"), text("")];
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
    match numbers.below(12) {
        0 => stage.add_realm(&format!("realm{number}"), "tab"),
        1 => stage.event("script.realmDestroyed", json!({"realm": "main"})),
        2 => stage.add_realm("main", "tab"),
        3 => stage.add_context("frame", Some("tab")),
        4 => stage.add_context(&format!("tab{number}"), None),
        _ => {
            let (method, params) = event(number);
            stage.event(method, params);
        }
    }
}

fn tell(seed: u64) {
    let mut numbers = Numbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let (mut stage, session) = Stage::with_tab();
    let start = Instant::now();
    for step in 0..120 {
        match numbers.below(10) {
            0..=3 => {
                let realms = stage.events("Runtime.executionContextCreated");
                let context = realms.last().and_then(|event| event["context"]["id"].as_i64()).unwrap_or(1);
                let paused =
                    stage.events("Fetch.requestPaused").last().map(|event| event["requestId"].clone());
                let paused = paused.unwrap_or_else(|| json!("interception-1"));
                let all = commands(context, 1, &paused, &session);
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
            8 => {
                stage.browser.tick(start + Duration::from_secs(step));
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

/// A method without a story would be one whose answer nothing checks.
#[test]
fn every_method_of_the_emulated_browser_is_in_the_stories() {
    let told: Vec<&str> = commands(1, 1, &json!(""), "").into_iter().map(|(method, _)| method).collect();
    let mut handled = Vec::new();
    methods_in(std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/browser")), &mut handled);
    assert!(handled.len() > 80, "the sources name their methods: {handled:?}");
    let missing: Vec<&String> = handled
        .iter()
        .filter(|method| !told.contains(&method.as_str()) && !EVENTS.contains(&method.as_str()))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// What the emulated browser sends to the hub.
const EVENTS: &[&str] = &[
    "Browser.downloadProgress",
    "Browser.downloadWillBegin",
    "Fetch.authRequired",
    "Fetch.requestPaused",
    "Input.dragIntercepted",
    "Inspector.targetCrashed",
    "Inspector.targetReloadedAfterCrash",
    "Log.entryAdded",
    "Network.loadingFailed",
    "Network.loadingFinished",
    "Network.requestServedFromCache",
    "Network.requestWillBeSent",
    "Network.responseReceived",
    "Page.domContentEventFired",
    "Page.downloadProgress",
    "Page.downloadWillBegin",
    "Page.fileChooserOpened",
    "Page.frameAttached",
    "Page.frameDetached",
    "Page.frameNavigated",
    "Page.frameStartedLoading",
    "Page.frameStartedNavigating",
    "Page.frameStoppedLoading",
    "Page.javascriptDialogClosed",
    "Page.javascriptDialogOpening",
    "Page.lifecycleEvent",
    "Page.loadEventFired",
    "Page.navigatedWithinDocument",
    "Page.screencastFrame",
    "Page.screencastVisibilityChanged",
    "Page.windowOpen",
    "Runtime.bindingCalled",
    "Runtime.consoleAPICalled",
    "Runtime.exceptionThrown",
    "Runtime.executionContextCreated",
    "Runtime.executionContextDestroyed",
    "Target.attachedToTarget",
    "Target.detachedFromTarget",
    "Target.targetCrashed",
    "Target.targetCreated",
    "Target.targetDestroyed",
    "Target.targetInfoChanged",
];

/// The string literals `"Domain.method"` of the sources below a folder.
fn methods_in(folder: &std::path::Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("the sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            methods_in(&path, found);
            continue;
        }
        let text = std::fs::read_to_string(path).expect("a source");
        found.extend(text.split('"').filter(|literal| is_method(literal)).map(str::to_owned));
    }
}

fn is_method(literal: &str) -> bool {
    let Some((domain, name)) = literal.split_once('.') else { return false };
    let starts = |part: &str, test: fn(&char) -> bool| part.chars().next().as_ref().is_some_and(test);
    starts(domain, char::is_ascii_uppercase)
        && starts(name, char::is_ascii_lowercase)
        && [domain, name].concat().chars().all(|one| one.is_ascii_alphanumeric())
}
