//! Every action of the registry for an MCP client with a read grant for one site.

use serde_json::{Value, json};
use tabwire_engine::{ACTIONS, Definition, Effect};

use crate::mcp::client::{McpClient, text_of};
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

/// Arguments with which a tool changes something. Without changes, it needs only `read`.
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
fn a_read_grant_allows_no_action_and_no_other_site() {
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
        let output = client.failure(action.name, given.clone());
        assert!(output.starts_with("POLICY_DENIED: "), "{} {given}: {output}", action.name);
        assert!(output.contains("\nnext: ") && output.contains("tabwire allow"), "{}: {output}", action.name);
    }
    assert!(client.text("get", json!({"what": "url"})).contains("/form"), "the tab was not navigated");
    let elsewhere = json!({"url": site.url("b", "/plain")});
    for going in ["navigate", "tab_new"] {
        let output = client.failure(going, elsewhere.clone());
        assert!(output.starts_with("POLICY_DENIED: ") && output.contains("b.localhost"), "{going}: {output}");
    }
    assert_eq!(site.request_count("/plain"), 0, "no request went to the other site");
}

#[test]
fn a_tab_lease_excludes_other_mcp_clients() {
    let (world, site) = (World::new(), FixtureSite::start());
    let tab = world.open(&[&site.page("/form"), "--session", "mine"]);
    let start = ["--session", "mine", "--tools", "sharing", "--policy", "open"];
    let (mut one, mut other) = (McpClient::start(&world, &start), McpClient::start(&world, &start));
    let lease = |client: &mut McpClient, verb: &str| -> Value {
        let result = client.call("tab_lease", json!({"verb": verb, "tab": tab}));
        assert_ne!(result["isError"], true, "{verb}: {result}");
        serde_json::from_str(&text_of(&result)).expect("JSON")
    };
    assert_eq!(lease(&mut one, "take")["tab"], tab.as_str());
    assert_eq!(lease(&mut other, "list")["leases"][0]["tab"], tab.as_str());
    let output = other.failure("click", json!({"selector": "#name", "tab": tab}));
    assert!(output.contains("test-client"), "the lease's owner is named: {output}");
    one.text("click", json!({"selector": "#name", "tab": tab}));
    assert_eq!(lease(&mut one, "release")["released"], true);
    other.text("click", json!({"selector": "#name", "tab": tab}));
    // A client that disconnects releases its lease.
    lease(&mut other, "take");
    other.close();
    other.process.wait().expect("it ends");
    one.text("click", json!({"selector": "#name", "tab": tab}));
}
