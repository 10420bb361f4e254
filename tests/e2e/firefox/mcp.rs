//! Every default tool through `tabwire mcp --browser firefox`, in an open and in a guarded session.

use serde_json::json;

use crate::mcp::client::{McpClient, text_of};
use crate::mcp::every_tool::{names, use_every_tool};
use crate::policy::grants::allow;
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

#[test]
fn every_default_tool_works_on_an_open_firefox() {
    let (world, site) = (World::new(), FixtureSite::start());
    let mut client =
        McpClient::start(&world, &["--browser", "firefox", "--policy", "open", "--tools", "all"]);
    let list = client.ask("tools/list", json!({}));
    let tools = list["result"]["tools"].as_array().expect("tools").clone();
    let described = |name: &str| {
        let found = tools.iter().find(|tool| tool["name"] == name).expect("a tool");
        found["description"].as_str().expect("text").to_owned()
    };
    assert!(described("trace").contains("Firefox records no performance traces"), "{}", described("trace"));
    assert!(!described("click").contains("Firefox"), "{}", described("click"));
    let mut usual = McpClient::start(&world, &[]);
    let usual = names(&usual.ask("tools/list", json!({})));
    use_every_tool(&site, &usual, &mut |tool, arguments| client.call(tool, arguments));
    for (tool, arguments) in
        [("trace", json!({"verb": "start"})), ("emulate", json!({"color_scheme": "dark"}))]
    {
        let output = client.failure(tool, arguments.clone());
        assert!(
            output.starts_with("UNSUPPORTED_HERE: Firefox") && output.contains("over WebDriver BiDi"),
            "{tool} {arguments}: {output}"
        );
    }
    client.close();
    assert!(client.process.wait().expect("it ends").success());
}

#[test]
fn every_default_tool_works_on_a_guarded_firefox() {
    let (world, site) = (World::new(), FixtureSite::start());
    let mut client = McpClient::start(&world, &["--browser", "firefox"]);
    let refused = client.failure("navigate", json!({"url": site.page("/form")}));
    assert!(refused.starts_with("POLICY_DENIED: "), "{refused}");
    let own = site.page("").trim_end_matches('/').to_owned();
    allow(&world, &[&own, "--act", "--eval", "--download", "--upload"]);
    let usual = names(&client.ask("tools/list", json!({})));
    use_every_tool(&site, &usual, &mut |tool, arguments| client.call(tool, arguments));
    let elsewhere = client.failure("navigate", json!({"url": site.url("b", "/plain")}));
    assert!(elsewhere.starts_with("POLICY_DENIED: ") && elsewhere.contains("b.localhost"), "{elsewhere}");
    let status = text_of(&client.call("status", json!({})));
    assert!(status.contains("guarded"), "{status}");
    client.close();
    assert!(client.process.wait().expect("it ends").success());
}
