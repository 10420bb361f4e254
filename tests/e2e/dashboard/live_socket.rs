//! The websocket of a live view: who may open it, and the flow of frames.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::cdp_client::CdpClient;
use crate::support::chromium::Chromium;
use crate::support::dashboard_page::{Dashboard, dashboard_url};
use crate::support::dashboard_socket::DashboardKey;
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

/// Bytes before the image.
const HEAD: usize = 24;

/// A page that changes all the time.
const MOVES: &str =
    "void setInterval(() => { document.body.style.background = `hsl(${Date.now() % 360} 80% 50%)` }, 20)";

/// A dashboard's own key, and the address of the websocket.
fn key_and_address(world: &World, browser: &Chromium) -> (String, String, String) {
    let mut page = Dashboard::open(browser, &dashboard_url(world));
    page.shows("connected");
    let key = page.run("sessionStorage.getItem('key')").as_str().expect("a key").to_owned();
    let origin = page.run("location.origin").as_str().expect("an origin").to_owned();
    let address = format!("{}/dashboard/live", origin.replace("http:", "ws:"));
    (key, origin, address)
}

/// The numbers of the frames that arrive until the deadline; states are skipped.
fn frames(client: &mut CdpClient, time: Duration, most: usize) -> Vec<u32> {
    let deadline = Instant::now() + time;
    let mut numbers = Vec::new();
    while numbers.len() < most {
        let Some(message) = client.read_bytes(deadline).expect("connected") else { break };
        if message.first() == Some(&1) {
            assert_eq!(&message[HEAD..HEAD + 2], &[0xff, 0xd8], "a JPEG");
            numbers.push(u32::from_le_bytes(message[4..8].try_into().expect("four bytes")));
        }
    }
    numbers
}

#[test]
fn a_page_that_draws_nothing_gets_two_frames() {
    let (world, site, browser) = (World::new(), FixtureSite::start(), Chromium::with_port());
    world.run(&["open", &site.page("/plain")]).succeeded();
    world.eval(MOVES);
    let (key, origin, address) = key_and_address(&world, &browser);
    let mut client = CdpClient::connect_as(&address, Some(&origin));
    client.say(&json!({"key": key, "session": "default"}));
    assert_eq!(frames(&mut client, Duration::from_secs(20), 2), [1, 2]);
    assert!(frames(&mut client, Duration::from_secs(2), 9).is_empty(), "nothing was drawn");
    client.say(&json!({"type": "drawn", "seq": 2}));
    let more = frames(&mut client, Duration::from_secs(20), 2);
    assert_eq!(more, [3, 4]);
    client.say(&json!({"type": "visible", "visible": false}));
    client.say(&json!({"type": "drawn", "seq": 4}));
    assert!(frames(&mut client, Duration::from_secs(1), 9).len() <= 2, "frames on their way");
    assert!(frames(&mut client, Duration::from_secs(2), 9).is_empty(), "not visible");
    client.say(&json!({"type": "visible", "visible": true}));
    assert_eq!(frames(&mut client, Duration::from_secs(20), 2).len(), 2);
}

/// A page that does not change draws one frame for a new screencast, and that one can be lost or have another size: small
/// images of the wall and screenshots change the size of the page for a moment.
#[test]
fn a_page_that_does_not_change_is_shown_whenever_its_stage_opens() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.run(&["open", &site.page("/form")]).succeeded();
    let size = world.json(&["eval", "[innerWidth, innerHeight]"])["result"]["value"].clone();
    let size: (u16, u16) = serde_json::from_value(size).expect("two numbers");
    let key = DashboardKey::new(&world);
    for round in 0..12 {
        // Its first small image is made at once.
        let (_wall, mut stage) = (key.wall(), key.stage("default"));
        stage.say(&json!({"type": "size", "width": 600 + round, "height": 400}));
        let sizes = stage.page_sizes(Duration::from_secs(10), |shown| shown == size);
        assert_eq!(sizes.last(), Some(&size), "round {round}: {sizes:?}");
    }
    let mut stage = key.stage("default");
    assert_eq!(stage.page_sizes(Duration::from_secs(2), |_| false).last(), Some(&size));
    for width in [400, 900] {
        stage.say(&json!({"type": "size", "width": width, "height": 600}));
        assert_eq!(stage.page_sizes(Duration::from_secs(10), |_| true).last(), Some(&size), "{width} wide");
    }
    world.eval("void (document.body.style.height = '3000px')");
    for _ in 0..4 {
        world.run(&["screenshot", "--full-page"]).succeeded();
        let sizes = stage.page_sizes(Duration::from_secs(1), |_| false);
        assert_eq!(sizes.last(), Some(&size), "{sizes:?}");
    }
}

#[test]
fn a_wrong_key_and_a_foreign_origin_are_refused() {
    let (world, site, browser) = (World::new(), FixtureSite::start(), Chromium::with_port());
    world.run(&["open", &site.page("/plain")]).succeeded();
    let (key, origin, address) = key_and_address(&world, &browser);
    let says = |message: &Value| {
        let mut client = CdpClient::connect_as(&address, Some(&origin));
        client.say(message);
        client.read_message(Instant::now() + Duration::from_secs(20)).expect("a message").expect("in time")
    };
    for wrong in [
        json!({"key": "0".repeat(64), "session": "default"}),
        json!({"session": "default"}),
        json!({"key": key, "session": "default", "more": 1}),
        json!({"type": "take"}),
    ] {
        assert_eq!(says(&wrong)["type"], "refused", "{wrong}");
    }
    assert_eq!(says(&json!({"key": key, "session": "../x"}))["state"], "no_session");
    assert_eq!(says(&json!({"key": key, "session": "default"}))["type"], "view");
    for foreign in [None, Some("http://localhost:1"), Some("https://evil.test"), Some("null")] {
        assert!(CdpClient::try_connect_as(&address, foreign).is_err(), "{foreign:?}");
    }
}
