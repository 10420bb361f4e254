//! Every action of the registry against every kind of unreadable page.

use serde_json::{Value, json};
use tabwire_engine::{ACTIONS, Definition, SCRIPT_ACTIONS};

use crate::browser::action::batch;
use crate::policy::grants::{allow, guarded, revoke_all};
use crate::support::cdp_client::CdpClient;
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::{eventually, find_eventually};
use crate::support::world::World;

/// Text of every denied page.
const CANARY: &str = "CANARY";

/// A tab of each kind, created by a CDP client while that was allowed.
fn open_denied_tabs(world: &World, site: &FixtureSite) -> Vec<(&'static str, String)> {
    let file = world.home().join("canary.html");
    std::fs::write(&file, "<title>CANARY</title><p>CANARY in a file").expect("written");
    let opener = site.url("b", "/frames/denied");
    let kinds = [
        ("denied origin", opener.clone()),
        ("file", format!("file://{}", file.display())),
        ("browser page", "chrome://version".to_owned()),
        ("data", "data:text/html,<title>CANARY</title><p>CANARY in an address".to_owned()),
        ("error page", "http://b.localhost:1/CANARY".to_owned()),
    ];
    let below = format!("http://*.localhost:{}", site.port());
    for granted in ["*", "file:", "chrome:", "data:", "http://b.localhost:1", &below] {
        allow(world, &[granted, "--cdp"]);
    }
    let mut client = CdpClient::connect(&world.cdp_url());
    let known = |world: &World| -> Vec<Value> {
        world.json(&["tabs"])["result"]["tabs"].as_array().expect("tabs").clone()
    };
    let mut tabs = Vec::new();
    let mut seen: Vec<String> = known(world).iter().map(|tab| tab["tab"].to_string()).collect();
    let mut note = |kind: &'static str| {
        let is_new = |tab: &Value, seen: &[String]| !seen.contains(&tab["tab"].to_string());
        let found = find_eventually(15, || known(world).into_iter().find(|tab| is_new(tab, &seen)));
        let tab = found.unwrap_or_else(|| panic!("no tab of {kind}"));
        seen.push(tab["tab"].to_string());
        tabs.push((kind, tab["tab"].as_str().expect("an id").to_owned()));
    };
    for (kind, url) in &kinds {
        let params = json!({"url": url});
        client.call("Target.createTarget", params, None);
        // The session's engine lists a tab when its client has disconnected.
        drop(std::mem::replace(&mut client, CdpClient::connect(&world.cdp_url())));
        note(kind);
    }
    let page = client.open_page(&opener);
    let write = "void window.open('about:blank').document.write('<title>CANARY</title>CANARY written')";
    eventually("the opener is there", 10, || client.evaluate("location.host", &page.session) != "");
    client.evaluate(write, &page.session);
    drop(client);
    note("opener");
    note("empty page of another");
    tabs
}

/// Parameters that pass validation, so that the policy decides.
fn parameters(action: &Definition, tab: &str, denied: &str) -> Value {
    let mut given = action.sample_parameters();
    let schema = (action.parameters)();
    for (name, value) in [("id", tab), ("url", denied)] {
        let is_needed = schema["properties"].get(name).is_some()
            && matches!(action.name, "navigate" | "tab_new" | "tab_select");
        if is_needed {
            given[name] = json!(value);
        }
    }
    given
}

#[test]
fn t16_t20_t22_no_action_reveals_an_ungranted_page() {
    let (world, site) = (guarded(), FixtureSite::start());
    let tabs = open_denied_tabs(&world, &site);
    revoke_all(&world);
    let denied = site.url("b", "/frames/denied");
    // These actions navigate or read no page; their output is searched all the same.
    let elsewhere = ["back", "forward", "login", "tabs_list", "capture"];
    let mut lines = Vec::new();
    let mut asked = Vec::new();
    for (kind, tab) in &tabs {
        let actions = ACTIONS.iter().chain(SCRIPT_ACTIONS);
        // A context that no script has made would stay.
        for action in actions.filter(|action| !matches!(action.name, "tab_close" | "context_new")) {
            let params = parameters(action, tab, &denied);
            lines.push(json!({"action": action.name, "params": &params, "tab": tab}).to_string());
            // An action without needs touches no page: it makes a context, or answers a request that a script holds.
            let touches_nothing = action
                .needs(&params)
                .is_ok_and(|needs| needs.iter().next().is_none() && needs.urls().next().is_none());
            asked.push((*kind, action.name, touches_nothing));
        }
    }
    let (_, responses) = batch(&world, &["batch"], &lines.join("\n"));
    assert_eq!(responses.len(), asked.len());
    for ((kind, action, touches_nothing), response) in asked.iter().zip(&responses) {
        let text = response.to_string();
        assert!(!text.contains(CANARY), "{action} on {kind}: {text}");
        if !elsewhere.contains(action) && !touches_nothing {
            assert_eq!(response["error"]["code"], "POLICY_DENIED", "{action} on {kind}: {text}");
        }
    }
    for (_, tab) in &tabs {
        world.run(&["tab-close", tab]).succeeded();
    }
    // Granted pages are still usable.
    allow(&world, &[site.page("").trim_end_matches('/')]);
    world.run(&["open", "--new-tab", &site.page("/plain")]).succeeded();
    world.run(&["snapshot"]).succeeded();
}
