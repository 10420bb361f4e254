//! Every action of the registry for an MCP client with a read grant for one site.

use serde_json::{Value, json};
use tabwire_engine::{ACTIONS, Definition, Effect};

use crate::mcp::client::McpClient;
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

/// Arguments with which a tool changes something; what it only shows needs no more than `read`.
fn changing_arguments(action: &Definition) -> Value {
    let mut given = action.sample_parameters();
    for element in ["target", "element"] {
        if let Some(target) = given.as_object_mut().and_then(|members| members.remove(element)) {
            given["selector"] = target;
        }
    }
    let more = match action.name {
        "capture" => json!({"verb": "on"}),
        "dialog" => json!({"answer": "accept"}),
        "diff" => json!({"save": "baseline.txt"}),
        "har" => json!({"action": "stop"}),
        "route" => json!({"url": "*", "abort": "blocked"}),
        _ => json!({}),
    };
    for (name, value) in more.as_object().into_iter().flatten() {
        given[name] = value.clone();
    }
    given
}

#[test]
fn who_may_read_one_site_does_nothing_there_and_reads_nothing_elsewhere() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.run(&["allow", &site.page(""), "--without-terminal"]).succeeded();
    let mut client = McpClient::start(&world, &["--tools", "all", "--timeout", "2s"]);
    client.text("navigate", json!({"url": site.page("/form")}));
    for reading in ["get_text", "get_html", "snapshot", "read_as_markdown", "screenshot", "extract_links"] {
        client.text(reading, json!({}));
    }
    let tools = client.ask("tools/list", json!({}))["result"]["tools"].as_array().expect("tools").clone();
    let changing =
        ACTIONS.iter().filter(|action| matches!(action.effect, Effect::Act | Effect::Eval | Effect::Files));
    for action in changing {
        assert!(tools.iter().any(|tool| tool["name"] == action.name), "every action is a tool");
        let given = changing_arguments(action);
        let told = client.failure(action.name, given.clone());
        assert!(told.starts_with("POLICY_DENIED: "), "{} {given}: {told}", action.name);
        assert!(told.contains("\nnext: ") && told.contains("tabwire allow"), "{}: {told}", action.name);
    }
    assert!(client.text("get", json!({"what": "url"})).contains("/form"), "it is where it was");
    let elsewhere = json!({"url": site.url("b", "/plain")});
    for going in ["navigate", "tab_new"] {
        let told = client.failure(going, elsewhere.clone());
        assert!(told.starts_with("POLICY_DENIED: ") && told.contains("b.localhost"), "{going}: {told}");
    }
    assert_eq!(site.request_count("/plain"), 0, "nothing was asked of the other site");
}

#[test]
fn a_tab_is_had_alone_for_as_long_as_a_client_wants_it() {
    let (world, site) = (World::new(), FixtureSite::start());
    let tab = world.open(&[&site.page("/form"), "--session", "mine"]);
    let start = ["--session", "mine", "--tools", "sharing", "--policy", "open"];
    let (mut one, mut other) = (McpClient::start(&world, &start), McpClient::start(&world, &start));
    let lease = |client: &mut McpClient, verb: &str| -> Value {
        let result = client.call("tab_lease", json!({"verb": verb, "tab": tab}));
        assert_ne!(result["isError"], true, "{verb}: {result}");
        result["structuredContent"].clone()
    };
    assert_eq!(lease(&mut one, "take")["tab"], tab.as_str());
    assert_eq!(lease(&mut other, "list")["leases"][0]["tab"], tab.as_str());
    let told = other.failure("click", json!({"selector": "#name", "tab": tab}));
    assert!(told.contains("test-client"), "who has it is said: {told}");
    one.text("click", json!({"selector": "#name", "tab": tab}));
    assert_eq!(lease(&mut one, "release")["released"], true);
    other.text("click", json!({"selector": "#name", "tab": tab}));
    // Who leaves gives it back.
    lease(&mut other, "take");
    other.close();
    other.process.wait().expect("it ends");
    one.text("click", json!({"selector": "#name", "tab": tab}));
}
