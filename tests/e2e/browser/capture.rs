//! Captures on the command line: files, measurements and comparisons.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::either_browser::launched;
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

fn path_in(response: &Value, name: &str) -> PathBuf {
    PathBuf::from(response["result"][name].as_str().unwrap_or_else(|| panic!("{name} in {response}")))
}

#[test]
fn captures_of_actions_contain_no_secrets() {
    launched(save_captures);
}

pub(crate) fn save_captures(world: &World, site: &FixtureSite) {
    world.open(&[&site.page("/login")]);
    let once = world.run(&["--json", "fill", "#user", "alice", "--capture"]).succeeded();
    assert!(once.stdout.contains("0001-fill") || once.stderr.contains("0001-fill"), "{once:?}");
    let on = world.json(&["capture", "on", "--directory", "evidence"]);
    let place = path_in(&on, "directory");
    assert!(place.ends_with("evidence"), "{on}");
    world.run(&["fill", "#password", "CANARY93"]).succeeded();
    world.run(&["--timeout", "300ms", "click", "#absent"]);
    let off = world.run(&["capture", "off"]).succeeded();
    assert!(off.stdout.contains('2'), "{off:?}");
    let index = fs::read_to_string(place.join("index.jsonl")).expect("an index");
    let lines: Vec<Value> = index.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 2, "{index}");
    assert_eq!((&lines[0]["ok"], &lines[1]["error"]["code"]), (&true.into(), &"SELECTOR_NOT_FOUND".into()));
    let names = world.files("evidence");
    let first =
        lines[0]["files"][0].as_str().and_then(|name| name.split('.').next()).expect("a file").to_owned();
    for ending in ["png", "md", "html", "console.txt", "delta.txt"] {
        assert!(names.contains(&format!("{first}.{ending}")), "{ending} in {names:?}");
    }
    for name in names {
        let content = fs::read(place.join(&name)).expect("readable");
        assert!(!content.windows(8).any(|part| part == b"CANARY93"), "{name}");
    }
    assert!(fs::read(place.join(format!("{first}.png"))).expect("there").starts_with(b"\x89PNG"));
}

#[test]
fn a_tab_is_recorded_traced_and_measured() {
    launched(record_trace_and_measure);
}

pub(crate) fn record_trace_and_measure(world: &World, site: &FixtureSite) {
    world.open(&[&site.page("/plain")]);
    let begun = world.run(&["record", "start", "--format", "webp", "-o", "story.webp"]).succeeded();
    assert!(begun.stdout.contains("`stop`"), "{begun:?}");
    world.run(&["click", "#count", "--then", "click", "#count"]).succeeded();
    let recorded = world.json(&["record", "stop"]);
    assert_eq!(recorded["result"]["format"], "webp", "{recorded}");
    assert!(fs::read(world.home().join("story.webp")).expect("written").starts_with(b"RIFF"));
    let over = world.run(&["--json", "record", "stop"]);
    assert_eq!(over.failure(), ("NOT_ACTIONABLE".to_owned(), 1), "{over:?}");

    world.run(&["trace", "start"]).succeeded();
    world.open(&[&site.page("/vitals?milliseconds=10")]);
    world.run(&["wait-for", "#large"]).succeeded();
    let traced = world.run(&["trace", "stop", "-o", "trace.json"]).succeeded();
    assert!(traced.stdout.contains("trace.json") && traced.stdout.contains("LCP: "), "{traced:?}");
    let trace: Value =
        serde_json::from_slice(&fs::read(world.home().join("trace.json")).expect("written")).expect("JSON");
    assert!(trace["traceEvents"].as_array().is_some_and(|events| events.len() > 100));

    let output = world.run(&["vitals"]).succeeded();
    for word in ["LCP: ", "CLS: ", "INP: ", "TTFB: "] {
        assert!(output.stdout.contains(word), "{output:?}");
    }
    let data = world.json(&["vitals"]);
    assert!(data["result"]["lcp"]["value"].as_f64().is_some_and(|value| value > 0.0), "{data}");
}

#[test]
fn differences_to_a_baseline_are_listed_and_drawn() {
    launched(show_differences);
}

pub(crate) fn show_differences(world: &World, site: &FixtureSite) {
    world.open(&[&site.page("/plain")]);
    world.run(&["diff", "snapshot", "--save", "before.txt"]).succeeded();
    world.run(&["screenshot", "-o", "before.png"]).succeeded();
    assert_eq!(world.json(&["diff", "snapshot", "before.txt"])["result"]["same"], true);
    assert_eq!(world.json(&["diff", "screenshot", "before.png"])["result"]["same"], true);
    world.eval("document.querySelector('h1').textContent = 'Another heading'; document.body.style.background = 'yellow'");
    let text = world.run(&["diff", "snapshot", "before.txt"]).succeeded();
    assert!(text.stdout.contains("Another heading") && text.stdout.starts_with("<page "), "{text:?}");
    let drawn = world.json(&["diff", "screenshot", "before.png", "-o", "difference.png"]);
    assert_eq!(drawn["result"]["same"], false, "{drawn}");
    assert!(drawn["result"]["changed_pixels"].as_u64().is_some_and(|pixels| pixels > 1_000), "{drawn}");
    assert!(fs::read(world.home().join("difference.png")).expect("written").starts_with(b"\x89PNG"));
    let missing = world.run(&["--json", "diff", "screenshot", "nowhere.png"]);
    assert_eq!(missing.failure(), ("BAD_ARGS".to_owned(), 2), "{missing:?}");
}
