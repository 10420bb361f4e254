//! `tabwire mcp` over stdio and HTTP: concurrent calls, and killed processes.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::mcp::client::{McpClient, hello, text_of};
use crate::mcp::every_tool::{names, use_every_tool};
use crate::mcp::http_client::McpHttp;
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::eventually;
use crate::support::world::World;

fn kill(pid: u32) {
    let pid = Pid::from_raw(i32::try_from(pid).expect("a process number")).expect("a process");
    kill_process(pid, Signal::KILL).expect("it runs");
}

fn has_browser(world: &World) -> bool {
    !world.browser_processes().is_empty()
}

#[test]
fn calls_respond_as_they_end_and_cancelling_ends_one() {
    let (world, site) = (World::new(), FixtureSite::start());
    let mut client = McpClient::start(&world, &["--policy", "open"]);
    client.text("navigate", json!({"url": site.page("/plain")}));
    let call = |client: &mut McpClient, tool: &str, arguments: Value| {
        client.begin(
            "tools/call",
            json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": tool}}),
        )
    };
    let slow = call(&mut client, "wait_for", json!({"time": 1500}));
    let slower = call(&mut client, "wait_for", json!({"time": 60_000, "timeout_ms": 90_000}));
    let fast = call(&mut client, "eval", json!({"expression": "1 + 1"}));
    assert_eq!(client.next_response_id(), fast);
    client.notify("notifications/cancelled", json!({"requestId": slower}));
    assert_eq!(client.next_response_id(), slow, "the cancelled call gets no response, the other does");
    let has_progress = client.notifications.iter().any(|note| note["method"] == "notifications/progress");
    let later = call(&mut client, "eval", json!({"expression": "2 + 2"}));
    let response = client.response(later);
    assert!(text_of(&response["result"]).contains('4'), "F23: the tab is free: {response}");
    let has_progress = has_progress || client.transcript.contains("notifications/progress");
    assert!(has_progress, "no progress notification: {}", client.transcript);
}

#[test]
fn tabs_are_named_by_number_title_or_url() {
    let (world, site) = (World::new(), FixtureSite::start());
    let mut client = McpClient::start(&world, &["--policy", "open", "--tools", "sharing"]);
    client.text("navigate", json!({"url": site.page("/plain")}));
    let opened = client.text("tab_new", json!({"url": site.page("/form")}));
    client.text("tab_select", json!({"tab": "Plain page"}));
    let title = |client: &mut McpClient, tab: Value| {
        client.text("eval", json!({"expression": "document.title", "tab": tab}))
    };
    for tab in [json!("form"), json!("Form"), json!("/form")] {
        assert!(title(&mut client, tab.clone()).contains("Form"), "{tab}");
    }
    let second = opened.split_whitespace().find_map(|word| word.strip_prefix("pipe:")).expect("an id");
    let number = second.split(':').nth(1).expect("a number");
    for tab in [json!(number), json!(number.parse::<u32>().expect("a number"))] {
        assert!(title(&mut client, tab.clone()).contains("Form"), "{tab}");
        client.text("tab_lease", json!({"verb": "take", "tab": tab}));
    }
    assert!(title(&mut client, json!("plain")).contains("Plain page"));
    let failed = client.failure("get_text", json!({"tab": "third"}));
    assert!(failed.starts_with("TAB_NOT_FOUND: ") && failed.contains("third"), "{failed}");
    let several = client.failure("get_text", json!({"tab": "localhost"}));
    assert!(several.contains("localhost"), "{several}");
}

#[test]
fn f22_f25_a_killed_process_loses_only_its_own_resources() {
    let (world, site) = (World::new(), FixtureSite::start());
    // The user's own session, with a tab that the agents must not close.
    let users = world.open(&[&site.page("/plain"), "--session", "mine"]);
    let before = world.browser_processes().len();

    // stdin is closed during a call.
    let mut client = McpClient::start(&world, &["--policy", "open"]);
    client.text("navigate", json!({"url": site.page("/plain")}));
    assert!(world.browser_processes().len() > before);
    client.begin(
        "tools/call",
        json!({"name": "wait_for", "arguments": {"time": 60_000, "timeout_ms": 90_000}}),
    );
    let closed = Instant::now();
    client.close();
    client.process.wait().expect("it ends");
    eventually("the client's browser ends", 2, || world.browser_processes().len() == before);
    assert!(closed.elapsed() < Duration::from_secs(3), "{:?}", closed.elapsed());

    // The shim is killed during a call; a named session continues, and the client's tabs are closed.
    let mut client = McpClient::start(&world, &["--session", "mine", "--policy", "open"]);
    client.text("tab_new", json!({"url": site.page("/form")}));
    client.text("click", json!({"selector": "#name"}));
    client.begin(
        "tools/call",
        json!({"name": "wait_for", "arguments": {"time": 60_000, "timeout_ms": 90_000}}),
    );
    kill(client.process.id());
    let tabs = || world.json(&["--session", "mine", "tabs"])["result"]["tabs"].clone();
    eventually("the client's tab closes", 2, || tabs().as_array().is_some_and(|tabs| tabs.len() == 1));
    assert_eq!(tabs()[0]["tab"], users.as_str());
    assert_eq!(world.browser_processes().len(), before);
}

