//! `tabwire mcp` as MCP clients meet it: over stdio and HTTP, in order and out of it, and when somebody dies.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::fixture_site::FixtureSite;
use crate::mcp_client::{McpClient, hello, text_of};
use crate::mcp_http::McpHttp;
use crate::waiting::eventually;
use crate::world::World;

/// Calls a tool; its whole result.
type Calling<'a> = dyn FnMut(&str, Value) -> Value + 'a;

fn kill(pid: u32) {
    let pid = Pid::from_raw(i32::try_from(pid).expect("a process number")).expect("a process");
    kill_process(pid, Signal::KILL).expect("it runs");
}

fn has_browser(world: &World) -> bool {
    !world.browser_processes().is_empty()
}

/// Uses every usual tool once, on pages of the fixture site.
fn use_every_tool(site: &FixtureSite, listed: &[String], call: &mut Calling<'_>) {
    let mut used: Vec<&str> = Vec::new();
    let mut tell = |tool: &'static str, arguments: Value, expected: &str| -> String {
        used.push(tool);
        let result = call(tool, arguments.clone());
        assert_ne!(result["isError"], true, "{tool} {arguments}: {result}");
        let text = text_of(&result);
        assert!(text.contains(expected), "{tool} {arguments} lacks {expected:?}: {text}");
        text
    };
    tell("navigate", json!({"url": site.page("/form")}), "# Form");
    let seen = tell("snapshot", json!({}), "textbox \"Name\"");
    let line = seen.lines().find(|line| line.contains("textbox \"Name\"")).expect("the field");
    let given = line.split(['[', ']']).nth(1).expect("a ref").to_owned();
    tell("fill", json!({"ref": given, "value": "Anna"}), "value: \"Anna\"");
    tell("type", json!({"selector": "#notes", "text": "abc"}), "typed");
    tell("press", json!({"keys": ["d"], "selector": "#notes"}), "pressed");
    tell("select", json!({"selector": "#colour", "options": ["Green"]}), "Green");
    let both = json!([{"target": "#agree", "value": true}, {"target": "label=Name", "value": "Ben"}]);
    tell("fill_form", json!({"fields": both}), "");
    tell(
        "eval",
        json!({"expression": "document.forms[0].name.value + document.forms[0].notes.value"}),
        "Benabcd",
    );
    tell("hover", json!({"selector": "#submit"}), "button");
    tell("click", json!({"selector": "role=button[name=\"Send\"]"}), "clicked");
    tell("navigate", json!({"url": site.page("/plain")}), "/plain");
    tell("navigate", json!({"url": site.page("/article")}), "/article");
    tell("back", json!({}), "/plain");
    tell("forward", json!({}), "/article");
    tell("reload", json!({}), "/article");
    tell("get_text", json!({}), "<page ");
    tell("get_html", json!({"selector": "h1"}), "h1");
    tell("read_as_markdown", json!({}), "<page ");
    tell("extract_links", json!({}), "");
    tell("scroll", json!({"to": "bottom"}), "");
    tell("wait_for", json!({"load": "load"}), "");
    tell("tab_new", json!({"url": site.page("/dialogs")}), "Dialogs");
    tell("click", json!({"selector": "#alert"}), "alert text");
    tell("dialog", json!({"answer": "accept"}), "");
    let tabs: Value = serde_json::from_str(&tell("tabs_list", json!({}), "Dialogs")).expect("data");
    let is_first = |tab: &&Value| tab["url"].as_str().is_some_and(|url| url.contains("/article"));
    let first = tabs["tabs"].as_array().and_then(|tabs| tabs.iter().find(is_first)).expect("the first tab");
    let first = first["tab"].as_str().expect("an id").to_owned();
    tell("tab_select", json!({"tab": first}), "article");
    tell("tab_close", json!({"tab": first}), "closed");
    tell("download_file", json!({"url": site.page("/download/report.txt")}), "report");
    tell("status", json!({}), "state: active");
    used.push("screenshot");
    let picture = call("screenshot", json!({}));
    let image =
        picture["content"].as_array().and_then(|blocks| blocks.iter().find(|block| block["type"] == "image"));
    let image = image.unwrap_or_else(|| panic!("no picture: {picture}"));
    assert_eq!(image["mimeType"], "image/png");
    assert!(image["data"].as_str().is_some_and(|data| data.starts_with("iVBOR")), "a PNG");
    used.push("more");
    let long = call("eval", json!({"expression": "'long '.repeat(12000)"}));
    let handle = long["structuredContent"]["more"].as_str().expect("a handle").to_owned();
    assert!(long.to_string().len() < 50_000, "it was cut");
    let rest = text_of(&call("more", json!({"handle": handle})));
    assert!(rest.starts_with("<page ") && rest.contains("long long"), "{}", &rest[..60]);
    for tool in listed {
        assert!(used.contains(&tool.as_str()), "{tool} is not used by this test");
    }
}

