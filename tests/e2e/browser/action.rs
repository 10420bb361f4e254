//! Actions one by one, joined, in batches, over HTTP, with files and notices.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::either_browser::launched;
use crate::support::fixture_site::FixtureSite;
use crate::support::world::{World, wait};

#[test]
fn a_page_is_read_and_acted_on_by_ref() {
    launched(act_by_ref);
}

pub(crate) fn act_by_ref(world: &World, site: &FixtureSite) {
    world.open(&[&site.page("/form")]);
    let seen = world.run(&["snapshot"]).succeeded();
    assert!(seen.stdout.starts_with("<page ") && seen.stdout.trim_end().ends_with('>'), "{seen:?}");
    let tree = world.json(&["snapshot"]);
    assert!(tree["result"]["nodes"].is_array(), "{tree}");
    world.open(&[&site.page("/plain")]);
    let seen = world.run(&["snapshot"]).succeeded();
    let line = seen.stdout.lines().find(|line| line.contains("button")).expect("a button").to_owned();
    let name = line.split('[').nth(1).and_then(|rest| rest.split(']').next()).expect("a ref").to_owned();
    let clicked = world.run(&["click", &name, "--snapshot"]).succeeded();
    assert!(clicked.stdout.starts_with("clicked button") && clicked.stdout.contains("<page "), "{clicked:?}");
    world.open(&[&site.page("/form")]);
    assert_eq!(world.run(&["--json", "click", &name]).failure(), ("REF_EXPIRED".to_owned(), 1));
}

#[test]
fn one_command_line_runs_several_actions() {
    launched(act_in_one_line);
}

pub(crate) fn act_in_one_line(world: &World, site: &FixtureSite) {
    let page = site.page("/plain");
    let line =
        ["open", &page, "--then", "click", "#count", "--then", "click", "#count", "--then", "eval", "1+1"];
    let done = world.run(&line).succeeded();
    assert!(done.stdout.ends_with("\n2\n") && done.stdout.matches("clicked button").count() == 2, "{done:?}");
    let stopped = world.run(&["--json", "click", "#none", "--timeout", "200ms", "--then", "eval", "1"]);
    assert_eq!(stopped.failure(), ("SELECTOR_NOT_FOUND".to_owned(), 1), "the first failure ends it");
    assert_eq!(world.run(&["eval", "1", "--then", "status"]).code, 2);
}

#[test]
fn a_batch_prints_one_result_per_line() {
    launched(act_in_batches);
}

pub(crate) fn act_in_batches(world: &World, site: &FixtureSite) {
    world.open(&[&site.page("/plain")]);
    let lines = [
        json!({"action": "click", "params": {"target": "#count"}}).to_string(),
        json!({"action": "click", "params": {"target": "#none"}, "timeout_ms": 100}).to_string(),
        "not JSON".to_owned(),
        json!({"action": "../status"}).to_string(),
        json!({"action": "dance"}).to_string(),
        json!({"action": "eval", "params": {"expression": "document.querySelector('#output').textContent"}})
            .to_string(),
    ];
    let responses = batch(world, &["batch"], &lines.join("\n"));
    assert_eq!(responses.0, 2, "the last failure's code");
    let codes: Vec<Option<&str>> =
        responses.1.iter().map(|response| response["error"]["code"].as_str()).collect();
    let expected = [
        None,
        Some("SELECTOR_NOT_FOUND"),
        Some("BAD_ARGS"),
        Some("UNKNOWN_METHOD"),
        Some("UNKNOWN_METHOD"),
        None,
    ];
    assert_eq!(codes, expected, "{responses:?}");
    assert!(
        responses.1[5]["result"]["value"].as_str().is_some_and(|text| text.contains('1')),
        "{responses:?}"
    );
    let bailed = batch(world, &["batch", "--bail"], &lines.join("\n"));
    assert_eq!((bailed.0, bailed.1.len()), (1, 2), "{bailed:?}");
}

pub(crate) fn batch(world: &World, arguments: &[&str], input: &str) -> (i32, Vec<Value>) {
    let mut command = world.command(env!("CARGO_BIN_EXE_tabwire"), arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("starts");
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(input.as_bytes()).expect("written");
    drop(stdin);
    let outcome = wait(child, arguments);
    let responses =
        outcome.stdout.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect();
    (outcome.code, responses)
}

#[test]
fn misspelt_parameters_and_actions_are_errors() {
    let world = World::new();
    world.open(&["about:blank"]);
    let lines = [
        json!({"action": "click", "params": {"targte": "#x"}}).to_string(),
        json!({"action": "click"}).to_string(),
        json!({"action": "click", "params": {"target": 3}}).to_string(),
    ];
    let (_, responses) = batch(&world, &["batch"], &lines.join("\n"));
    for response in &responses {
        assert_eq!(response["error"]["code"], "BAD_ARGS", "{response}");
    }
    assert!(
        responses[0]["error"]["hint"].as_str().is_some_and(|hint| hint.contains("target")),
        "{responses:?}"
    );
    assert_eq!(world.run(&["click"]).code, 2);
    assert_eq!(world.run(&["clik", "e1"]).code, 2);
}

#[test]
fn a_click_that_opens_an_alert_returns_at_once_and_reports_it() {
    launched(open_an_alert);
}

pub(crate) fn open_an_alert(world: &World, site: &FixtureSite) {
    world.open(&[&site.page("/dialogs/sources")]);
    let clicked = world.json(&["click", "#alert", "--nth", "1"]);
    assert_eq!(clicked["result"]["dialog"]["kind"], "alert", "{clicked}");
    assert_eq!(world.run(&["--json", "snapshot"]).failure(), ("DIALOG_OPEN".to_owned(), 1));
    world.run(&["dialog", "accept"]).succeeded();
    let again = world.run(&["--json", "dialog", "accept"]);
    assert_eq!(again.failure().0, "NOT_ACTIONABLE");
    world.run(&["snapshot"]).succeeded();
    // A page without frames, because `World` expects one CDP session per tab at the end.
    world.open(&[&site.page("/plain")]);
}

#[test]
fn b11_the_http_api_works_as_its_page_says() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.open(&[&site.page("/plain")]);
    let page = include_str!("../../../docs/batches.md");
    assert!(page.contains("Host: tabwire.local") && page.contains("http://tabwire.local/v1/actions"));
    let get = |host: &str| {
        world.http(&format!("GET /v1/actions HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"))
    };
    let (status, body) = get("tabwire.local");
    assert!(status.contains("200"), "{status}");
    let listed: Value = serde_json::from_str(&body).expect("JSON");
    let names: Vec<&str> =
        listed.as_array().expect("a list").iter().filter_map(|one| one["name"].as_str()).collect();
    let known = tabwire_engine::ACTIONS.iter().chain(tabwire_engine::SESSION_ACTIONS);
    for action in known {
        assert!(names.contains(&action.name), "{} is not listed", action.name);
    }
    let body = json!({"session": "default", "params": {"what": "title"}}).to_string();
    let (status, body) = world.http(&format!(
        "POST /v1/actions/get HTTP/1.1\r\nHost: tabwire.local\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    ));
    assert!(status.contains("200") && body.contains("Plain page"), "{status} {body}");
    let (status, body) = get("localhost");
    assert!(status.contains("403") && body.contains("`tabwire.local`"), "the hint names the host: {body}");
}
