//! The line of a dashboard: holds of one agent, memory of browsers, and the events of the log.

use serde_json::json;

use crate::mcp::client::McpClient;
use crate::support::dashboard_socket::DashboardKey;
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

#[test]
fn one_agent_is_paused_and_stopped_and_its_hold_is_listed() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.run(&["open", &site.page("/plain")]).succeeded();
    let mut agent = McpClient::start_as(&world, "codex", &["--session", "default", "--policy", "open"]);
    agent.text("snapshot", json!({}));
    let mut line = DashboardKey::new(&world).line(None);
    let scope = json!({"agent": "Codex"});
    let paused = line.request(&json!({"name": "pause", "scope": scope}));
    assert_eq!(paused["result"]["holds"], json!([[scope, "paused"]]), "{paused}");
    line.find("the hold in the state", |message| {
        (message["state"]["holds"] == json!([[scope, "paused"]])).then_some(())
    });
    let clients = line.request(&json!({"name": "clients"}))["result"]["clients"].clone();
    let listed =
        clients.as_array().into_iter().flatten().find(|one| one["kind"] == "mcp").expect("the agent");
    assert_eq!((&listed["agent"], &listed["hold"]), (&json!("Codex"), &json!("paused")), "{listed}");
    let as_codex = ["--json", "--as", "codex", "eval", "1", "--timeout", "500ms"];
    assert_eq!(world.run(&as_codex).failure(), ("PAUSED".to_owned(), 1));
    world.run(&["--as", "claude", "eval", "1"]).succeeded();
    let stopped = line.request(&json!({"name": "stop", "scope": scope}));
    assert_eq!(stopped["result"]["holds"], json!([[scope, "stopped"]]), "{stopped}");
    let as_codex = ["--json", "--as", "codex", "eval", "1", "--timeout", "60s"];
    assert_eq!(world.run(&as_codex).failure().0, "PAUSED", "at once");
    line.request(&json!({"name": "resume", "scope": scope}));
    line.find("no hold", |message| (message["state"]["holds"] == json!([])).then_some(()));
    world.run(&["--as", "codex", "eval", "1"]).succeeded();
    let wrong = line.request(&json!({"name": "pause", "scope": {"agent": "a", "session": "b"}}));
    assert_eq!(wrong["error"]["code"], "BAD_ARGS", "{wrong}");
    let log = world.run(&["log", "--json", "--action", "pause"]).succeeded();
    assert!(log.text().contains(r#""agent":"Codex""#), "{log:?}");
    agent.close();
}

#[test]
fn the_state_has_the_memory_of_browsers_and_the_line_knows_a_new_log() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.run(&["open", &site.page("/plain")]).succeeded();
    let key = DashboardKey::new(&world);
    let mut line = key.line(None);
    let bytes =
        line.find("the browser's memory", |message| message["state"]["sessions"][0]["memory_bytes"].as_u64());
    assert!(bytes > 10_000_000, "{bytes}");
    // A page that has rows of another log starts again.
    let mut other = key.line(Some(1_000_000));
    other.find("a new beginning", |message| (message["type"] == "reset").then_some(()));
    let rows = other.find("the rows", |message| message["rows"].as_array().cloned());
    assert_eq!(rows[0]["number"], 1, "from the first row");
    // New rows come without a gap.
    let last = rows.last().expect("a row")["number"].as_i64().expect("a number");
    world.run(&["eval", "1"]).succeeded();
    let next = other.find("the next row", |message| message["rows"][0]["number"].as_i64());
    assert_eq!(next, last + 1);
}

#[test]
fn sessions_of_equal_name_in_two_projects_are_separate() {
    let (world, site) = (World::new(), FixtureSite::start());
    for project in ["one", "two"] {
        std::fs::create_dir(world.home().join(project)).expect("a folder");
        std::fs::write(world.home().join(project).join("tabwire.toml"), "").expect("a project");
        world.run_in(project, &["open", &site.page("/plain")]).succeeded();
    }
    world.run_in("two", &["eval", "1"]).succeeded();
    let mut line = DashboardKey::new(&world).line(None);
    let names = line.request(&json!({"name": "row_names"}))["result"]["session_keys"].clone();
    let keys = names.as_array().expect("sessions");
    assert_eq!(keys.iter().filter(|key| key["name"] == "default").count(), 2, "{names}");
    let mut counts = Vec::new();
    for key in keys.iter().filter(|key| key["name"] == "default") {
        let rows = line.request(&json!({"name": "rows", "session": "default", "project": key["project"]}));
        let rows = rows["result"]["rows"].as_array().expect("rows").clone();
        assert!(rows.iter().all(|row| row["session"] == *key), "{key}");
        counts.push(rows.iter().filter(|row| row["action"] == "eval").count());
        let export =
            line.request(&json!({"name": "export", "session": "default", "project": key["project"]}));
        let html = export["result"]["html"].as_str().expect("a page").to_owned();
        assert_eq!(html.contains("eval"), counts.last() == Some(&1), "{key}");
    }
    counts.sort_unstable();
    assert_eq!(counts, [0, 1]);
    // Rows from a number on, the oldest first to be read.
    let page = line.request(&json!({"name": "rows", "after": 1, "limit": 1}))["result"].clone();
    assert_eq!((&page["rows"][0]["number"], &page["more"]), (&json!(2), &json!(true)), "{page}");
    for project in ["one", "two"] {
        world.run_in(project, &["close"]).succeeded();
    }
}
