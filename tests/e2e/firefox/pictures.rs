//! The dashboard's live view of a Firefox: a picture each second.

use serde_json::json;

use crate::support::dashboard_socket::DashboardKey;
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

#[test]
fn the_live_view_of_a_firefox_shows_pictures() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.open(&["--browser", "firefox", &site.page("/plain")]);
    let mut stage = DashboardKey::new(&world).stage("default");
    stage.say(&json!({"type": "size", "width": 800, "height": 600}));
    let mut seq = 0;
    let mut next = || {
        let picture = stage.image();
        seq += 1;
        stage.say(&json!({"type": "drawn", "seq": seq}));
        picture
    };
    let (first, second) = (next(), next());
    for picture in [&first, &second] {
        assert!(picture.starts_with(&[0xFF, 0xD8, 0xFF]) && picture.len() > 1_000, "a JPEG");
    }
    world.run(&["eval", "document.body.style.background = 'red'"]).succeeded();
    assert!((0..10).any(|_| next() != second), "a later picture shows the change");
    world.run(&["close"]).succeeded();
}