#[test]
fn every_protocol_revision_is_supported() {
    let world = World::new();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = McpClient::start_silently(&world, &[]);
        let response = client.ask("initialize", hello(version));
        assert_eq!(response["result"]["protocolVersion"], version, "{response}");
        client.notify("notifications/initialized", json!({}));
        assert!(client.ask("ping", json!({}))["result"].is_object());
        let list = client.ask("tools/list", json!({}))["result"]["tools"].clone();
        let has_schema =
            list.as_array().expect("tools").iter().any(|tool| tool.get("outputSchema").is_some());
        assert!(!has_schema, "{version}: results are text by default");
    }
    let mut client = McpClient::start_silently(&world, &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test-client", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let response = client.ask("tools/list", json!({"_meta": meta}));
    assert!(response["result"]["tools"].is_array(), "without a greeting: {response}");
    let response = client.ask("tools/call", json!({"name": "status", "arguments": {}, "_meta": meta}));
    assert!(text_of(&response["result"]).contains("No browser is running"), "{response}");
}

#[test]
fn options_apply_to_all_calls_and_invalid_ones_are_refused() {
    let world = World::new();
    for (arguments, expected) in [
        (&["--tools", "netwrok"][..], "network"),
        (&["--isolated", "--http"], "cannot be used with"),
        (&["--session", "a b/c"], "session"),
    ] {
        let refused = world.run(&[&["mcp"], arguments].concat());
        assert!(
            refused.code == 2 && refused.stdout.is_empty() && refused.stderr.contains(expected),
            "{refused:?}"
        );
    }
    let listed = world.run(&["mcp", "--list-tools"]).succeeded();
    assert!(
        listed.text().lines().last().is_some_and(|line| line.contains("tokens for 29 tools")),
        "{}",
        listed.text()
    );
    let mut client = McpClient::start(&world, &["--tools", "network,-eval", "--results", "data"]);
    let list = client.ask("tools/list", json!({}));
    let offered = names(&list);
    assert!(offered.contains(&"requests".to_owned()) && !offered.contains(&"eval".to_owned()), "{offered:?}");
    let is_described = |tool: &Value| tool["outputSchema"]["type"] == "object";
    assert!(list["result"]["tools"].as_array().is_some_and(|tools| tools.iter().all(is_described)));
    let result = client.call("tabs_list", json!({}));
    assert!(result["structuredContent"]["tabs"].is_array(), "{result}");
    let text: Value = serde_json::from_str(&text_of(&result)).expect("the text is the same JSON");
    assert_eq!(text, result["structuredContent"], "the text always holds the result");
}

#[test]
fn an_isolated_server_shares_nothing_and_leaves_nothing() {
    let (world, site) = (World::new(), FixtureSite::start());
    let mut client = McpClient::start(&world, &["--isolated", "--policy", "open"]);
    client.text("navigate", json!({"url": site.page("/plain")}));
    assert!(has_browser(&world));
    assert!(!world.socket().exists(), "no daemon of the user's was started");
    assert_eq!(world.files("tmp").iter().filter(|name| name.starts_with("tabwire-mcp-")).count(), 1);
    client.close();
    assert!(client.process.wait().expect("it ends").success());
    assert!(!has_browser(&world), "its browser has ended");
    assert_eq!(world.files("tmp"), Vec::<String>::new(), "its directory is gone");
}

