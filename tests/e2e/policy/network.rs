//! DNS names that resolve elsewhere, and requests that would leak to other sites.

use std::net::UdpSocket;

use serde_json::json;
use tabwire_testkit::{EXFILTRATION_PATHS, OWN_SITE_PATHS};

use crate::policy::grants::{allow, guarded, remedy};
use crate::support::cdp_client::CdpClient;
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::eventually;
use crate::support::world::World;

/// Text of the page that must not be shown.
const CANARY: &str = "CANARY";

/// A guarded world whose browser resolves some names to this machine, as a hostile name server would.
fn misled() -> World {
    let rules = "MAP name.example 127.0.0.1,MAP other.example 127.0.0.1";
    let world = guarded();
    let flag = format!("--browser-arg=--host-resolver-rules={rules}");
    world.run(&["--json", "open", "about:blank", &flag, "--allow-dangerous-browser-args"]).succeeded();
    world
}

/// The URL of a page under another host name.
fn under(site: &FixtureSite, name: &str, path: &str) -> String {
    format!("http://{name}:{}{path}", site.port())
}

#[test]
fn t21_a_name_resolving_to_this_machine_needs_its_own_grant() {
    let (world, site) = (misled(), FixtureSite::start());
    let page = under(&site, "name.example", "/frames/denied");
    let own = site.page("").trim_end_matches('/').to_owned();
    let origin = under(&site, "name.example", "");
    let there = under(&site, "127.0.0.1", "");
    for grant in ["*", &origin, &own] {
        allow(&world, &[grant, "--act", "--eval", "--cdp"]);
    }
    let refused = |arguments: &[&str]| {
        let hint = remedy(&world, arguments);
        assert!(hint.starts_with(&format!("tabwire allow {there}")), "{arguments:?}: {hint}");
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
        assert!(!tabs.stdout.contains("Denied"), "its title is hidden: {tabs:?}");
        // Navigating away is allowed, and going back in history is refused.
        world.run(&["open", &site.page("/plain")]).succeeded();
        world.run(&["get-text"]).succeeded();
        let hint = remedy(&world, &["back"]);
        assert!(hint.starts_with(&format!("tabwire allow {there}")), "{hint}");
        refused(&["get-text"]);
    }
    // Other spellings of the address are treated as the address.
    for spelling in ["2130706433", "0x7f.1", "017700000001", "127.1"] {
        let hint = remedy(&world, &["open", &under(&site, spelling, "/plain")]);
        assert_eq!(hint, format!("tabwire allow {there}"), "{spelling}");
    }
    let hint = remedy(&world, &["open", "http://169.254.169.254/latest/meta-data/"]);
    assert_eq!(hint, "tabwire allow http://169.254.169.254");

    // A CDP client with a grant for the name sees nothing either, in any way.
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

    // A grant for the address itself allows it.
    allow(&world, &[&there, "--act", "--eval", "--cdp"]);
    world.run(&["open", &page]).succeeded();
    assert!(world.run(&["get-text"]).succeeded().stdout.contains(CANARY));
}

/// Opens the page that tries every way to reach another site; returns the socket that WebRTC would contact.
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
    // All of them work in an open session.
    let (open, site) = (World::new().with_whole_chromium(), FixtureSite::start());
    let peer = try_every_way(&open, &site, "open");
    for way in EXFILTRATION_PATHS {
        eventually(&format!("{way} arrives"), 20, || site.request_count(&format!("/report/{way}")) > 0);
    }
    eventually("WebRTC contacts the peer", 20, || peer.recv(&mut [0; 64]).is_ok());
    // Its workers end with the session.
    open.run(&["open", "about:blank"]).succeeded();
    drop((open, site));

    let (world, site) = (guarded().with_whole_chromium(), FixtureSite::start());
    let own = site.page("").trim_end_matches('/').to_owned();
    allow(&world, &[&own, "--act", "--eval"]);
    let peer = try_every_way(&world, &site, "guarded");
    // Frames that the page creates, and a second document, can do no more.
    let frame = "(() => { const made = document.body.appendChild(document.createElement('iframe')); \
                 return [globalThis, made.contentWindow].flatMap((window) => \
                 ['RTCPeerConnection', 'SharedWorker', 'WebTransport'].map((name) => typeof window[name])).join(); })()";
    assert_eq!(world.eval(frame), ["undefined"; 6].join(","));
    let service = "navigator.serviceWorker.register('/plain').then(() => 'kept', (error) => error.name)";
    assert_eq!(world.eval(service), "SecurityError");
    world.run(&["reload"]).succeeded();
    eventually("it was tried again", 20, || site.request_count("/own/nested") > 1);
    let heard: Vec<&&str> =
        EXFILTRATION_PATHS.iter().filter(|way| site.request_count(&format!("/report/{way}")) > 0).collect();
    assert!(heard.is_empty(), "{heard:?} were heard");
    assert!(peer.recv(&mut [0; 64]).is_err(), "WebRTC contacted the peer");

    // After a grant, the site is reached.
    allow(&world, &[site.url("c", "").trim_end_matches('/')]);
    world.run(&["reload"]).succeeded();
    for way in OWN_SITE_PATHS {
        eventually(&format!("{way} arrives"), 20, || site.request_count(&format!("/report/{way}")) > 0);
    }
    world.run(&["open", &site.page("/plain")]).succeeded();
}
