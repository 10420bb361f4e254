//! `doctor`: finds what is wrong, changes nothing unless asked, and mends what is safe.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::leftover::{dead_socket, nobody, plant_descriptor};
use crate::world::World;

/// The verdict on one check.
fn verdict(findings: &Value, check: &str) -> String {
    let list = findings["findings"].as_array().expect("findings");
    let found = list.iter().find(|finding| finding["check"] == check);
    found.unwrap_or_else(|| panic!("{check} in {findings}"))["verdict"].as_str().expect("a word").to_owned()
}

#[test]
fn a_healthy_home_has_nothing_wrong() {
    let world = World::new();
    let outcome = world.run(&["doctor"]).succeeded();
    assert!(outcome.stdout.contains("Chromium"), "{outcome:?}");
    assert!(world.find_status().is_none(), "looking does not start a daemon");
    assert_eq!(world.files("."), ["tmp", "user"], "looking makes no directories");
    world.open(&["about:blank"]);
    let findings = world.json(&["doctor"]);
    for check in
        ["browser", "runtime directory", "state directory", "socket path", "daemon", "port", "browsers"]
    {
        assert_eq!(verdict(&findings, check), "ok", "{check}");
    }
    world.json(&["doctor", "--fix"]);
    assert_eq!(world.eval("1"), "1", "mending does not touch what lives");
}

#[test]
fn stale_things_are_found_and_then_removed() {
    let world = World::new();
    let file = plant_descriptor(&world, "dead", &nobody(), &nobody());
    dead_socket(&file.with_extension("sock"));
    dead_socket(&world.socket());
    let looked = world.run(&["--json", "doctor"]);
    assert_eq!(looked.code, 1);
    let seen = looked.json();
    assert_eq!((verdict(&seen, "browsers"), verdict(&seen, "socket")), ("wrong".into(), "note".into()));
    assert!(file.exists() && world.socket().exists(), "looking changes nothing");
    let shown = world.run(&["doctor"]);
    assert!(shown.code == 1 && shown.stdout.contains("doctor --fix"), "{shown:?}");
    let fixed = world.json(&["doctor", "--fix"]);
    assert_eq!((verdict(&fixed, "browsers"), verdict(&fixed, "socket")), ("fixed".into(), "fixed".into()));
    assert!(!file.exists() && !file.with_extension("sock").exists() && !world.socket().exists());
    assert_eq!(verdict(&world.json(&["doctor"]), "browsers"), "ok");
}

#[test]
fn a_directory_others_can_enter_is_wrong() {
    let world = World::new();
    let runtime = crate::leftover::private(&world, "runtime");
    fs::set_permissions(&runtime, fs::Permissions::from_mode(0o777)).expect("open to all");
    let findings = world.run(&["--json", "doctor"]).json();
    assert_eq!(verdict(&findings, "runtime directory"), "wrong", "{findings}");
    let outcome = world.run(&["--json", "open", "about:blank"]);
    assert_ne!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.stdout.contains("other users can write in it"), "{outcome:?}");
    fs::set_permissions(&runtime, fs::Permissions::from_mode(0o700)).expect("private");
    assert_eq!(world.eval("1"), "1");
}