#[test]
fn http_serves_the_same_tools_until_the_command_ends() {
    let (world, site) = (World::new().with_whole_chromium(), FixtureSite::start());
    let mut endpoint = McpHttp::open(&world, &["--policy", "open"]);
    let mut client = endpoint.greet();
    let list = client.ask("tools/list", json!({}));
    use_every_tool(&site, &names(&list), &mut |tool, arguments| client.call(tool, arguments));
    let second = world.run(&["--json", "mcp", "--http"]);
    assert_eq!(second.failure().0, "BUSY", "a second server cannot take the endpoint: {second:?}");
    // Each client has its own browser.
    let mut other = endpoint.greet();
    assert!(text_of(&other.call("status", json!({}))).contains("No browser is running"));

    for (change, status) in [
        (&["Origin: https://evil.test"][..], 403),
        (&["Origin: null"], 403),
        (&["Sec-Fetch-Site: cross-site"], 403),
        (&["Content-Type: text/plain"], 415),
    ] {
        assert_eq!(client.status_with(change), status, "{change:?}");
    }
    assert_eq!(endpoint.status_of("/mcp"), 401, "T06: the secret is required");
    assert_eq!(endpoint.status_of(&format!("/{}/mcp", "0".repeat(64))), 401);
    // T17: a client that leaves closes its own browser; its session id is no credential elsewhere.
    assert_eq!(client.end(), 204, "the session has ended, and no body follows");
    eventually("the client's browser ends", 3, || !has_browser(&world));
    assert!(text_of(&other.call("status", json!({}))).contains("No browser is running"));
    endpoint.close();
    eventually("the endpoint is closed", 2, || other.status_with(&[]) == 401);
}

#[test]
fn t39_no_secret_shows_in_responses_or_logs() {
    const CANARY: &str = "canary-7f3a";
    let (world, site) = (World::new().with("TABWIRE_LOG", "trace"), FixtureSite::start());
    let mut client = McpClient::start(&world, &["--tools", "all", "--policy", "open", "--timeout", "3s"]);
    client.text("navigate", json!({"url": site.page("/form")}));
    client.text("fill", json!({"selector": "#password", "value": CANARY}));
    client.text("eval", json!({"expression": format!("document.cookie = 'id={CANARY}'; 1")}));
    for (tool, arguments) in [
        ("snapshot", json!({"full": true})),
        ("get_html", json!({})),
        ("get_text", json!({})),
        ("cookies", json!({})),
        ("requests", json!({"all": true})),
        ("click", json!({"selector": "#nothing", "snapshot": true})),
        ("status", json!({})),
    ] {
        let response = client.call(tool, arguments);
        assert!(!response.to_string().contains(CANARY), "{tool}: {response}");
    }
    client.ask("resources/read", json!({"uri": "tabwire://log"}));
    let handshake = std::fs::read_to_string(world.runtime().join("handshake.json")).expect("a daemon runs");
    let token = serde_json::from_str::<Value>(&handshake).expect("JSON")["token"].clone();
    let token = token.as_str().expect("a token").to_owned();
    client.close();
    client.process.wait().expect("it ends");
    assert!(!client.transcript.contains(CANARY) && !client.transcript.contains(&token));
    let log = world.log();
    assert!(
        log.contains("the daemon starts") && !log.contains(CANARY) && !log.contains(&token),
        "the log has a secret"
    );
    let audit_log = world.run(&["log", "export"]).succeeded();
    assert!(
        audit_log.stdout.contains("fill") && !audit_log.stdout.contains(CANARY),
        "the audit log has a secret"
    );
}

/// The parameters of `initialize` of a client that supports elicitation.
fn hello_with_questions() -> Value {
    let mut hello = hello("2025-11-25");
    hello["capabilities"] = json!({"elicitation": {}});
    hello
}

#[test]
fn an_mcp_client_needs_a_grant_and_its_user_is_asked() {
    let (world, site) = (World::new(), FixtureSite::start());
    let page = json!({"url": site.page("/form")});
    let mut client = McpClient::start(&world, &[]);
    let refused = client.failure("navigate", page.clone());
    assert!(refused.starts_with("POLICY_DENIED: ") && refused.contains("tabwire allow"), "{refused}");
    drop(client);

    let mut client = McpClient::start_silently(&world, &[]);
    client.ask("initialize", hello_with_questions());
    client.notify("notifications/initialized", json!({}));
    for (response, is_allowed) in [
        (json!({"action": "decline"}), false),
        (json!({"action": "accept", "content": {"answer": "session"}}), true),
    ] {
        let call = client.begin("tools/call", json!({"name": "navigate", "arguments": page}));
        let question = client.next_question();
        let message = question["params"]["message"].as_str().expect("a message").to_owned();
        assert!(message.contains("`navigate`") && message.contains("a.localhost"), "{message}");
        client.reply(&question["id"], response);
        let result = client.response(call)["result"].clone();
        assert_eq!(result["isError"] == false, is_allowed, "{result}");
    }
    let text = client.text("get_text", json!({}));
    assert!(text.contains("Name"), "what was allowed for the session is not asked again: {text}");
}
