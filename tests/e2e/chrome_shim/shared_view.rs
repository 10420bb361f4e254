//! Several connections to one shim, and how a shim on a port ends.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::chrome_shim::launcher::{Launcher, browser, shims};
use crate::chrome_shim::port_process::PortChrome;
use crate::support::cdp_client::CdpClient;
use crate::support::fixture_site::FixtureSite;
use crate::support::process::kill;
use crate::support::wait::eventually;
use crate::support::world::{World, await_end};

fn pages(client: &mut CdpClient) -> Vec<Value> {
    let targets = client.call("Target.getTargets", json!({}), None);
    let infos = targets["targetInfos"].as_array().cloned().expect("targets");
    infos.into_iter().filter(|info| info["type"] == "page").collect()
}

fn lists(pages: &[Value], target: &Value) -> bool {
    pages.iter().any(|page| page["targetId"] == *target)
}

#[test]
fn b17_connections_to_one_shim_share_its_pages_and_shims_do_not() {
    let (world, site) = (World::new().with_whole_chromium(), FixtureSite::start());
    let profile = world.home().join("profile").to_string_lossy().into_owned();
    let mut chrome = PortChrome::start(&world, &["--user-data-dir", &profile]);
    let mut first = CdpClient::connect(&chrome.address);
    let made =
        first.call("Target.createTarget", json!({"url": site.page("/form")}), None)["targetId"].clone();
    let mut second = CdpClient::connect(&chrome.address);
    assert!(lists(&pages(&mut second), &made), "a later connection lists the page");
    let session = second.attach(made.as_str().expect("an id"));
    eventually("and drives it", 10, || second.evaluate("document.title", &session) == "Form");
    second.call("Target.setDiscoverTargets", json!({"discover": true}), None);
    let later = first.call("Target.createTarget", json!({"url": "about:blank"}), None)["targetId"].clone();
    second.event("Target.targetCreated", |event| event["params"]["targetInfo"]["targetId"] == later);

    let other = PortChrome::start(&world, &["--user-data-dir", &profile]);
    let mut stranger = CdpClient::connect(&other.address);
    let seen = pages(&mut stranger);
    assert!(!lists(&seen, &made) && !lists(&seen, &later), "another shim's pages are not shown: {seen:?}");
    drop(first);
    assert!(lists(&pages(&mut second), &made), "the page stays with the other connection");
    assert!(!lists(&pages(&mut stranger), &made));
    drop(stranger);
    drop(other);
    second.call("Browser.close", json!({}), None);
    assert_eq!(chrome.end(), Some(0));
}

#[test]
fn p1_shims_on_one_profile_have_first_pages_of_their_own() {
    let (world, site) = (World::new().with_whole_chromium(), FixtureSite::start());
    let profile = world.home().join("profile").to_string_lossy().into_owned();
    let first = PortChrome::start(&world, &["--user-data-dir", &profile]);
    let mut one = CdpClient::connect(&first.address);
    let tab = pages(&mut one)[0]["targetId"].clone();
    let second = PortChrome::start(&world, &["--user-data-dir", &profile]);
    let mut other = CdpClient::connect(&second.address);
    let seen = pages(&mut other);
    assert!(seen.len() == 1 && !lists(&seen, &tab), "a page of its own: {seen:?}");
    assert_eq!(pages(&mut one).len(), 1, "which the first shim does not see");
    let mut again = CdpClient::connect(&second.address);
    let found = pages(&mut again);
    assert!(found.len() == 1 && lists(&seen, &found[0]["targetId"]), "one page for one shim: {found:?}");

    // Libraries on the same profile, each in the first page that it finds.
    let launch = |tool: &str| Launcher::start(&world, tool, &["--profile", &profile]);
    let mut launchers = ["puppeteer-pipe", "playwright-persistent", "puppeteer-port"].map(launch);
    for (launcher, path) in launchers.iter_mut().zip(["/form", "/plain", "/article"]) {
        let shown = launcher.command(&json!({"first": site.page(path)}));
        assert!(shown["title"].is_string(), "{shown}\n{}", world.log());
    }
    for (launcher, path) in launchers.iter_mut().zip(["/form", "/plain", "/article"]) {
        assert_eq!(launcher.command(&json!({"pages": true})), json!({"pages": 1}), "{path}");
        assert_eq!(launcher.command(&json!({"eval": "location.pathname"}))["value"], path);
    }
    let session = one.attach(tab.as_str().expect("an id"));
    assert_eq!(one.evaluate("location.href", &session), "about:blank", "the first tab is untouched");
    launchers.into_iter().for_each(Launcher::close);
}

#[test]
fn p8_closing_and_hanging_up_at_once_ends_the_browser() {
    let world = World::new().with_whole_chromium();
    for _ in 0..6 {
        let mut chrome = PortChrome::start(&world, &[]);
        let (running, shims) = (browser(&world), shims(&world));
        let mut client = CdpClient::connect(&chrome.address);
        client.send("Browser.close", json!({}), None);
        drop(client);
        assert_eq!(chrome.end(), Some(0));
        await_end("the shim", 5, &shims);
        await_end("the browser", 10, &[running]);
    }
}

/// Removes a directory as launchers do: what is written meanwhile is tried again a few times.
fn remove(directory: &Path) {
    for _ in 0..10 {
        if fs::remove_dir_all(directory).is_ok() {
            return;
        }
    }
}

#[test]
fn p8_a_killed_shim_leaves_no_profile_directory() {
    let world = World::new().with_whole_chromium();
    world.expect_litter();
    for round in 0..4 {
        let directory = world.home().join(format!("profile-{round}"));
        let mut chrome = PortChrome::start(&world, &["--user-data-dir", &directory.to_string_lossy()]);
        let running = browser(&world);
        let mut client = CdpClient::connect(&chrome.address);
        client.open_page("about:blank");
        kill(chrome.pid());
        chrome.end();
        remove(&directory);
        await_end("the browser", 10, &[running]);
        assert!(
            !directory.exists(),
            "round {round}: the browser wrote after its launcher removed the directory"
        );
    }
}
