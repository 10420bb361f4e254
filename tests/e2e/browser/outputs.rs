//! Output files: one option for all actions, and which files are replaced.

use std::fs;

use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

#[test]
fn b7_a_session_replaces_its_own_outputs() {
    let (world, site) = (World::new().with_whole_chromium(), FixtureSite::start());
    world.open(&[&site.page("/plain")]);
    let at = |name: &str| world.home().join(name);
    for arguments in [
        &["screenshot", "-o", "shot.png"][..],
        &["screenshot", "shot2.png"],
        &["pdf", "-o", "page.pdf"],
        &["state", "save", "-o", "state.json"],
        &["state", "save", "state2.json"],
        &["download-file", "--url", "/download/plain.txt", "-o", "plain.txt"],
        &["diff", "snapshot", "--save", "baseline.txt"],
    ] {
        world.run(arguments).succeeded();
        world.run(arguments).succeeded();
    }
    assert!(fs::read(at("page.pdf")).is_ok_and(|pdf| pdf.starts_with(b"%PDF")));
    assert_eq!(fs::read_to_string(at("plain.txt")).expect("written"), "plain content\n");
    // `_` is the file that was written last, and no file of that name.
    world.run(&["screenshot", "-o", "last.png"]).succeeded();
    world.run(&["eval", "document.body.style.background = 'red'"]).succeeded();
    let before = fs::read(at("last.png")).expect("written");
    world.run(&["screenshot", "-o", "_"]).succeeded();
    assert!(fs::read(at("last.png")).is_ok_and(|now| now != before), "the same picture");
    assert!(!at("_").exists());
    // Without a name, the file is in our own directory, and `_` replaces it there.
    let path = world.json(&["screenshot"])["result"]["path"].as_str().expect("a path").to_owned();
    assert_eq!(world.json(&["screenshot", "-o", "_"])["result"]["path"], path.as_str());
}

#[test]
fn b7_files_of_others_are_replaced_only_with_force() {
    let (world, site) = (World::new().with_whole_chromium(), FixtureSite::start());
    world.open(&[&site.page("/plain")]);
    let at = |name: &str| world.home().join(name);
    for (name, arguments) in [
        ("shot.png", &["screenshot", "-o", "shot.png"][..]),
        ("page.pdf", &["pdf", "-o", "page.pdf"]),
        ("state.json", &["state", "save", "state.json"]),
        ("plain.txt", &["download-file", "--url", "/download/plain.txt", "-o", "plain.txt"]),
    ] {
        fs::write(at(name), "mine").expect("written");
        let refused = world.run(&[&["--json"], arguments].concat());
        assert_eq!(refused.failure(), ("BAD_ARGS".to_owned(), 2), "{refused:?}");
        assert!(refused.json()["error"]["hint"].as_str().is_some_and(|hint| hint.contains("--force")));
        assert_eq!(fs::read_to_string(at(name)).expect("there"), "mine");
        world.run(&[arguments, &["--force"]].concat()).succeeded();
        assert_ne!(fs::read(at(name)).expect("there"), b"mine");
    }
    // Another session's file is a file of another.
    world.run(&["--session", "other", "open", &site.page("/plain")]).succeeded();
    let refused = world.run(&["--session", "other", "--json", "screenshot", "-o", "shot.png"]);
    assert_eq!(refused.failure(), ("BAD_ARGS".to_owned(), 2), "{refused:?}");
    for name in ["package.json", ".envrc", "sub/.git/config", "hooks/pre-commit"] {
        let refused = world.run(&["--json", "screenshot", "-o", name, "--force"]);
        assert_eq!(refused.failure(), ("POLICY_DENIED".to_owned(), 3), "{name}: {refused:?}");
    }
}
