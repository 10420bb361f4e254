//! Renting from a Grid: where a browser runs, its release, and the release by the next daemon.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::{records, rent};
use crate::support::fake_grid::FakeGrid;
use crate::support::process::kill;
use crate::support::wait::eventually;
use crate::support::world::{World, wait};

#[test]
fn a_session_rents_a_browser_and_shows_where_it_runs() {
    let grid = FakeGrid::start(&["--nodes", "1", "--slots", "2", "--credentials", "me:s3cr3t"]);
    let world = World::new();
    let url = grid.url().replace("http://", "http://me:s3cr3t@");
    let capabilities = world.home().join("capabilities.json");
    fs::write(&capabilities, json!({"browserName": "chrome", "acme:key": "k3y"}).to_string())
        .expect("written");
    let file = capabilities.to_str().expect("plain");
    let started =
        world.run(&["--json", "session", "start", "--grid", &url, "--capabilities", file]).succeeded();
    let status = started.json()["result"].clone();
    assert_eq!(status["ownership"], "rented", "{status}");
    assert_eq!(status["remote"]["place"], format!("Grid at {}", grid.url()), "{status}");
    assert_eq!(status["browser_version"], "chrome 156.0.0.0");
    eventually("its node is shown", 10, || {
        let status = world.json(&["session", "status"]);
        status["result"]["remote"]["node"] == "http://10.0.0.1:5555"
            && status["result"]["remote"]["idle_limit_seconds"] == 300
    });
    let listed = world.run(&["session", "list"]).succeeded();
    assert!(listed.stdout.contains("WHERE") && listed.stdout.contains("http://10.0.0.1:5555"), "{listed:?}");
    let shown = world.run(&["session", "status"]).succeeded();
    assert!(shown.stdout.contains("rented") && shown.stdout.contains("kept every 45 s"), "{shown:?}");

    let id = grid.ids().pop().expect("a session");
    let record = world.home().join("state/rentals").join(records(&world).pop().expect("a record"));
    assert_eq!(fs::metadata(&record).expect("there").permissions().mode() & 0o777, 0o600);
    for shown in [&started, &listed, &shown] {
        let text = format!("{}{}", shown.stdout, shown.stderr);
        assert!(!text.contains("s3cr3t") && !text.contains("k3y") && !text.contains(&id), "{text}");
    }
    let other = world.run(&["--json", "session", "start", "--grid", "http://x:y@other.example"]);
    assert_eq!(other.failure().0, "BAD_ARGS", "{other:?}");
    assert!(!other.stdout.contains("x:y") && !other.stdout.contains("s3cr3t"), "{other:?}");

    let closed = world.run(&["close"]).succeeded();
    assert_eq!((grid.count("alive"), grid.count("deleted")), (0, 1), "{closed:?}");
    assert_eq!(records(&world), [""; 0]);
    let log = world.log();
    assert!(!log.contains("s3cr3t") && !log.contains(&id) && !log.contains("k3y"), "{log}");
}

#[test]
fn the_end_of_the_daemon_releases_every_browser() {
    let grid = FakeGrid::start(&["--slots", "4"]);
    let world = World::new();
    for session in ["a", "b"] {
        rent(&world, &grid, session).succeeded();
    }
    assert_eq!(grid.count("alive"), 2);
    world.run(&["daemon", "stop"]).succeeded();
    assert_eq!((grid.count("alive"), grid.count("deleted")), (0, 2));
    assert_eq!(records(&world), [""; 0]);
}

#[test]
fn f13_the_next_daemon_releases_what_a_killed_one_had() {
    let grid = FakeGrid::start(&["--nodes", "1", "--slots", "2"]);
    let world = World::new();
    rent(&world, &grid, "a").succeeded();
    rent(&world, &grid, "b").succeeded();
    // The third waits in the queue of the Grid when the daemon dies.
    let waiting = world.start(&["--json", "--session", "c", "session", "start", "--grid", &grid.url()]);
    eventually("the request is queued", 20, || grid.count("queued") == 1);
    let listed = world.json(&["session", "list"]);
    let state = |listed: &Value| listed["sessions"].to_string();
    assert!(state(&listed).contains("starting: waits for a browser of the Grid at"), "{listed}");
    kill(world.daemon_pid());
    assert_ne!(wait(waiting, &["start"]).code, 0);
    assert_eq!((grid.count("alive"), records(&world).len()), (2, 3));
    world.run(&["daemon", "start"]).succeeded();
    // The two are released; then the Grid serves the third request, and its session is found by its name.
    grid.empties(40);
    assert_eq!(grid.count("created"), 3);
    eventually("no record is left", 90, || records(&world).is_empty());
    let again = world.run(&["--json", "--session", "a", "session", "start"]).succeeded().json();
    assert_eq!(again["result"]["ownership"], "rented", "its options stay: {again}");
}

#[test]
fn f13_a_lost_mcp_client_releases_its_browser() {
    let grid = FakeGrid::start(&[]);
    let world = World::new();
    let url = grid.url();
    let mut client = crate::mcp::client::McpClient::start(&world, &["--grid", &url]);
    let called = client.call("tabs_list", json!({}));
    assert_eq!(grid.count("alive"), 1, "{called}");
    drop(client);
    grid.empties(30);
}

#[test]
fn a_release_that_fails_is_reported_and_tried_again() {
    let grid = FakeGrid::start(&[]);
    let world = World::new();
    rent(&world, &grid, "default").succeeded();
    // The end of the connection and the close each try it once.
    grid.fault("fail_release", 2);
    let closed = world.run(&["--json", "close"]);
    assert_eq!(closed.failure().0, "NO_BACKEND", "{closed:?}");
    assert!(closed.stdout.contains("did not confirm that the browser is released"), "{closed:?}");
    grid.empties(20);
    eventually("no record is left", 10, || records(&world).is_empty());
}

#[test]
fn the_configuration_of_the_user_chooses_a_grid_and_a_project_cannot() {
    let grid = FakeGrid::start(&[]);
    let world = World::new();
    world.run(&["config", "set", "grid", &grid.url()]).succeeded();
    world.run(&["session", "start"]).succeeded();
    assert_eq!(grid.count("alive"), 1);
    world.run(&["close"]).succeeded();
    fs::create_dir(world.home().join("project")).expect("a directory");
    for line in ["grid = \"http://evil.example\"", "provider = \"evil\"", "capabilities = \"evil.json\""] {
        fs::write(world.home().join("project/tabwire.toml"), line).expect("written");
        let refused = world.run_in("project", &["--json", "session", "start"]);
        assert_ne!(refused.code, 0, "{line}: {refused:?}");
    }
    assert_eq!(grid.count("created"), 1);
}
