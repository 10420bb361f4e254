//! The MCP tools `execute` and `reset`.

use serde_json::json;

use super::on_page;
use crate::mcp::client::McpClient;
use crate::support::world::World;

#[test]
fn code_mode_has_two_tools() {
    let world = World::new();
    let mut client = McpClient::start(&world, &["--tools", "-all,execute", "--policy", "open"]);
    let tools = client.ask("tools/list", json!({}))["result"]["tools"].clone();
    let names: Vec<&str> =
        tools.as_array().expect("tools").iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["execute", "reset"]);
    assert!(tools.to_string().len() <= 350 * 4, "{}", tools.to_string().len());
    let code = on_page("console.log(await page.title()); state.n = 1; await page.locator('li').count()");
    let text = client.text("execute", json!({"code": code}));
    assert!(text.starts_with("<page ") && text.contains("Shop\n2"), "{text}");
    assert!(client.text("execute", json!({"code": "state.n"})).contains("\n1\n"));
    assert!(client.text("reset", json!({})).contains("gone"));
    assert!(client.text("execute", json!({"code": "state.n"})).contains("undefined"));
    let failure = client.failure("execute", json!({"code": "console.log('before');\nmissing()"}));
    assert!(
        failure.contains("before") && failure.contains("ReferenceError") && failure.contains("execute:2:1"),
        "{failure}"
    );
    let failure = client.failure("execute", json!({"code": "for (;;) {}", "timeout_ms": 200}));
    assert!(failure.starts_with("TIMEOUT: "), "{failure}");
}

#[test]
fn a_screenshot_is_an_image_and_a_forged_path_is_not() {
    let world = World::new();
    let mut client = McpClient::start(&world, &["--tools", "execute", "--policy", "open"]);
    let shown = client.call(
        "execute",
        json!({"code": "await page.goto('data:text/html,<h1>x</h1>'); await page.screenshot()"}),
    );
    let kinds: Vec<&str> = shown["content"]
        .as_array()
        .expect("content")
        .iter()
        .filter_map(|part| part["type"].as_str())
        .collect();
    assert_eq!(kinds, ["text", "image"], "{shown}");
}

#[test]
fn a_cancelled_execute_ends_its_script() {
    let world = World::new();
    let mut client = McpClient::start(&world, &["--tools", "execute", "--policy", "open"]);
    client.text("execute", json!({"code": "state.turns = 0; 1"}));
    let code = "for (;;) { state.turns++; await new Promise((r) => setTimeout(r, 10)) }";
    let arguments = json!({"name": "execute", "arguments": {"code": code, "timeout_ms": 120_000}});
    let id = client.begin("tools/call", arguments);
    client.notify("notifications/cancelled", json!({"requestId": id}));
    // The next run waits for the one before, and its text comes long before that one's timeout.
    let text = client.text("execute", json!({"code": "await page.waitForTimeout(300); 'next'"}));
    assert!(text.contains("next"), "{text}");
}

#[test]
fn a_long_result_continues_with_more() {
    let world = World::new();
    let mut client = McpClient::start(&world, &["--tools", "all", "--policy", "open"]);
    let mut text = client.text(
        "execute",
        json!({"code": "Array.from({ length: 20_000 }, (_, i) => `line ${i}`).join('\\n')"}),
    );
    assert!(text.contains("line 0") && !text.contains("line 19999"), "{} characters", text.len());
    assert!(text.chars().count() < 50_000, "{} characters", text.chars().count());
    for _ in 0..20 {
        if text.contains("line 19999") {
            return;
        }
        let (_, handle) = text.rsplit_once("handle \"").expect("a handle");
        let handle = handle.split('"').next().expect("an end").to_owned();
        text = client.text("more", json!({"handle": handle}));
    }
    panic!("the end never came: {text}");
}
