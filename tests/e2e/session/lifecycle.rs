//! Sessions by name: start, stop, list, rename, delete, and options that differ.

use crate::support::process::is_running;
use crate::support::wait::eventually;
use crate::support::world::World;

#[test]
fn a_session_starts_reports_its_status_and_stops() {
    let world = World::new();
    let before = world.json(&["session", "status"]);
    assert_eq!(before["result"]["active"], false, "{before}");
    let started = world.json(&["session", "start"]);
    assert_eq!(started["result"]["cdp_url_command"], "tabwire cdp-url --session default");
    let status = &started["result"];
    assert_eq!((&status["active"], &status["ownership"]), (&true.into(), &"launched".into()), "{started}");
    assert!(status["endpoint"].as_str().is_some_and(|endpoint| endpoint.starts_with("ws://127.0.0.1:")));
    let browser = world.pid("browser_pid");
    assert!(is_running(browser));

    world.run(&["navigate", "data:text/html,<title>one</title><h1>Hello</h1>"]).succeeded();
    let shot = world.home().join("test.png");
    world.run(&["screenshot", "--output", &shot.display().to_string()]).succeeded();
    assert!(shot.exists());
    assert!(world.run(&["get-text", "h1"]).succeeded().text().contains("Hello"));
    assert_eq!(world.pid("browser_pid"), browser, "one browser serves all commands");
    let status = world.json(&["session", "status"])["result"].clone();
    assert!(status["memory_bytes"].as_u64().is_some_and(|bytes| bytes > 10_000_000), "{status}");
    assert!(
        status["tabs"] == 1 && status["browser_pid"] == browser && status["uptime_seconds"].is_u64(),
        "{status}"
    );

    let stopped = world.json(&["session", "stop"]);
    assert_eq!(stopped["result"]["stopped"], true);
    eventually("the browser ends", 10, || !is_running(browser));
    let after = world.json(&["session", "status"])["result"].clone();
    assert_eq!((&after["active"], &after["state"]), (&false.into(), &"stopped".into()));
    assert_eq!(world.json(&["session", "stop"])["result"]["stopped"], false, "stopping twice is no error");
}

#[test]
fn sessions_are_listed_renamed_and_deleted() {
    let world = World::new();
    world.run(&["session", "start", "one", "--window", "700x500"]).succeeded();
    world.run(&["session", "start", "two"]).succeeded();
    let names = |arguments: &[&str]| -> Vec<String> {
        let list = world.json(&[&["session", "list"], arguments].concat());
        let list = list["sessions"].as_array().expect("a list").clone();
        list.iter()
            .map(|each| format!("{}:{}", each["name"].as_str().unwrap_or("?"), each["active"]))
            .collect()
    };
    assert_eq!(names(&[]), ["one:true", "two:true"]);
    let table = world.run(&["session", "list"]).succeeded();
    assert!(table.text().starts_with("SESSION") && table.text().contains("launched"), "{}", table.text());

    world.run(&["--session", "one", "open", "data:text/html,<title>first</title>"]).succeeded();
    let pid = |name: &str| world.json(&["session", "status", name])["result"]["browser_pid"].clone();
    let browser = pid("one");
    let address = |name: &str| world.run(&["--session", name, "cdp-url"]).succeeded().text().to_owned();
    let before = address("one");
    // A command has used the new name before the rename.
    world.run(&["--session", "uno", "context", "show"]).succeeded();
    world.run(&["session", "rename", "one", "uno"]).succeeded();
    assert_eq!(address("uno"), before, "its CDP URL stays");
    assert_eq!(names(&[]), ["two:true", "uno:true"]);
    assert_eq!(pid("uno"), browser, "its browser keeps running");
    assert_eq!(world.run(&["--session", "uno", "eval", "document.title"]).succeeded().text(), "first");
    let taken = world.run(&["--json", "session", "rename", "uno", "two"]);
    assert_eq!(taken.failure(), ("BUSY".to_owned(), 1));

    world.run(&["session", "stop", "uno"]).succeeded();
    assert_eq!(names(&[]), ["two:true", "uno:false"], "stopped sessions are listed");
    world.run(&["--session", "uno", "open", "about:blank"]).succeeded();
    assert_eq!(
        world.run(&["--session", "uno", "eval", "innerWidth"]).succeeded().text(),
        "700",
        "its options are kept"
    );
    world.run(&["session", "delete", "uno"]).succeeded();
    assert_eq!(names(&[]), ["two:true"]);
    let missing = world.run(&["--json", "session", "stop", "uno"]);
    assert_eq!(missing.failure(), ("NO_BACKEND".to_owned(), 1));
    world.run(&["session", "stop", "--all"]).succeeded();
    assert_eq!(names(&[]), ["two:false"]);
}

