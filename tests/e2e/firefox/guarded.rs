//! A guarded session: every request of Firefox waits until the policy allows it.

use std::net::UdpSocket;

use crate::policy::frames::origin;
use crate::policy::grants::{allow, guarded, remedy};
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::eventually;
use crate::support::world::World;

/// Ways out that are closed in Firefox. Workers reach what their page reaches.
const CLOSED: &[&str] = &["beacon", "prefetch", "speculation", "shared"];

fn encoded(url: &str) -> String {
    url.replace(':', "%3A").replace('/', "%2F")
}

/// Opens the page that tries every way to reach another site; returns the socket that WebRTC would contact.
fn try_every_way(world: &World, site: &FixtureSite) -> UdpSocket {
    let peer = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    peer.set_nonblocking(true).expect("it does not wait");
    let port = peer.local_addr().expect("an address").port();
    let page = site.page(&format!("/ways-out?to={}&udp={port}", encoded(&site.url("c", ""))));
    world.run(&["open", &page]).succeeded();
    for way in ["beacon", "worker", "nested"] {
        eventually(&format!("{way} reaches the page's own site"), 20, || {
            site.request_count(&format!("/own/{way}")) > 0
        });
    }
    peer
}

#[test]
fn a_guarded_firefox_sends_nothing_to_ungranted_sites() {
    let (world, site) = (guarded(), FixtureSite::start());
    let (own, page) = (origin(&site, "a"), site.page("/plain"));
    assert_eq!(remedy(&world, &["open", "--browser", "firefox", &page]), format!("tabwire allow {own}"));
    assert_eq!(site.request_count("/plain"), 0);
    allow(&world, &[&own, "--act", "--eval"]);
    world.run(&["open", "--browser", "firefox", &page]).succeeded();
    assert!(world.run(&["get-text"]).succeeded().stdout.contains("Plain"));

    // Redirects, scripts and popups reach no other site; the page's own popups work.
    let there = site.url("c", "/form");
    let hint = remedy(&world, &["open", &site.page(&format!("/redirect/to?to={}", encoded(&there)))]);
    assert_eq!(hint, format!("tabwire allow {}", origin(&site, "c")));
    world.run(&["open", &page]).succeeded();
    world.run(&["eval", &format!("open('{there}'); open('{}'); 1", site.page("/dialogs"))]).succeeded();
    eventually("the page's own popup is loaded", 20, || site.request_count("/dialogs") > 0);
    world.run(&["eval", &format!("location.href = '{there}'; 1")]);
    world.run(&["open", &page]).succeeded();
    assert_eq!(site.request_count("/form"), 0, "the other site got no request");
    for (file, reason) in [("file:///etc/passwd", "local"), ("about:config", "a page of the browser")] {
        let outcome = world.run(&["--json", "open", file]);
        assert_ne!(outcome.code, 0, "{reason}: {outcome:?}");
    }

    // Ways out that show the page nothing.
    let peer = try_every_way(&world, &site);
    let names = "(() => { const made = document.body.appendChild(document.createElement('iframe')); \
                 return [globalThis, made.contentWindow].flatMap((window) => \
                 ['RTCPeerConnection', 'SharedWorker', 'WebTransport'].map((name) => typeof window[name])).join(); })()";
    assert_eq!(world.eval(names), ["undefined"; 6].join(","));
    assert_eq!(world.eval("String(navigator.serviceWorker)"), "undefined");
    let heard: Vec<&&str> =
        CLOSED.iter().filter(|way| site.request_count(&format!("/report/{way}")) > 0).collect();
    assert!(heard.is_empty(), "{heard:?} were heard");
    assert!(peer.recv(&mut [0; 64]).is_err(), "WebRTC contacted the peer");

    // A frame that may not be read is left out, and the status says what is weaker.
    world.run(&["open", &site.page("/framed?of=b")]).succeeded();
    eventually("the frame is left out", 20, || world.run(&["snapshot"]).stderr.contains("left out"));
    let status = world.json(&["session", "status"]);
    let gaps = status["result"]["gaps"].to_string();
    assert!(gaps.contains("remote addresses") && gaps.contains("traces"), "{status}");
    world.run(&["close"]).succeeded();
}

#[test]
fn a_firefox_of_an_open_session_is_refused_to_a_guarded_one() {
    let world = World::new();
    let profile = world.home().join("user/profile");
    let profile = profile.to_str().expect("text");
    let open = |session: &str, policy: &str| {
        let arguments = ["--json", "--session", session, "open", "--browser", "firefox", "--policy", policy];
        world.run(&[&arguments[..], &["--profile", profile, "about:blank"]].concat())
    };
    open("free", "open").succeeded();
    assert_eq!(open("strict", "guarded").failure().0, "UNSUPPORTED_HERE");
    world.run(&["--session", "free", "close"]).succeeded();
    open("strict", "guarded").succeeded();
    world.run(&["--session", "strict", "close"]).succeeded();
}
