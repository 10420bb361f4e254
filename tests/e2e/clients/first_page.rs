//! Each CDP client finds a first page of its own; `cdp-url --join` shows the session's tabs.

use serde_json::{Value, json};

use crate::clients::suite::Suite;
use crate::own_browser::tabs::connected_browser;
use crate::support::cdp_client::CdpClient;
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::eventually;
use crate::support::world::World;

const BLANK: &str = "about:blank";

/// The URLs of the session's tabs.
fn tabs(world: &World) -> Vec<String> {
    let listed = world.json(&["tabs"])["result"]["tabs"].as_array().cloned().expect("tabs");
    listed.iter().map(|tab| tab["url"].as_str().unwrap_or_default().to_owned()).collect()
}

fn joined(world: &World) -> String {
    world.run(&["cdp-url", "--join"]).succeeded().text().to_owned()
}

#[test]
fn p1_frameworks_that_take_the_first_page_do_not_meet() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.open(&[&site.page("/plain")]);
    let address = world.cdp_url();
    let wanted = [("playwright", "/form"), ("playwright", "/popup"), ("puppeteer", "/frames")];
    let mut suites: Vec<Suite> = wanted
        .iter()
        .map(|(client, path)| Suite::first_page(&address, &site, &["--client", client, "--path", path]))
        .collect();
    for suite in &mut suites {
        assert_eq!(suite.line()["pages"], json!([BLANK]), "one page, and a new one");
        suite.await_pause();
    }
    assert_eq!(world.eval("location.pathname"), "/plain", "the command line's tab is untouched");
    assert_eq!(tabs(&world), [site.page("/plain")], "and it sees no page of a connected client");
    for (suite, (_, path)) in suites.iter_mut().zip(&wanted) {
        suite.resume();
        let shown = suite.line();
        assert!(shown["url"].as_str().is_some_and(|url| url.ends_with(path)), "{path}: {shown}");
    }
    eventually("used pages stay, as the session's", 20, || tabs(&world).len() == 4);
    // A client that only looks leaves nothing.
    for client in ["playwright", "puppeteer"] {
        let mut idle = Suite::first_page(&address, &site, &["--client", client]);
        assert_eq!(idle.line()["pages"], json!([BLANK]), "{client}");
        idle.await_pause();
        idle.resume();
        eventually("its page is closed", 20, || {
            let mut all = CdpClient::connect(&format!("{address}?share=all"));
            let targets = all.call("Target.getTargets", json!({}), None);
            let infos = targets["targetInfos"].as_array().cloned().unwrap_or_default();
            infos.iter().filter(|info| info["type"] == "page").count() == 4
        });
    }
}

#[test]
fn p1_a_joined_client_goes_on_where_the_command_line_is() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.open(&[&site.page("/plain")]);
    world.open(&["--new-tab", &site.page("/form")]);
    let mut stranger = CdpClient::connect(&world.cdp_url());
    stranger.open_page(&site.page("/popup"));
    for client in ["playwright", "puppeteer"] {
        let mut suite = Suite::first_page(&joined(&world), &site, &["--client", client]);
        let pages = suite.line()["pages"].clone();
        assert_eq!(
            pages,
            json!([site.page("/form"), site.page("/plain")]),
            "{client}: the current one first"
        );
        suite.await_pause();
        suite.resume();
    }
    let first = tabs(&world);
    assert_eq!(first.len(), 2, "joining opens nothing: {first:?}");
    let refused = world.run(&["cdp-url", "--join", "--share-all"]);
    assert_eq!(refused.code, 2, "{refused:?}");
}

#[test]
fn p1_the_users_shared_tabs_follow_the_clients_own_page() {
    let (world, site) = (World::new(), FixtureSite::start());
    let mut browser = connected_browser(&world);
    world.open(&["--upstream", "extension", "--policy", "open", &site.page("/plain")]);
    let address = world.cdp_url();
    let mut suites = ["/form", "/popup"].map(|path| Suite::first_page(&address, &site, &["--path", path]));
    for suite in &mut suites {
        let pages = suite.line()["pages"].as_array().cloned().expect("pages");
        assert_eq!(pages.first(), Some(&json!(BLANK)), "{pages:?}");
        assert!(!pages.contains(&json!(site.page("/plain"))), "the session's tab is not shown: {pages:?}");
        suite.await_pause();
    }
    assert_eq!(world.eval("location.pathname"), "/plain");
    for suite in &mut suites {
        suite.resume();
        assert!(suite.line()["url"].is_string());
    }
    world.run(&["close"]).succeeded();
    assert!(browser.is_running(), "the user's browser stays");
}

#[test]
fn p5_pages_of_several_clients_are_drawn_at_the_same_time() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.open(&[&site.page("/plain")]);
    let address = world.cdp_url();
    let more = ["--client", "puppeteer", "--path", "/form", "--frames", "5"];
    let mut suites = [(); 3].map(|()| Suite::first_page(&address, &site, &more));
    for suite in &mut suites {
        suite.line();
        suite.await_pause();
    }
    for suite in &mut suites {
        suite.resume();
        let drawn = suite.line();
        assert_eq!(drawn["frames"], 5, "{drawn}");
    }
}

#[test]
fn p6_a_second_connection_of_a_process_uses_the_page_of_the_first() {
    let (world, site) = (World::new(), FixtureSite::start());
    let address = world.cdp_url();
    let mut first = CdpClient::connect(&address);
    let made = first.call("Target.createTarget", json!({"url": site.page("/form")}), None);
    let target = made["targetId"].as_str().expect("an id").to_owned();
    let mut second = CdpClient::connect(&address);
    let listed = second.call("Target.getTargets", json!({}), None);
    assert!(!listed.to_string().contains(&target), "each connection has its own list: {listed}");
    let session = second.attach(&target);
    eventually("it drives the page", 10, || second.evaluate("document.title", &session) == "Form");
    let mut named = [(); 2].map(|()| CdpClient::connect(&format!("{address}?client=one")));
    let made = named[0].call("Target.createTarget", json!({"url": site.page("/plain")}), None);
    let listed = named[1].call("Target.getTargets", json!({}), None).to_string();
    assert!(listed.contains(made["targetId"].as_str().expect("an id")), "one client by name: {listed}");
}

#[test]
fn p6_sessions_without_flatten_drive_a_page() {
    let (world, site) = (World::new(), FixtureSite::start());
    let mut client = CdpClient::connect(&world.cdp_url());
    let made = client.call("Target.createTarget", json!({"url": site.page("/form")}), None);
    let attached = client.call("Target.attachToTarget", json!({"targetId": made["targetId"]}), None);
    let session = attached["sessionId"].clone();
    let mut id = 0;
    eventually("the page responds", 10, || {
        id += 1;
        let message =
            json!({"id": id, "method": "Runtime.evaluate", "params": {"expression": "document.title"}});
        let params = json!({"sessionId": session, "message": message.to_string()});
        client.call("Target.sendMessageToTarget", params, None);
        let event = client.event("Target.receivedMessageFromTarget", |event| {
            let message = event["params"]["message"].as_str().unwrap_or_default();
            serde_json::from_str::<Value>(message).is_ok_and(|inner| inner["id"] == id)
        });
        event["params"]["message"].as_str().is_some_and(|message| message.contains(r#""value":"Form""#))
    });
}
