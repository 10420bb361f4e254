//! Driven tabs that close, navigate to forbidden pages, crash, sleep or upload files.

use std::fs;

use serde_json::{Value, json};
use tabwire_extension::package::EXTENSION_ID;

use crate::own_browser::connection::restarts::pairings;
use crate::own_browser::tabs::{connected_browser, extension_page, number};
use crate::support::cdp_client::CdpClient;
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::{eventually, find_eventually};
use crate::support::world::World;

const THERE: [&str; 4] = ["--upstream", "extension", "--policy", "open"];

/// The user's target of the tab with a URL.
fn target_at(user: &mut CdpClient, url: &str) -> String {
    let found = find_eventually(10, || {
        let targets = user.call("Target.getTargets", json!({}), None);
        let targets = targets["targetInfos"].as_array().cloned().unwrap_or_default();
        targets.into_iter().find(|target| target["type"] == "page" && target["url"] == url)
    });
    found.expect("a tab is there")["targetId"].as_str().expect("an id").to_owned()
}

fn addresses(world: &World) -> Vec<String> {
    let tabs = world.json(&["tabs"])["result"]["tabs"].as_array().cloned().unwrap_or_default();
    tabs.iter().filter_map(|tab| tab["url"].as_str().map(str::to_owned)).collect()
}

#[test]
fn f02_closed_forbidden_and_crashed_tabs_are_reported_and_isolated() {
    let (world, site) = (World::new(), FixtureSite::start());
    let browser = connected_browser(&world);
    let mut user = CdpClient::connect(&browser.websocket());
    let stays = world.open(&[&THERE[..], &[&site.page("/form")]].concat());

    // The user closes a driven tab.
    let closed = world.run(&["tab-new", &site.page("/plain?closed")]).succeeded();
    let target = target_at(&mut user, &site.page("/plain?closed"));
    user.call("Target.closeTarget", json!({"targetId": target}), None);
    eventually("a closed tab is not listed", 10, || {
        !addresses(&world).iter().any(|url| url.contains("closed"))
    });
    drop(closed);

    // The user navigates a tab to a page that Chrome forbids to extensions, and back.
    let wandering = world.run(&["--json", "tab-new", &site.page("/plain?wanders")]).succeeded().json();
    let wandering = wandering["result"]["tab"].as_str().expect("a tab").to_owned();
    let target = target_at(&mut user, &site.page("/plain?wanders"));
    let session = user.attach(&target);
    user.call("Page.navigate", json!({"url": "chrome://version/"}), Some(&session));
    eventually("the forbidden page is not listed", 10, || {
        !addresses(&world).iter().any(|url| url.contains("wanders"))
    });
    let refused = world.run(&["--json", "eval", "1", "--tab", &wandering]);
    assert_ne!(refused.code, 0, "{refused:?}");
    user.call("Page.navigate", json!({"url": site.page("/plain?back")}), Some(&session));
    eventually("it is listed again", 10, || addresses(&world).iter().any(|url| url.contains("back")));

    // A page crashes; its tab stays and can be reloaded.
    let crashing = world.run(&["--json", "tab-new", &site.page("/plain?crashes")]).succeeded().json();
    let crashing = crashing["result"]["tab"].as_str().expect("a tab").to_owned();
    let target = target_at(&mut user, &site.page("/plain?crashes"));
    let session = user.attach(&target);
    user.send("Page.crash", json!({}), Some(&session));
    eventually("a crash is reported", 10, || world.run(&["eval", "1", "--tab", &crashing]).code != 0);
    eventually("the tab can be used again", 20, || {
        world.run(&["navigate", &site.page("/plain?again"), "--tab", &crashing]).code == 0
    });
    assert_eq!(world.run(&["eval", "location.search", "--tab", &crashing]).succeeded().text(), "?again");

    assert_eq!(world.run(&["eval", "document.title", "--tab", &stays]).succeeded().text(), "Form");
    world.run(&["close"]).succeeded();
}

#[test]
fn f10_using_a_discarded_tab_reloads_it() {
    let (world, site) = (World::new(), FixtureSite::start());
    let browser = connected_browser(&world);
    let mut user = CdpClient::connect(&browser.websocket());
    let url = site.page("/plain?sleeps");
    user.call("Target.createTarget", json!({"url": url, "background": true}), None);
    let page = extension_page(&mut user);
    let discard = format!(
        "(async () => {{
            const [tab] = await chrome.tabs.query({{url: '{url}'}});
            if (tab?.status !== 'complete') return null;
            await chrome.runtime.sendMessage({{ask: 'share', tab: tab.id}});
            return (await chrome.tabs.discard(tab.id))?.discarded ?? null;
        }})()"
    );
    let asleep =
        find_eventually(10, || Some(user.evaluate(&discard, &page)).filter(|value| *value != Value::Null));
    assert_eq!(asleep, Some(json!(true)));
    // A session without a tab opens one.
    eventually("the daemon lists it", 10, || number(&world, "tabs") == 1);
    world.run(&[&["tabs"][..], &THERE[..]].concat()).succeeded();
    eventually("it is listed", 10, || addresses(&world) == [url.clone()]);
    let tab = world.json(&["tabs"])["result"]["tabs"][0]["tab"].as_str().expect("a tab").to_owned();
    assert_eq!(number(&world, "attaches"), 0);
    let used = world.run(&["eval", "document.title", "--tab", &tab]).succeeded();
    assert_eq!(used.text(), "Plain page");
    world.run(&["close"]).succeeded();
}

/// Switches off "Allow access to file URLs" of the extension at chrome://extensions.
fn deny_file_access(user: &mut CdpClient) {
    let created = user.call("Target.createTarget", json!({"url": "chrome://extensions/"}), None);
    let session = user.attach(created["targetId"].as_str().expect("an id"));
    let script = "(async (extensionId) => {
        await chrome.developerPrivate.updateProfileConfiguration({inDeveloperMode: true});
        await chrome.developerPrivate.updateExtensionConfiguration({extensionId, fileAccess: false});
    })";
    eventually("the page is there", 10, || {
        user.evaluate("typeof chrome.developerPrivate?.updateExtensionConfiguration", &session) == "function"
    });
    user.evaluate(&format!("{script}({EXTENSION_ID:?})"), &session);
}

#[test]
fn a_refused_file_upload_names_the_extension_setting() {
    let (world, site) = (World::new(), FixtureSite::start());
    let browser = connected_browser(&world);
    let mut user = CdpClient::connect(&browser.websocket());
    let paired = pairings(&world);
    deny_file_access(&mut user);
    eventually("the extension is back", 40, || pairings(&world) > paired);
    world.open(&[&THERE[..], &[&site.page("/files")]].concat());
    fs::write(world.home().join("mine.txt"), "mine").expect("written");
    for field in ["#one", "#open"] {
        let refused = world.run(&["--json", "upload", "mine.txt", "--to", field]);
        assert_eq!(refused.failure(), ("POLICY_DENIED".to_owned(), 3), "{field}: {refused:?}");
        assert!(format!("{refused:?}").contains("Allow access to file URLs"), "{field}: {refused:?}");
    }
    assert_eq!(world.eval("document.getElementById('one').files.length"), "0");
    world.run(&["close"]).succeeded();
}
