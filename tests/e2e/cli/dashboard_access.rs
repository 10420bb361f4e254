//! No client can open, see or use the dashboard: CDP clients of open sessions, agents in attached browsers, and agents in
//! the user's own browser.

use serde_json::{Value, json};

use crate::own_browser::tabs::connected_browser;
use crate::support::cdp_client::CdpClient;
use crate::support::chromium::Chromium;
use crate::support::dashboard_page::{Dashboard, dashboard_url};
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::find_eventually;
use crate::support::world::World;

fn targets(client: &mut CdpClient) -> String {
    client.call("Target.getTargets", json!({}), None).to_string()
}

fn is_refused(response: &Value) -> bool {
    response["error"]["message"].as_str().is_some_and(|message| message.contains("Tabwire's own page"))
}

#[test]
fn a_cdp_client_of_an_open_session_cannot_use_the_dashboard() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.open(&["--policy", "open", &site.page("/plain")]);
    let address = dashboard_url(&world);
    let mut client = CdpClient::connect(&format!("{}?share=all", world.cdp_url()));
    let page = client.open_page(&site.page("/plain"));
    let url = json!({"url": address});
    let went = client.ask("Page.navigate", url.clone(), Some(&page.session));
    assert!(is_refused(&went), "{went}");
    let opened = client.ask("Target.createTarget", url, None);
    assert!(is_refused(&opened), "{opened}");
    // The demo page is a page for agents.
    let demo = address.split("/dashboard").next().expect("an origin").to_owned() + "/demo";
    let went = client.ask("Page.navigate", json!({"url": demo}), Some(&page.session));
    assert!(went["error"].is_null(), "{went}");
    // A popup and the page's own navigation reach the public files, but not the client.
    client.evaluate(&format!("void window.open({address:?})"), &page.session);
    client.evaluate(&format!("void setTimeout(() => location.href = {address:?})"), &page.session);
    let withheld = find_eventually(20, || {
        let response =
            client.ask("Runtime.evaluate", json!({"expression": "document.title"}), Some(&page.session));
        is_refused(&response).then_some(())
    });
    assert!(withheld.is_some(), "the page is withheld");
    let shot = client.ask("Page.captureScreenshot", json!({}), Some(&page.session));
    assert!(is_refused(&shot), "{shot}");
    let listed =
        find_eventually(10, || Some(targets(&mut client)).filter(|list| !list.contains("/dashboard")));
    assert!(listed.is_some(), "{}", targets(&mut client));
}

#[test]
fn an_agent_in_an_attached_browser_cannot_use_the_dashboard() {
    let (world, site) = (World::new(), FixtureSite::start());
    let browser = Chromium::with_port();
    let address = dashboard_url(&world);
    let mut page = Dashboard::open(&browser, &address);
    page.shows("connected");
    let port = browser.port().to_string();
    world.open(&["--cdp", &port, "--policy", "open", &site.page("/plain")]);
    let tabs = world.run(&["--json", "tabs"]).succeeded();
    assert!(!tabs.text().contains("dashboard"), "{tabs:?}");
    let refused = world.run(&["--json", "open", &address]);
    assert_eq!(refused.failure().0, "POLICY_DENIED");
    let mut client = CdpClient::connect(&format!("{}?share=all", world.cdp_url()));
    let list = targets(&mut client);
    assert!(list.contains("/plain") && !list.contains("/dashboard"), "{list}");
    // The id of its target, as another program could know it.
    let known = page.client.call("Target.getTargetInfo", json!({}), Some(&page.session));
    let target = known["targetInfo"]["targetId"].clone();
    let attached = client.ask("Target.attachToTarget", json!({"targetId": target, "flatten": true}), None);
    assert!(attached["error"].is_object(), "{attached}");
    page.shows("connected");
}

#[test]
fn an_agent_in_the_own_browser_cannot_use_the_dashboard() {
    let (world, site) = (World::new(), FixtureSite::start());
    let browser = connected_browser(&world);
    let address = dashboard_url(&world);
    let mut page = Dashboard::open(&browser, &address);
    page.shows("connected");
    world.open(&["--upstream", "extension", "--policy", "open", &site.page("/plain")]);
    let refused = world.run(&["--json", "open", "--upstream", "extension", &address]);
    assert_eq!(refused.failure().0, "POLICY_DENIED", "{refused:?}");
    let tabs = world.run(&["--json", "tabs"]).succeeded();
    assert!(!tabs.text().contains("dashboard"), "{tabs:?}");
    let mut client = CdpClient::connect(&format!("{}?share=all", world.cdp_url()));
    let list = targets(&mut client);
    assert!(list.contains("/plain") && !list.contains("/dashboard"), "{list}");
    let opened = client.ask("Target.createTarget", json!({"url": address}), None);
    assert!(is_refused(&opened), "{opened}");
    page.shows("connected");
}
