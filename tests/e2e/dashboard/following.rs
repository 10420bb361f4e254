//! What a live view shows by itself: the tab of the latest action, who drives it, and where the action pointed.

use serde_json::{Value, json};

use crate::support::dashboard_socket::{DashboardKey, DashboardSocket};
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

/// Opens a page as a named client; returns its tab.
fn open_as(world: &World, client: &str, url: &str) -> String {
    let opened = world.json(&["--as", client, "open", url]);
    opened["result"]["tab"].as_str().expect("a tab").to_owned()
}

/// The first state of the stage that fits.
fn view(stage: &mut DashboardSocket, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
    stage.find(what, |message| (message["type"] == "view" && fits(message)).then(|| message.clone()))
}

#[test]
fn the_stage_follows_the_latest_action_and_says_who_drives() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.run(&["open", &site.page("/plain")]).succeeded();
    let form = open_as(&world, "codex", &site.page("/form"));
    let plain = open_as(&world, "claude", &site.page("/plain"));
    assert_ne!(form, plain);
    let key = DashboardKey::new(&world);
    let mut stage = key.stage("default");
    view(&mut stage, "the tab that was used last", |view| view["tab"] == plain.as_str());
    // Reading is use, too.
    world.run(&["--as", "codex", "snapshot"]).succeeded();
    let seen = view(&mut stage, "the other client's tab", |view| view["tab"] == form.as_str());
    let driver = (&seen["driver"]["who"], &seen["driver"]["agent"], &seen["driver"]["action"]);
    assert_eq!(driver, (&json!("agent"), &json!("Codex"), &json!("snapshot")), "{seen}");
    let idle = view(&mut stage, "no driver", |view| view["driver"].is_null());
    assert_eq!(idle["tab"], form.as_str(), "the last tab stays");
    // The mark has the element's name as the snapshot says it, and goes.
    world.run(&["--as", "codex", "click", "#agree"]).succeeded();
    let marked = view(&mut stage, "a mark", |view| !view["mark"].is_null());
    assert_eq!((&marked["mark"]["tab"], &marked["mark"]["role"]), (&json!(form), &json!("checkbox")));
    let name = marked["mark"]["name"].as_str().expect("a name").to_owned();
    let snapshot = world.run(&["--as", "codex", "snapshot"]).succeeded();
    assert!(!name.is_empty() && snapshot.text().contains(&format!("checkbox \"{name}\"")), "{name}");
    view(&mut stage, "no mark", |view| view["mark"].is_null());
    // A point without an element is the point itself.
    world.run(&["--as", "codex", "mouse", "move", "40,50"]).succeeded();
    let pointed = view(&mut stage, "a point", |view| !view["mark"].is_null());
    assert_eq!(pointed["mark"]["rectangle"], json!([40.0, 50.0, 0.0, 0.0]), "{pointed}");
    assert_eq!((&pointed["mark"]["x"], &pointed["mark"]["name"]), (&json!(40.0), &json!("")));
    // The wall follows as well.
    let mut wall = key.wall();
    let shows = |wall: &mut DashboardSocket, tab: &str| {
        wall.find("the tab on the wall", |message| {
            (message["type"] == "wall" && message["sessions"][0]["tab"] == tab).then_some(())
        });
    };
    shows(&mut wall, &form);
    world.run(&["--as", "claude", "eval", "1"]).succeeded();
    shows(&mut wall, &plain);
    view(&mut stage, "the first client's tab", |view| view["tab"] == plain.as_str());
    // A closed tab is left.
    world.run(&["--as", "claude", "close", "--tab", &plain]).succeeded();
    view(&mut stage, "an open tab", |view| view["tab"] == form.as_str());
    // The user who takes over drives.
    stage.image();
    stage.say(&json!({"type": "take"}));
    let mine = view(&mut stage, "the user drives", |view| view["taken"] == "you");
    assert_eq!(mine["driver"]["who"], "you", "{mine}");
    stage.say(&json!({"type": "give"}));
    view(&mut stage, "no driver", |view| view["driver"].is_null());
}

#[test]
fn a_page_that_hangs_delays_neither_the_stage_nor_the_wall() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.run(&["open", &site.page("/plain")]).succeeded();
    let key = DashboardKey::new(&world);
    let (mut stage, mut wall) = (key.stage("default"), key.wall());
    stage.image();
    wall.image();
    // The page's process runs a loop; its thumbnails and titles do not come.
    world.run(&["eval", "void setTimeout(() => { for (;;); }, 0)"]).succeeded();
    for (socket, scope) in [(&mut stage, json!({"session": "default"})), (&mut wall, json!("all"))] {
        let sent = std::time::Instant::now();
        socket.say(&json!({"type": "pause", "scope": scope}));
        socket.find("the hold", |message| {
            let is_held = message["hold"] == "paused" || message["sessions"][0]["hold"] == "paused";
            is_held.then_some(())
        });
        assert!(sent.elapsed().as_secs_f64() < 2.5, "{:?}", sent.elapsed());
        socket.say(&json!({"type": "resume", "scope": "all"}));
        socket.find("the end of the hold", |message| {
            let hold = message.get("hold").or_else(|| message["sessions"][0].get("hold"));
            hold.is_some_and(Value::is_null).then_some(())
        });
    }
    world.expect_litter();
    world.run(&["close"]);
}