fn names(list: &Value) -> Vec<String> {
    let tools = list["result"]["tools"].as_array().expect("tools").iter();
    tools.filter_map(|tool| Some(tool["name"].as_str()?.to_owned())).collect()
}

#[test]
fn every_usual_tool_works_over_stdio_and_what_is_wrong_is_said_to_the_model() {
    let (world, site) = (World::new(), FixtureSite::start());
    let mut client = McpClient::start(&world, &["--policy", "open"]);
    let list = client.ask("tools/list", json!({}));
    assert!(list["result"].to_string().len() <= 16_000, "4,000 tokens");
    use_every_tool(&site, &names(&list), &mut |tool, arguments| client.call(tool, arguments));

    let told = client.failure("click", json!({"ref": "e9999"}));
    assert!(told.starts_with("REF_EXPIRED: ") && told.contains("\nnext: "), "{told}");
    let told = client.failure("click", json!({"ref": "e1", "selector": "#a"}));
    assert!(told.starts_with("BAD_ARGS: "), "{told}");
    let told = client.failure("fill", json!({"selector": "#a", "text": "x"}));
    assert!(told.contains("value") && told.contains("selector"), "the valid list: {told}");
    let told = client.failure("navigate", json!({"url": "file:///etc/passwd"}));
    assert!(!told.contains("root:"), "{told}");
    let told = client.failure("eval", json!({"expression": "throw new Error('of the page')"}));
    assert!(told.contains("of the page"), "what a page throws is an answer: {told}");
    let told = client.failure("wait_for", json!({"text": "never there", "timeout_ms": 100}));
    assert!(told.starts_with("TIMEOUT: ") && told.contains("\nnext: "), "{told}");
    let unknown = client.ask("tools/call", json!({"name": "clik", "arguments": {}}));
    assert!(unknown["error"]["message"].as_str().is_some_and(|text| text.contains("`click`")), "{unknown}");

    for (uri, expected) in [
        ("tabwire://snapshot", "<page "),
        ("tabwire://page.md", "<page "),
        ("tabwire://console", "<page "),
        ("tabwire://requests", "<page "),
        ("tabwire://journal", "navigate ok"),
    ] {
        let read = client.ask("resources/read", json!({"uri": uri}));
        let text = read["result"]["contents"][0]["text"].as_str().unwrap_or_default();
        assert!(text.contains(expected), "{uri}: {read}");
    }
    assert!(client.ask("resources/read", json!({"uri": "tabwire://other"}))["error"].is_object());
    let guide = client.ask("prompts/get", json!({"name": "drive"}));
    assert!(
        guide["result"]["messages"][0]["content"]["text"]
            .as_str()
            .is_some_and(|text| text.contains("snapshot"))
    );
    client.close();
    assert!(client.process.wait().expect("it ends").success());
    assert!(!has_browser(&world), "its browser has ended with it");
    let status = world.find_status().expect("the daemon goes on");
    assert_eq!(status["sessions"], json!([]), "no session is left");
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
fn f22_f25_whoever_dies_takes_what_is_its_own_along_and_nothing_else() {
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
    assert!(text_of(&answer["result"]).contains("no browser yet"), "{answer}");
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
fn over_http_the_same_is_served_to_who_has_the_address_until_the_command_ends() {
    let (world, site) = (World::new(), FixtureSite::start());
    let mut door = McpHttp::open(&world, &["--policy", "open"]);
    let mut client = door.greet();
    let list = client.ask("tools/list", json!({}));
    use_every_tool(&site, &names(&list), &mut |tool, arguments| client.call(tool, arguments));
    let second = world.run(&["--json", "mcp", "--http"]);
    assert_eq!(second.failure().0, "BUSY", "nobody takes the door from who has it: {second:?}");
    // Two clients have a browser each.
    let mut other = door.greet();
    assert!(text_of(&other.call("status", json!({}))).contains("no browser yet"));

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
    assert!(text_of(&other.call("status", json!({}))).contains("no browser yet"));
    door.close();
    eventually("the door is closed", 2, || other.status_with(&[]) == 401);
}

#[test]
fn t39_no_secret_shows_in_answers_logs_or_the_journal() {
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
fn nothing_is_read_or_done_that_nobody_allowed_and_whoever_sits_at_the_client_is_asked() {
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
