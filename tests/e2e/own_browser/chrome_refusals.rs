//! CDP methods that Chrome refuses to extensions: the table in the docs matches the installed Chromium.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::own_browser::tabs::{connected_browser, extension_page};
use crate::support::cdp_client::CdpClient;
use crate::support::world::World;

/// Attaches to its own tab as the extension does, sends each method, and returns Chrome's error of each;
/// `null` for success.
const ASK: &str = r#"(async (methods) => {
  const { id: tabId } = await chrome.tabs.create({ url: 'about:blank', active: false });
  await chrome.debugger.attach({ tabId }, '1.3');
  const said = [];
  for (const method of methods) {
    const attaching = { autoAttach: true, waitForDebuggerOnStart: false, flatten: true };
    const params = method === 'Target.setAutoAttach' ? attaching : { targetId: 'x', discover: true, behavior: 'deny' };
    const asked = chrome.debugger.sendCommand({ tabId }, method, params);
    const output = await asked.then(() => null, (error) => error.message);
    said.push([method, output === null ? null : (/"message":"([^"]*)"/.exec(output)?.[1] ?? output)]);
  }
  await chrome.debugger.detach({ tabId });
  await chrome.tabs.remove(tabId);
  return said;
})"#;

/// Methods that Tabwire depends on and that Chrome must allow.
const BUILT_ON: [&str; 8] = [
    "Accessibility.enable",
    "DOM.enable",
    "Fetch.enable",
    "Network.enable",
    "Page.enable",
    "Runtime.enable",
    "Storage.getCookies",
    "Target.setAutoAttach",
];

/// The table's rows: each method with Chrome's error.
fn documented() -> Vec<(String, String)> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/own-browser.md");
    let text = fs::read_to_string(path).expect("the page is there");
    let (_, table) = text.split_once("## What Chrome refuses to extensions").expect("the section is there");
    let mut rows = Vec::new();
    for line in table.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
        for method in cells[0].split('`').skip(1).step_by(2) {
            rows.push((method.to_owned(), cells[1].trim().to_owned()));
        }
    }
    rows
}

#[test]
fn chrome_refuses_exactly_the_documented_methods() {
    let world = World::new();
    let browser = connected_browser(&world);
    let mut user = CdpClient::connect(&browser.websocket());
    let page = extension_page(&mut user);
    let documented = documented();
    assert!(documented.len() > 30, "{documented:?}");
    let methods: Vec<&str> = documented.iter().map(|(method, _)| method.as_str()).chain(BUILT_ON).collect();
    let said = user.evaluate(&format!("{ASK}({})", serde_json::json!(methods)), &page);
    let said: Vec<(String, Option<String>)> = serde_json::from_value(said).expect("a list of pairs");
    let unlike: Vec<String> = said
        .iter()
        .filter(|(method, output)| {
            let expected = documented.iter().find(|(known, _)| known == method).map(|(_, text)| text);
            match (expected, output) {
                (None, None) => false,
                (Some(expected), Some(output)) => !output.contains(expected.as_str()),
                _ => true,
            }
        })
        .map(|(method, output)| format!("{method}: {}", Value::from(output.clone())))
        .collect();
    assert!(unlike.is_empty(), "not as documented:\n{}", unlike.join("\n"));
}
