//! Several sessions at once, their options, and browsers that cannot start.

use crate::support::world::World;

#[test]
fn sessions_have_separate_browsers() {
    let world = World::new();
    world.open(&["data:text/html,<title>one</title>"]);
    world.run(&["--session", "two", "open", "data:text/html,<title>two</title>"]).succeeded();
    assert_eq!(world.eval("document.title"), "one");
    assert_eq!(world.run(&["--session", "two", "eval", "document.title"]).succeeded().text(), "two");
    let status = world.json(&["status"]);
    let names: Vec<_> =
        status["sessions"].as_array().expect("a list").iter().map(|each| &each["name"]).collect();
    assert_eq!(names, ["default", "two"]);
    assert_ne!(status["sessions"][0]["browser_pid"], status["sessions"][1]["browser_pid"]);
    world.run(&["close"]).succeeded();
    assert_eq!(world.run(&["--session", "two", "eval", "1"]).succeeded().text(), "1");
    let missing = world.run(&["--json", "--session", "never", "close"]);
    assert_eq!(missing.failure(), ("NO_BACKEND".to_owned(), 1));
}

#[test]
fn the_session_variable_chooses_the_session() {
    let world = World::new().with("TABWIRE_SESSION", "named");
    world.open(&["about:blank"]);
    assert_eq!(world.json(&["status"])["sessions"][0]["name"], "named");
    assert_eq!(world.json(&["tabs"])["session"], "named");
}

#[test]
fn options_that_differ_from_a_running_session_are_refused() {
    let world = World::new();
    world.open(&["--window", "700x500", "about:blank"]);
    assert_eq!(world.eval("innerWidth"), "700");
    for options in [&["--window", "800x600"][..], &["--profile", "other"], &["--proxy", "http://127.0.0.1:9"]]
    {
        let outcome = world.run(&[&["--json", "open", "about:blank"], options].concat());
        assert_eq!(outcome.failure(), ("BAD_ARGS".to_owned(), 2), "{options:?}: {outcome:?}");
        assert!(outcome.stdout.contains("--restart"), "{outcome:?}");
    }
    world.open(&["--window", "700x500", "about:blank"]);
    world.open(&["about:blank"]);
    assert_eq!(world.number("tabs"), 1, "nothing was opened by the refused commands");
}

#[test]
fn browser_flags_are_passed_on_and_dangerous_ones_refused() {
    let world = World::new();
    let refused = world.run(&["--json", "open", "--browser-arg=--disable-web-security", "about:blank"]);
    assert_ne!(refused.code, 0, "{refused:?}");
    assert!(refused.stdout.contains("--disable-web-security"), "{refused:?}");
    assert!(world.browser_processes().is_empty());
    world.open(&["--browser-arg=--user-agent=Tabwire-Test", "about:blank"]);
    assert_eq!(world.eval("navigator.userAgent"), "Tabwire-Test");
}

#[test]
fn a_missing_browser_fails_with_no_backend() {
    let world = World::new().with("TABWIRE_BROWSER", "/nonexistent");
    for command in [&["open", "about:blank"][..], &["eval", "1"], &["cdp-url"], &["demo", "--yes"]] {
        let outcome = world.run(&[&["--json"], command].concat());
        assert_eq!(outcome.failure(), ("NO_BACKEND".to_owned(), 1), "{command:?}: {outcome:?}");
        assert!(outcome.stdout.contains("/nonexistent"), "{outcome:?}");
    }
    let findings = world.run(&["--json", "doctor"]).json();
    assert_eq!(findings["findings"][0]["verdict"], "wrong", "{findings}");
    assert_eq!(world.run(&["doctor"]).code, 1);
}

#[test]
fn a_failed_launch_quotes_the_programs_output() {
    let world = World::new();
    let program = world.home().join("no-browser");
    std::fs::write(&program, "#!/bin/sh\necho 'libnothing.so is missing' >&2\nexit 127\n").expect("written");
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("executable");
    let outcome = world.run(&["--json", "open", "--browser", &program.display().to_string(), "about:blank"]);
    assert_eq!(outcome.failure(), ("LAUNCH_FAILED".to_owned(), 1));
    assert!(outcome.stdout.contains("libnothing.so is missing"), "{outcome:?}");
    assert_eq!(world.files("runtime/browsers"), [""; 0]);
}

#[test]
fn a_home_with_a_long_path_is_explained() {
    let world = World::new();
    let deep = world.home().join("d".repeat(90));
    std::fs::create_dir(&deep).expect("a directory");
    let mut command = world.command(env!("CARGO_BIN_EXE_tabwire"), &["--json", "open", "about:blank"]);
    let child = command.env("TABWIRE_HOME", &deep).spawn().expect("started");
    let outcome = crate::support::world::wait(child, &["open"]);
    assert_eq!(outcome.code, 2, "{outcome:?}");
    let error = outcome.json()["error"].clone();
    let words = format!("{} {}", error["message"], error["hint"]);
    assert!(words.contains("long") && words.contains("TABWIRE_HOME"), "{words}");
    let mut command = world.command(env!("CARGO_BIN_EXE_tabwire"), &["--json", "doctor"]);
    let child = command.env("TABWIRE_HOME", &deep).spawn().expect("started");
    let findings = crate::support::world::wait(child, &["doctor"]).json();
    let wrong = findings["findings"].as_array().expect("findings").iter().any(|finding| {
        finding["code"] == "socket-path" && finding["verdict"] == "wrong" && finding["remedy"].is_string()
    });
    assert!(wrong, "{findings}");
}
