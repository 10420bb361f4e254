//! Tabs leased to one client, and clients that share a session on different tabs.

use serde_json::Value;

use crate::support::fixture_site::FixtureSite;
use crate::support::process::kill;
use crate::support::wait::find_eventually;
use crate::support::world::World;

#[test]
fn a_leased_tab_is_busy_for_others_until_it_is_released() {
    let (world, site) = (World::new(), FixtureSite::start());
    let tab = world.open(&[&site.url("a", "/popup")]);
    let leased = world.json(&["--as", "anna", "tab", "lease", &tab, "--for", "5m"])["result"].clone();
    assert_eq!((&leased["owner"], &leased["tab"]), (&"anna".into(), &tab.as_str().into()), "{leased}");
    world.run(&["--as", "anna", "get", "url"]).succeeded();
    for other in [&["--as", "ben"][..], &[]] {
        let refused = world.run(&[&["--json"], other, &["get", "url", "--tab", &tab]].concat());
        assert_eq!(refused.failure(), ("BUSY".to_owned(), 1), "{refused:?}");
        assert_eq!(refused.json()["error"]["details"]["owner"], "anna", "{refused:?}");
        let closing = world.run(&[&["--json"], other, &["tab-close", &tab]].concat());
        assert_eq!(closing.failure().0, "BUSY", "{closing:?}");
    }
    // A command without `--tab` gets another tab.
    let elsewhere = world.json(&["--as", "ben", "get", "url"]);
    assert_ne!(elsewhere["tab"], tab.as_str(), "{elsewhere}");
    // A popup belongs to the client of its opener.
    world.run(&["--as", "anna", "eval", "open('/popup_child'); 1"]).succeeded();
    // Its URL is known when its document has committed.
    let popup = find_eventually(10, || {
        let tabs = world.json(&["--as", "anna", "tabs"])["result"]["tabs"].clone();
        let is_popup = |tab: &&Value| tab["url"].as_str().is_some_and(|url| url.contains("popup_child"));
        tabs.as_array()?.iter().find(is_popup)?["tab"].as_str().map(str::to_owned)
    });
    let popup = popup.expect("the popup");
    let refused = world.run(&["--json", "--as", "ben", "get", "url", "--tab", &popup]);
    assert_eq!(refused.failure().0, "BUSY", "{refused:?}");
    let listed = world.run(&["tab", "leases"]).succeeded();
    assert!(listed.text().contains("anna") && listed.text().lines().count() == 3, "{}", listed.text());

    let others = world.run(&["--json", "--as", "ben", "tab", "release", &tab]);
    assert_eq!(others.failure().0, "BUSY");
    world.run(&["--as", "anna", "tab", "release", &tab]).succeeded();
    world.run(&["--as", "ben", "get", "url", "--tab", &tab]).succeeded();
}

#[test]
fn named_clients_never_use_each_others_tabs() {
    let (world, site) = (World::new(), FixtureSite::start());
    for (name, page) in [("anna", "/plain"), ("ben", "/form"), ("cleo", "/inputs")] {
        world.run(&["--as", name, "open", &site.url("a", page)]).succeeded();
    }
    for (name, page) in [("anna", "/plain"), ("ben", "/form"), ("cleo", "/inputs")] {
        assert_eq!(
            world.run(&["--as", name, "get", "url"]).succeeded().text(),
            site.url("a", page),
            "{name}"
        );
    }
    world.run(&["--as", "anna", "tab-new", &site.url("a", "/checks")]).succeeded();
    assert_eq!(world.run(&["--as", "anna", "get", "url"]).succeeded().text(), site.url("a", "/checks"));
    assert_eq!(world.run(&["--as", "ben", "get", "url"]).succeeded().text(), site.url("a", "/form"));
    let pinned = world.json(&["--as", "ben", "get", "url", "--pin-tab"]);
    let refused =
        world.run(&["--json", "--as", "cleo", "get", "url", "--tab", pinned["tab"].as_str().expect("a tab")]);
    assert_eq!(refused.failure().0, "BUSY");
}

#[test]
fn leases_and_current_tabs_outlive_the_daemon() {
    let (world, site) = (World::new(), FixtureSite::start());
    let tab = world.open(&[&site.url("a", "/plain")]);
    world.run(&["--as", "anna", "tab", "lease", &tab, "--for", "5m"]).succeeded();
    world.run(&["--as", "ben", "open", &site.url("a", "/form")]).succeeded();
    kill(world.daemon_pid());
    let refused = world.run(&["--json", "--as", "ben", "get", "url", "--tab", &tab]);
    assert_eq!(refused.failure().0, "BUSY", "{refused:?}");
    assert_eq!(refused.json()["error"]["details"]["owner"], "anna", "{refused:?}");
    let leases = world.json(&["tab", "leases"])["result"]["leases"].clone();
    let left = leases[0]["seconds_left"].as_u64().expect("a number");
    assert!((200..=300).contains(&left), "{leases}");
    assert_eq!(world.run(&["--as", "ben", "get", "url"]).succeeded().text(), site.url("a", "/form"));
    world.run(&["--as", "anna", "tab", "release", &tab]).succeeded();
    kill(world.daemon_pid());
    world.run(&["--as", "ben", "get", "url", "--tab", &tab]).succeeded();
}
