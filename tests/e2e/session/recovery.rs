//! Lost browsers: the next command starts a new one, reopens the tabs and reports what is lost.

use crate::support::fixture_site::FixtureSite;
use crate::support::process::{is_running, kill};
use crate::support::wait::eventually;
use crate::support::world::World;

#[test]
fn a_killed_browser_is_restarted_with_its_tabs() {
    let (world, site) = (World::new(), FixtureSite::start());
    let first = world.open(&[&site.url("a", "/plain")]);
    world.run(&["tab-new", &site.url("a", "/form")]).succeeded();
    world.run(&["eval", "location.hash = 'deep'"]).succeeded();
    let record = world.home().join("state/sessions");
    eventually("the browser has saved the page's state", 10, || {
        walk(&record)
            .iter()
            .any(|file| std::fs::read_to_string(file).is_ok_and(|text| text.contains("#deep")))
    });
    let browser = world.pid("browser_pid");
    world.expect_litter();
    kill(browser);
    eventually("it is gone", 10, || !is_running(browser));
    // A command before the daemon has noticed the kill would fail with `OUTCOME_UNKNOWN`.
    eventually("the daemon has noticed", 10, || world.log().contains("the hub ends"));

    let response = world.json(&["get", "url"]);
    assert_eq!(response["recovered"], true, "{response}");
    let recovery = &response["recovery"];
    assert_eq!(recovery["tabs"].as_array().map(Vec::len), Some(2), "{recovery}");
    assert_eq!(recovery["state_restored"], false);
    assert!(recovery["lost"].to_string().contains("temporary profile"), "{recovery}");
    assert_eq!(
        response["result"]["value"],
        site.url("a", "/form#deep"),
        "the current tab is the same: {response}"
    );
    assert_eq!(recovery["tabs"][0]["was"], first.as_str());
    let stale = world.run(&["--json", "get", "url", "--tab", &first]);
    assert_eq!(stale.failure().0, "STALE_TAB");
    assert_eq!(world.json(&["get", "url"])["recovered"], serde_json::Value::Null, "it is reported once");
}

#[test]
fn saved_state_is_restored_and_survives_a_failed_restore() {
    let (world, site) = (World::new(), FixtureSite::start());
    let secret = world.home().join("passphrase");
    std::fs::write(&secret, "correct horse\n").expect("written");
    let path = secret.display().to_string();
    let options = ["--save-state", "--state-passphrase-file", path.as_str()];
    world.open(&[&options[..], &[&site.url("a", "/storage")]].concat());
    world.eval("document.cookie = 'login=yes; max-age=9999'; localStorage.setItem('k', 'kept'); 1");
    world.run(&["session", "stop"]).succeeded();
    let state = walk(&world.home().join("state/sessions"))
        .into_iter()
        .find(|file| file.extension().is_some_and(|end| end == "state"));
    let state = state.expect("a saved state");
    let saved = std::fs::read(&state).expect("readable");
    assert!(!String::from_utf8_lossy(&saved).contains("kept"), "it is encrypted");

    // The wrong passphrase is reported, and the saved state survives the next stop.
    std::fs::write(&secret, "wrong\n").expect("written");
    world.open(&[&site.url("a", "/plain")]);
    assert_eq!(world.eval("document.cookie"), "");
    // Also when another daemon serves the browser by then.
    kill(world.daemon_pid());
    assert_eq!(world.eval("document.cookie"), "");
    world.run(&["session", "stop"]).succeeded();
    assert_eq!(std::fs::read(&state).expect("readable"), saved, "the saved state is unchanged");

    std::fs::write(&secret, "correct horse\n").expect("written");
    world.open(&[&site.url("a", "/plain")]);
    assert_eq!(world.eval("`${document.cookie} ${localStorage.getItem('k')}`"), "login=yes kept");
    world.expect_litter();
    kill(world.pid("browser_pid"));
    eventually("the daemon knows", 10, || world.json(&["session", "status"])["result"]["active"] == false);
    let response = world.json(&["eval", "document.cookie"]);
    assert_eq!(
        (&response["recovered"], &response["recovery"]["state_restored"]),
        (&true.into(), &true.into()),
        "{response}"
    );
    assert_eq!(response["result"]["value"], "login=yes");
}

#[test]
fn a_browser_is_up_longer_than_the_daemon_after_it() {
    let world = World::new();
    world.open(&["about:blank"]);
    let seconds = |status: &serde_json::Value| status["uptime_seconds"].as_u64().expect("a number");
    eventually("the browser is up for 2 s", 20, || seconds(&world.json(&["status"])["sessions"][0]) >= 2);
    kill(world.daemon_pid());
    world.run(&["eval", "1"]).succeeded();
    let status = world.json(&["status"]);
    let browser = seconds(&status["sessions"][0]);
    assert!(browser >= 2 && browser > seconds(&status), "{status}");
}

#[test]
fn the_next_command_recovers_from_a_lost_daemon_and_browser() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.open(&[&site.url("a", "/plain")]);
    let (daemon, keeper, browser) = (world.daemon_pid(), world.pid("keeper_pid"), world.pid("browser_pid"));
    world.expect_litter();
    for process in [daemon, keeper, browser] {
        kill(process);
    }
    eventually("all are gone", 10, || [daemon, keeper, browser].iter().all(|pid| !is_running(*pid)));
    let listed = world.json(&["session", "list"])["sessions"][0].clone();
    assert_eq!(listed["active"], false, "{listed}");
    assert!(listed["state"].as_str().is_some_and(|state| state.contains("gone")), "{listed}");
    let response = world.json(&["get", "url"]);
    assert_eq!(response["recovered"], true, "{response}");
    assert_eq!(response["result"]["value"], site.url("a", "/plain"));
}

#[test]
fn a_crashed_tab_is_marked_and_reloaded_on_request() {
    let world = World::new();
    let tab = world.open(&["data:text/html,<title>crashes</title>"]);
    crate::faults::browser::crash(&world, "crashes");
    eventually("it is marked", 10, || {
        world.json(&["session", "status"])["result"]["crashed_tabs"] == serde_json::json!([tab])
    });
    world.run(&["reload", "--tab", &tab]).succeeded();
    assert_eq!(world.run(&["get", "title", "--tab", &tab]).succeeded().text(), "crashes");
    assert_eq!(world.json(&["session", "status"])["result"]["crashed_tabs"], serde_json::Value::Null);
}

/// Every file below a directory.
fn walk(directory: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .flat_map(|entry| if entry.path().is_dir() { walk(&entry.path()) } else { vec![entry.path()] })
        .collect()
}
