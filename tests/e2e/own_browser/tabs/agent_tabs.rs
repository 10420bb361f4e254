//! Tabs of agents in the user's own browser: their group, the user's tabs beside them, and their end.

use serde_json::{Value, json};

use crate::mcp::client::McpClient;
use crate::own_browser::tabs::{connected_browser, extension_page};
use crate::support::cdp_client::CdpClient;
use crate::support::chromium::Chromium;
use crate::support::extension_pages::ExtensionWorker;
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::{eventually, find_eventually};
use crate::support::world::World;

const THERE: [&str; 4] = ["--upstream", "extension", "--policy", "open"];

/// An MCP client that introduces itself under a name.
fn agent(world: &World, name: &str) -> McpClient {
    let mut client = McpClient::start_silently(world, &THERE);
    let hello = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": name, "version": "2.1.0"},
    });
    client.ask("initialize", hello);
    client.notify("notifications/initialized", json!({}));
    client
}

fn end(mut client: McpClient) {
    client.close();
    client.process.wait().expect("it ends");
}

/// The URLs of the tabs in the group with a title.
fn grouped(worker: &mut ExtensionWorker, title: &str) -> Value {
    worker.evaluate(&format!(
        "chrome.tabGroups.query({{title: '{title}'}}).then(async ([group]) => group === undefined ? null \
         : (await chrome.tabs.query({{groupId: group.id}})).map((tab) => tab.url))"
    ))
}

/// The names of the clients that the popup lists for the tab at a URL.
fn drivers(worker: &mut ExtensionWorker, url: &str) -> Value {
    worker.evaluate(&format!(
        "(async () => {{
            const [tab] = await chrome.tabs.query({{url: '{url}'}});
            const target = (await chrome.debugger.getTargets()).find((one) => one.tabId === tab?.id)?.id;
            const {{ notifications }} = await chrome.storage.session.get('notifications');
            return notifications.drivers.find((driver) => driver.target === target)?.who ?? [];
        }})()"
    ))
}

/// Opens a page as the user and shares it.
fn share(user: &mut CdpClient, url: &str) {
    user.call("Target.createTarget", json!({"url": url, "background": true}), None);
    let page = extension_page(user);
    let share = format!(
        "chrome.tabs.query({{url: '{url}'}}).then(async ([tab]) => tab?.status !== 'complete' ? null \
         : (await chrome.runtime.sendMessage({{ask: 'share', tab: tab.id}})).tabs.length)"
    );
    find_eventually(10, || user.evaluate(&share, &page).as_u64()).expect("the tab is shared");
}

fn is_open(user: &mut CdpClient, url: &str) -> bool {
    let targets = user.call("Target.getTargets", json!({}), None);
    let targets = targets["targetInfos"].as_array().cloned().unwrap_or_default();
    targets.iter().any(|target| target["type"] == "page" && target["url"] == url)
}

fn setting() -> (World, FixtureSite, Chromium, CdpClient) {
    let (world, site) = (World::new(), FixtureSite::start());
    let browser = connected_browser(&world);
    let user = CdpClient::connect(&browser.websocket());
    (world, site, browser, user)
}

#[test]
fn b1_each_agent_has_a_tab_group_with_its_name() {
    let (world, site, browser, mut user) = setting();
    let mut worker = ExtensionWorker::of(&browser);
    let (mut one, mut other) = (agent(&world, "claude-code"), agent(&world, "codex-mcp-client"));
    let (ones, others) = (site.page("/plain?one"), site.page("/plain?other"));
    let in_front = "chrome.tabs.query({active: true}).then((tabs) => tabs.map((tab) => tab.id))";
    let users = worker.evaluate(in_front);
    one.text("navigate", json!({"url": ones}));
    other.text("navigate", json!({"url": others}));
    one.text("tab_new", json!({"url": site.page("/form")}));
    assert_eq!(worker.evaluate(in_front), users, "the user's tab stays in front");
    eventually("the tabs of one are in its group", 10, || {
        grouped(&mut worker, "Claude Code") == json!([ones, site.page("/form")])
    });
    eventually("the tab of the other too", 10, || grouped(&mut worker, "Codex") == json!([others]));
    end(one);
    eventually("its tabs close", 5, || {
        !is_open(&mut user, &ones) && !is_open(&mut user, &site.page("/form"))
    });
    assert!(grouped(&mut worker, "Claude Code").is_null());
    assert!(is_open(&mut user, &others), "the other goes on");
    end(other);
    eventually("its tab closes", 5, || !is_open(&mut user, &others));
}

#[test]
fn status_says_why_no_browser_is_there() {
    let world = World::new();
    let mut client = agent(&world, "claude-code");
    let status = client.text("status", json!({}));
    assert!(
        status.contains("No browser is running") && status.contains("extension: not connected"),
        "{status}"
    );
    end(client);
}

