//! Stock clients list the existing tabs, and the debugger attaches only to the tabs they use.

mod agent_tabs;
mod faults;
mod foreign_frame;

use serde_json::{Value, json};
use tabwire_extension::package::EXTENSION_ID;

use crate::clients::suite::Suite;
use crate::own_browser::driving::{await_connected, connected, own_browser};
use crate::support::cdp_client::CdpClient;
use crate::support::chromium::Chromium;
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::{eventually, find_eventually};
use crate::support::world::World;

/// Tabs that the user has open.
const TABS: usize = 60;

/// Tabs that the suite uses: two plain ones, and two with frames.
const USED: u64 = 4;

/// A browser with the extension, and the native host registered in its profile; the extension is connected.
pub(crate) fn connected_browser(world: &World) -> Chromium {
    let browser = own_browser(world);
    await_connected(world);
    browser
}

/// The browser's state as the daemon reports it.
pub(crate) fn standing(world: &World) -> Option<Value> {
    connected(world).first().cloned()
}

pub(crate) fn number(world: &World, name: &str) -> u64 {
    standing(world).and_then(|standing| standing[name].as_u64()).expect("a number")
}

/// A page of the extension, for requests of its own views; returns a CDP session on it.
pub(crate) fn extension_page(user: &mut CdpClient) -> String {
    let page = user.open_page(&format!("chrome-extension://{EXTENSION_ID}/options/options.html"));
    let is_there = "typeof chrome.debugger";
    find_eventually(10, || (user.evaluate(is_there, &page.session) == "object").then_some(()))
        .expect("the page loads");
    page.session
}

/// Shares every ordinary tab through the options, once all are loaded.
pub(crate) fn share_all(user: &mut CdpClient) {
    let page = extension_page(user);
    let loaded = "chrome.tabs.query({}).then((tabs) => tabs.every((tab) => tab.status === 'complete'))";
    find_eventually(40, || (user.evaluate(loaded, &page) == true).then_some(())).expect("all tabs load");
    let asked = "chrome.runtime.sendMessage({ask: 'mode', mode: 'all'}).then((now) => now.mode)";
    assert_eq!(user.evaluate(asked, &page), "all");
}

/// The user's browser with many shared tabs, and a session on it.
fn with_many_tabs(world: &World, site: &FixtureSite) -> Chromium {
    let browser = own_browser(world);
    let mut user = CdpClient::connect(&browser.websocket());
    let targets = user.call("Target.getTargets", json!({}), None);
    let blank =
        targets["targetInfos"].as_array().and_then(|all| all.iter().find(|one| one["type"] == "page"));
    let first = blank.expect("the tab it started with")["targetId"].clone();
    for number in 0..TABS {
        let path = match number {
            0 => "/frames/mix".to_owned(),
            1 => "/frames".to_owned(),
            number => format!("/plain?{number}"),
        };
        user.call("Target.createTarget", json!({"url": site.page(&path), "background": true}), None);
    }
    user.call("Target.closeTarget", json!({"targetId": first}), None);
    share_all(&mut user);
    world.run(&["tabs", "--upstream", "extension", "--policy", "open"]).succeeded();
    let loaded = site.page("/plain?59");
    eventually("all tabs are listed", 30, || {
        let tabs = world.json(&["tabs"])["result"]["tabs"].as_array().cloned().unwrap_or_default();
        tabs.len() == TABS && tabs.iter().any(|tab| tab["url"] == loaded.as_str())
    });
    browser
}

fn uses_unattached_tabs(client: &str) {
    let (world, site) = (World::new(), FixtureSite::start());
    let _browser = with_many_tabs(&world, &site);
    assert_eq!(number(&world, "attaches"), 0, "tabs are listed without attaching");
    let tabs = TABS.to_string();
    let joined = world.run(&["cdp-url", "--join"]).succeeded();
    let mut suite = Suite::unattached(joined.text(), &site, &["--client", client, "--tabs", &tabs]);
    suite.await_pause();
    let own = number(&world, "attaches");
    assert!(own <= 1, "connecting attaches to the session's own tab only");
    suite.resume();
    suite.await_pause();
    assert_eq!(number(&world, "attaches") - own, USED, "only used tabs are attached");
    suite.resume();
    suite.passes(1);
    eventually("the debugger is detached when the client leaves", 10, || number(&world, "attached") <= own);
    world.run(&["close"]).succeeded();
}

#[test]
fn playwright_connects_to_sixty_tabs_and_attaches_to_those_it_uses() {
    uses_unattached_tabs("playwright");
}

#[test]
fn puppeteer_connects_to_sixty_tabs_and_attaches_to_those_it_uses() {
    uses_unattached_tabs("puppeteer");
}
