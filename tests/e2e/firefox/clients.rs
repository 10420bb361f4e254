//! Stock Playwright over the DevTools protocol on an open Firefox session, with `cdp-url --experimental`.

use serde_json::Value;

use crate::clients::suite::Suite;
use crate::policy::frames::origin;
use crate::policy::grants::{allow, guarded};
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

/// The steps that fail. `docs/firefox.md` lists them.
const FAILING: &[&str] = &["set content"];

#[test]
fn playwright_drives_an_open_firefox_on_request() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.open(&["--browser", "firefox", "about:blank"]);
    let refused = world.run(&["--json", "cdp-url"]);
    assert_eq!(refused.failure().0, "UNSUPPORTED_HERE", "{refused:?}");
    assert!(refused.stdout.contains("cdp-url --experimental"), "{refused:?}");
    let url = world.run(&["cdp-url", "--experimental"]).succeeded().text().to_owned();
    let steps = Suite::firefox(&url, &site).steps();
    assert_eq!(steps.last().map(|step| &step["step"]), Some(&Value::from("disconnect")), "{steps:#?}");
    let failed: Vec<&Value> = steps.iter().filter(|step| step["ok"] != true).collect();
    let names: Vec<&str> = failed.iter().filter_map(|step| step["step"].as_str()).collect();
    assert_eq!(names, FAILING, "{failed:#?}");
    assert_eq!(world.eval("1 + 1"), "2");
    world.run(&["close"]).succeeded();
}

#[test]
fn t22_cdp_clients_get_no_guarded_firefox() {
    let (world, site) = (guarded(), FixtureSite::start());
    allow(&world, &[&origin(&site, "a"), "--act"]);
    allow(&world, &["*", "--cdp"]);
    world.run(&["open", "--browser", "firefox", &site.page("/plain")]).succeeded();
    for flags in [&[][..], &["--experimental"]] {
        let refused = world.run(&[&["--json", "cdp-url"], flags].concat());
        assert_eq!(refused.failure().0, "UNSUPPORTED_HERE", "{refused:?}");
        assert!(!refused.stdout.contains("--experimental"), "{refused:?}");
    }
    // Nor by a URL that was made by hand.
    let (status, body) = world.http(
        "GET /cdp?session=default&experimental=firefox HTTP/1.1\r\nHost: tabwire.local\r\nConnection: Upgrade, close\r\n\
         Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    );
    assert!(!status.contains("101") && body.contains("UNSUPPORTED_HERE"), "{status} {body}");
    world.run(&["close"]).succeeded();
}
