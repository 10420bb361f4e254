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
fn calls_are_answered_as_they_end_and_cancelling_one_ends_no_other() {
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
    assert_eq!(client.next_answered(), fast);
    client.tell("notifications/cancelled", json!({"requestId": slower}));
    assert_eq!(client.next_answered(), slow, "the cancelled one is not answered, the other is");
    let told = client.notifications.iter().any(|note| note["method"] == "notifications/progress");
    let later = call(&mut client, "eval", json!({"expression": "2 + 2"}));
    let answer = client.answer(later);
    assert!(text_of(&answer["result"]).contains('4'), "F23: the tab is free: {answer}");
    let told = told || client.transcript.contains("notifications/progress");
    assert!(told, "progress is told: {}", client.transcript);
}

#[test]
fn f22_f25_a_killed_process_takes_only_its_own_resources_along() {
    let (world, site) = (World::new(), FixtureSite::start());
    // The user's own session, with a tab that the agents must not take along.
    let users = world.open(&[&site.page("/plain"), "--session", "mine"]);
    let before = world.browser_processes().len();

    // stdin is closed while a call is under way.
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

    // The shim is killed during a call; a session that the user named goes on, the client's tabs do not.
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
fn every_revision_of_the_protocol_is_spoken() {
    let world = World::new();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = McpClient::start_silently(&world, &[]);
        let answer = client.ask("initialize", hello(version));
        assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
        client.tell("notifications/initialized", json!({}));
        assert!(client.ask("ping", json!({}))["result"].is_object());
        let list = client.ask("tools/list", json!({}))["result"]["tools"].clone();
        let has_schema =
            list.as_array().expect("tools").iter().any(|tool| tool.get("outputSchema").is_some());
        assert_eq!(has_schema, version >= "2025-06-18", "{version} has no structured content before that");
    }
    let mut client = McpClient::start_silently(&world, &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test-client", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let answer = client.ask("tools/list", json!({"_meta": meta}));
    assert!(answer["result"]["tools"].is_array(), "without a greeting: {answer}");
    let answer = client.ask("tools/call", json!({"name": "status", "arguments": {}, "_meta": meta}));
    assert!(text_of(&answer["result"]).contains("No browser is running"), "{answer}");
}

#[test]
fn options_are_given_once_and_wrong_ones_are_refused_at_the_start() {
    let world = World::new();
    for (arguments, told) in [
        (&["--tools", "netwrok"][..], "network"),
        (&["--isolated", "--http"], "cannot be used with"),
        (&["--session", "a b/c"], "session"),
    ] {
        let refused = world.run(&[&["mcp"], arguments].concat());
        assert!(
            refused.code == 2 && refused.stdout.is_empty() && refused.stderr.contains(told),
            "{refused:?}"
        );
    }
    let listed = world.run(&["mcp", "--list-tools"]).succeeded();
    assert!(
        listed.text().lines().last().is_some_and(|line| line.contains("tokens for 28 tools")),
        "{}",
        listed.text()
    );
    let mut client = McpClient::start(&world, &["--tools", "network,-eval", "--answers", "data"]);
    let list = client.ask("tools/list", json!({}));
    let offered = names(&list);
    assert!(offered.contains(&"requests".to_owned()) && !offered.contains(&"eval".to_owned()), "{offered:?}");
    let is_described = |tool: &Value| tool["outputSchema"]["type"] == "object";
    assert!(list["result"]["tools"].as_array().is_some_and(|tools| tools.iter().all(is_described)));
    let result = client.call("tabs_list", json!({}));
    assert!(result["structuredContent"]["tabs"].is_array(), "{result}");
    assert!(!result["content"].to_string().contains("about:blank"), "one copy of the payload: {result}");
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
    let (world, site) = (World::new(), FixtureSite::start());
    let mut door = McpHttp::open(&world, &["--policy", "open"]);
    let mut client = door.greet();
    let list = client.ask("tools/list", json!({}));
    use_every_tool(&site, &names(&list), &mut |tool, arguments| client.call(tool, arguments));
    let second = world.run(&["--json", "mcp", "--http"]);
    assert_eq!(second.failure().0, "BUSY", "nobody takes the door from who has it: {second:?}");
    // Two clients have a browser each.
    let mut other = door.greet();
    assert!(text_of(&other.call("status", json!({}))).contains("No browser is running"));

    for (change, status) in [
        (&["Origin: https://evil.test"][..], 403),
        (&["Origin: null"], 403),
        (&["Sec-Fetch-Site: cross-site"], 403),
        (&["Content-Type: text/plain"], 415),
    ] {
        assert_eq!(client.status_with(change), status, "{change:?}");
    }
    assert_eq!(door.status_of("/mcp"), 401, "T06: without the secret there is nothing");
    assert_eq!(door.status_of(&format!("/{}/mcp", "0".repeat(64))), 401);
    // T17: who leaves takes what is his along; the session's id is no credential elsewhere.
    assert_eq!(client.end(), 202);
    eventually("the client's browser ends", 3, || !has_browser(&world));
    assert!(text_of(&other.call("status", json!({}))).contains("No browser is running"));
    door.close();
    eventually("the door is closed", 2, || other.status_with(&[]) == 401);
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
        let answer = client.call(tool, arguments);
        assert!(!answer.to_string().contains(CANARY), "{tool}: {answer}");
    }
    client.ask("resources/read", json!({"uri": "tabwire://journal"}));
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
    let journal = world.run(&["log", "export"]).succeeded();
    assert!(journal.stdout.contains("fill") && !journal.stdout.contains(CANARY), "the journal has a secret");
}

/// What a client says first that can show questions to whoever sits at it.
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
    client.tell("notifications/initialized", json!({}));
    for (answer, is_allowed) in [
        (json!({"action": "decline"}), false),
        (json!({"action": "accept", "content": {"answer": "session"}}), true),
    ] {
        let call = client.begin("tools/call", json!({"name": "navigate", "arguments": page}));
        let question = client.next_question();
        let told = question["params"]["message"].as_str().expect("a message").to_owned();
        assert!(told.contains("`navigate`") && told.contains("a.localhost"), "{told}");
        client.reply(&question["id"], answer);
        let result = client.answer(call)["result"].clone();
        assert_eq!(result["isError"] == false, is_allowed, "{result}");
    }
    let text = client.text("get_text", json!({}));
    assert!(text.contains("Name"), "what was allowed for the session is not asked again: {text}");
}