#[test]
fn b1_shared_tabs_are_selected_by_title_and_p11_released_in_time() {
    let (world, site, browser, mut user) = setting();
    let users = site.page("/form?user");
    share(&mut user, &users);
    let mut worker = ExtensionWorker::of(&browser);
    let (mut one, mut other) = (agent(&world, "claude-code"), agent(&world, "codex-mcp-client"));
    other.text("navigate", json!({"url": site.page("/plain?other")}));
    let listed = one.text("tabs_list", json!({}));
    assert!(listed.contains("shared by the user") && listed.contains("/form?user"), "{listed}");
    one.text("navigate", json!({"url": site.page("/plain?own")}));
    assert!(is_open(&mut user, &users), "the shared tab is not taken");

    one.text("tab_select", json!({"tab": "Form"}));
    one.text("fill", json!({"selector": "#name", "value": "by the agent"}));
    let status = one.text("status", json!({}));
    assert!(status.contains("tabs: 1\n") && status.contains("shared_tabs: 1"), "{status}");
    assert!(status.contains("upstream: extension\n") && status.contains("extension: connected"), "{status}");
    eventually("the popup names the agent", 5, || drivers(&mut worker, &users) == json!(["Claude Code"]));
    // The other session stays on the extension.
    end(one);
    eventually("the user's tab is free", 2, || drivers(&mut worker, &users) == json!([]));
    assert!(is_open(&mut user, &users), "the user's tab stays open");
    assert!(other.text("eval", json!({"expression": "location.search"})).contains("other"));
    end(other);
}

#[test]
fn b1_a_tab_that_the_user_brought_to_the_front_is_left_to_them() {
    let (world, site, browser, mut user) = setting();
    let (kept, closed) = (site.page("/plain?kept"), site.page("/plain?closed"));
    world.open(&[&THERE[..], &[&kept]].concat());
    world.run(&["tab-new", "--foreground", &closed]).succeeded();
    let targets = user.call("Target.getTargets", json!({}), None);
    let target = targets["targetInfos"].as_array().and_then(|all| all.iter().find(|one| one["url"] == kept));
    let target = target.expect("the agent's tab")["targetId"].clone();
    user.call("Target.activateTarget", json!({"targetId": target}), None);
    let mut worker = ExtensionWorker::of(&browser);
    let touched = "chrome.storage.session.get({touched: []}).then(({touched}) => touched.length)";
    eventually("the extension has seen it", 5, || worker.evaluate(touched) == 1);
    world.run(&["close"]).succeeded();
    eventually("the other tab closes", 5, || !is_open(&mut user, &closed));
    assert!(is_open(&mut user, &kept), "the user's work is not lost");
    let shared = "chrome.storage.session.get({shared: {}}).then(({shared}) => Object.keys(shared).length)";
    assert_eq!(worker.evaluate(shared), 0, "and it is no longer shared");
    assert!(grouped(&mut worker, "Tabwire").is_null());
}

#[test]
fn b1_own_tabs_stay_own_after_a_pause() {
    let (world, site, _browser, mut user) = setting();
    let own = site.page("/plain?own");
    let tab = world.open(&[&THERE[..], &[&own]].concat());
    let mut one = agent(&world, "claude-code");
    one.text("navigate", json!({"url": site.page("/plain?agent")}));
    let page = extension_page(&mut user);
    for paused in [true, false] {
        user.evaluate(&format!("chrome.runtime.sendMessage({{ask: 'pause', paused: {paused}}})"), &page);
    }
    eventually("work goes on", 20, || world.run(&["eval", "1"]).code == 0);
    let status = world.json(&["session", "status"])["result"].clone();
    assert_eq!((&status["tabs"], &status["shared_tabs"]), (&json!(1), &json!(0)), "{status}");
    assert_eq!(status["tab_list"][0]["tab"], tab.as_str(), "{status}");
    let found = find_eventually(20, || {
        let result = one.call("eval", json!({"expression": "location.search"}));
        (result["isError"] != true).then(|| result.to_string())
    });
    assert!(found.as_ref().is_some_and(|found| found.contains("?agent")), "{found:?}");
    end(one);
    world.run(&["close"]).succeeded();
    eventually("both tabs close", 5, || !is_open(&mut user, &own));
}

#[test]
fn b1_a_killed_browser_is_not_reported_as_active() {
    let (world, site) = (World::new(), FixtureSite::start());
    let mut browser = connected_browser(&world);
    world.open(&[&THERE[..], &[&site.page("/plain")]].concat());
    assert_eq!(world.json(&["status"])["sessions"][0]["state"], "active");
    browser.kill();
    eventually("the loss is reported", 3, || world.json(&["status"])["sessions"][0]["state"] != "active");
    let status = world.json(&["status"])["sessions"][0].clone();
    assert_eq!(status["active"], false, "{status}");
}
