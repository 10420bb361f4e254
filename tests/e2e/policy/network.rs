//! DNS names that resolve elsewhere, and requests that would leak to other sites.

use std::net::UdpSocket;

use serde_json::json;
use tabwire_testkit::{EXFILTRATION_PATHS, OWN_SITE_PATHS};

use crate::policy::grants::{allow, guarded, remedy};
use crate::support::cdp_client::CdpClient;
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::eventually;
use crate::support::world::World;

/// What the page says that must not be told.
const CANARY: &str = "CANARY";

/// A guarded world whose browser finds some names on this machine, as a hostile name server would have it.
fn misled() -> World {
    let rules = "MAP name.example 127.0.0.1,MAP other.example 127.0.0.1";
    let world = guarded();
    let flag = format!("--browser-arg=--host-resolver-rules={rules}");
    world.run(&["--json", "open", "about:blank", &flag, "--allow-dangerous-browser-args"]).succeeded();
    world
}

/// The address of a page under a name of the site's.
fn under(site: &FixtureSite, name: &str, path: &str) -> String {
    format!("http://{name}:{}{path}", site.port())
}

#[test]
fn t21_a_name_that_leads_to_this_machine_is_not_read_by_star_or_name() {
    let (world, site) = (misled(), FixtureSite::start());
    let page = under(&site, "name.example", "/frames/denied");
    let own = site.page("").trim_end_matches('/').to_owned();
    let origin = under(&site, "name.example", "");
    let there = under(&site, "127.0.0.1", "");
    for grant in ["*", &origin, &own] {
        allow(&world, &[grant, "--act", "--eval", "--cdp"]);
    }
    let refused = |arguments: &[&str]| {
        let told = remedy(&world, arguments);
        assert!(told.starts_with(&format!("tabwire allow {there}")), "{arguments:?}: {told}");
        let outcome = world.run(&[&["--json"], arguments].concat());
        assert!(
            !outcome.stdout.contains(CANARY) && outcome.stdout.contains("name.example resolves to"),
            "{outcome:?}"
        );
    };
    let encoded = page.replace(':', "%3A").replace('/', "%2F");
    for way in [page.clone(), site.page(&format!("/redirect/to?to={encoded}"))] {
        refused(&["open", &way]);
        for arguments in [&["get-text"][..], &["snapshot"], &["screenshot"], &["eval", "document.title"]] {
            refused(arguments);
        }
        let tabs = world.run(&["--json", "tabs"]).succeeded();
        assert!(!tabs.stdout.contains("Denied"), "its title is not told: {tabs:?}");
        // There is a way out, and history is no way in.
        world.run(&["open", &site.page("/plain")]).succeeded();
        world.run(&["get-text"]).succeeded();
        let told = remedy(&world, &["back"]);
        assert!(told.starts_with(&format!("tabwire allow {there}")), "{told}");
        refused(&["get-text"]);
    }
    // Other spellings of the address are the address.
    for spelling in ["2130706433", "0x7f.1", "017700000001", "127.1"] {
        let told = remedy(&world, &["open", &under(&site, spelling, "/plain")]);
        assert_eq!(told, format!("tabwire allow {there}"), "{spelling}");
    }
    let told = remedy(&world, &["open", "http://169.254.169.254/latest/meta-data/"]);
    assert_eq!(told, "tabwire allow http://169.254.169.254");

    // A CDP client that may drive the name is told no more, however it goes there.
    let mut client = CdpClient::connect(&world.cdp_url());
    let opened = client.open_page(&page);
    let started = client.open_page("about:blank");
    client.call("Page.navigate", json!({"url": page}), Some(&started.session));
    for page in [opened, started] {
        let read = json!({"expression": "location.host + document.documentElement.outerHTML", "returnByValue": true});
        eventually("it is refused", 15, || {
            let response = client.ask("Runtime.evaluate", read.clone(), Some(&page.session));
            assert!(!response.to_string().contains(CANARY), "{response}");
            response["error"]["data"] == "POLICY_DENIED"
        });
        let image = client.ask("Page.captureScreenshot", json!({}), Some(&page.session));
        assert_eq!(image["error"]["data"], "POLICY_DENIED", "{image}");
    }

    // Whoever names the address means it.
    allow(&world, &[&there, "--act", "--eval", "--cdp"]);
    world.run(&["open", &page]).succeeded();
    assert!(world.run(&["get-text"]).succeeded().stdout.contains(CANARY));
}

/// Opens the page that tries every way out to another site, and gives the socket that peers would be asked on.
fn try_every_way(world: &World, site: &FixtureSite, policy: &str) -> UdpSocket {
    let peer = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    peer.set_nonblocking(true).expect("it does not wait");
    let port = peer.local_addr().expect("an address").port();
    let to = site.url("c", "").replace(':', "%3A").replace('/', "%2F");
    let page = site.page(&format!("/ways-out?to={to}&udp={port}"));
    world.run(&["open", "--policy", policy, &page]).succeeded();
    for way in OWN_SITE_PATHS {
        eventually(&format!("{way} reaches the page's own site"), 20, || {
            site.request_count(&format!("/own/{way}")) > 0
        });
    }
    peer
}

#[test]
fn t25_beacons_prefetches_workers_and_peers_reach_no_ungranted_site() {
    // What is tried does work where nothing is kept in.
    let (open, site) = (World::new(), FixtureSite::start());
    let peer = try_every_way(&open, &site, "open");
    for way in EXFILTRATION_PATHS {
        eventually(&format!("{way} is heard"), 20, || site.request_count(&format!("/told/{way}")) > 0);
    }
    eventually("peers are asked", 20, || peer.recv(&mut [0; 64]).is_ok());
    // Its workers end with it.
    open.run(&["open", "about:blank"]).succeeded();
    drop((open, site));

    let (world, site) = (guarded(), FixtureSite::start());
    let own = site.page("").trim_end_matches('/').to_owned();
    allow(&world, &[&own, "--act", "--eval"]);
    let peer = try_every_way(&world, &site, "guarded");
    // In frames that the page makes itself, and in a second document, there is no more than in the first.
    let frame = "(() => { const made = document.body.appendChild(document.createElement('iframe')); \
                 return [globalThis, made.contentWindow].flatMap((window) => \
                 ['RTCPeerConnection', 'SharedWorker', 'WebTransport'].map((name) => typeof window[name])).join(); })()";
    assert_eq!(world.eval(frame), ["undefined"; 6].join(","));
    let service = "navigator.serviceWorker.register('/plain').then(() => 'kept', (error) => error.name)";
    assert_eq!(world.eval(service), "SecurityError");
    world.run(&["reload"]).succeeded();
    eventually("it was tried again", 20, || site.request_count("/own/nested") > 1);
    let heard: Vec<&&str> =
        EXFILTRATION_PATHS.iter().filter(|way| site.request_count(&format!("/told/{way}")) > 0).collect();
    assert!(heard.is_empty(), "{heard:?} were heard");
    assert!(peer.recv(&mut [0; 64]).is_err(), "a peer was asked");

    // Where it was granted, it is reached.
    allow(&world, &[site.url("c", "").trim_end_matches('/')]);
    world.run(&["reload"]).succeeded();
    for way in OWN_SITE_PATHS {
        eventually(&format!("{way} is heard"), 20, || site.request_count(&format!("/told/{way}")) > 0);
    }
    world.run(&["open", &site.page("/plain")]).succeeded();
}