#[test]
fn differing_options_are_named_and_restart_applies_them() {
    let world = World::new();
    world.open(&["--window", "700x500", "data:text/html,<title>kept</title>"]);
    let browser = world.pid("browser_pid");
    let refused = world.run(&["--json", "snapshot", "--headed", "--window", "800x600"]);
    assert_eq!(refused.failure(), ("BAD_ARGS".to_owned(), 2));
    let error = refused.json()["error"].clone();
    assert_eq!(error["details"]["options"], serde_json::json!(["--headed", "--window"]), "{error}");
    assert!(
        error["message"].as_str().is_some_and(|text| text.contains("700x500") && text.contains("800x600"))
    );
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("--restart")), "{error}");
    assert_eq!(world.pid("browser_pid"), browser, "nothing was restarted");

    world.run(&["snapshot", "--window", "800x600", "--restart"]).succeeded();
    assert_ne!(world.pid("browser_pid"), browser);
    assert_eq!(world.eval("`${innerWidth} ${document.title}`"), "800 kept", "with the same tabs");
    world.run(&["session", "restart"]).succeeded();
    assert_eq!(world.eval("`${innerWidth} ${document.title}`"), "800 kept");
    world.run(&["snapshot", "--headless"]).succeeded();
}

#[test]
fn pages_without_a_window_have_1280_by_720_pixels() {
    let world = World::new().with_whole_chromium();
    let size = || world.eval("`${innerWidth}x${innerHeight}`");
    world.open(&["data:text/html,<title>usual</title>"]);
    assert_eq!(size(), "1280x720");
    world.run(&["tab-new", "about:blank"]).succeeded();
    assert_eq!(size(), "1280x720");
    world.run(&["emulate", "--viewport", "640x480", "--scale", "2"]).succeeded();
    assert_eq!(size(), "640x480");
    world.run(&["emulate", "--reset"]).succeeded();
    assert_eq!(size(), "1280x720");
    assert_eq!(world.eval("devicePixelRatio"), "1");
}

#[test]
fn pages_see_the_sessions_viewport() {
    let world = World::new();
    world.open(&["--viewport", "412x900", "data:text/html,<title>small</title>"]);
    assert_eq!(world.eval("`${innerWidth}x${innerHeight}`"), "412x900");
    world.run(&["tab-new", "about:blank"]).succeeded();
    assert_eq!(world.eval("`${innerWidth}x${innerHeight}`"), "412x900");
}

#[test]
fn context_is_an_alias_of_session() {
    let world = World::new();
    world.run(&["--context", "a", "open", "data:text/html,<title>a</title>"]).succeeded();
    world.run(&["--context", "b", "open", "data:text/html,<title>b</title>"]).succeeded();
    let pid = |name: &str| world.json(&["session", "status", name])["result"]["browser_pid"].clone();
    assert_ne!(pid("a"), pid("b"), "separate browsers");
    let record = |name: &str| {
        let record = world.json(&["session", "status", name])["result"]["record"].clone();
        std::fs::read_to_string(record.as_str().expect("a file")).expect("readable")
    };
    assert!(
        record("a").contains("\"instance\"")
            && record("a").contains("\"process\"")
            && record("a").contains("\"options_digest\"")
    );
}
