//! Denials, grants and revocations, also across restarts.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use serde_json::Value;

use crate::support::fixture_site::FixtureSite;
use crate::support::process::kill;
use crate::support::wait::{eventually, find_eventually};
use crate::support::world::{World, wait};

/// A world whose sessions are guarded by default.
pub(crate) fn guarded() -> World {
    World::new().with("TABWIRE_POLICY", "guarded")
}

/// Grants as a user, without a terminal.
pub(crate) fn allow(world: &World, arguments: &[&str]) -> Value {
    world.json(&[&["allow"], arguments, &["--without-terminal"]].concat())
}

/// Revokes all grants and denials.
pub(crate) fn revoke_all(world: &World) {
    let entries = world.json(&["grants", "list"])["entries"].clone();
    for entry in entries.as_array().expect("a list") {
        let id = entry["id"].as_str().expect("an id");
        world.run(&["grants", "revoke", id, "--without-terminal"]).succeeded();
    }
}

/// The remedy of a refused command: the command that would allow it.
pub(crate) fn remedy(world: &World, arguments: &[&str]) -> String {
    let outcome = world.run(&[&["--json"], arguments].concat());
    assert_eq!(outcome.failure(), ("POLICY_DENIED".to_owned(), 3), "{arguments:?}: {outcome:?}");
    let error = outcome.json()["error"].clone();
    assert!(!error["hint"].as_str().unwrap_or_default().is_empty(), "{error}");
    error["details"]["remedy"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn t22_a_guarded_session_names_the_command_that_grants_the_rest() {
    let (world, site) = (guarded(), FixtureSite::start());
    let (page, origin) = (site.page("/form"), site.page("").trim_end_matches('/').to_owned());
    assert_eq!(remedy(&world, &["open", &page]), format!("tabwire allow {origin}"));
    let without = world.run(&["--json", "allow", &origin]);
    assert_eq!(without.failure(), ("POLICY_DENIED".to_owned(), 3), "an agent's shell is no terminal");
    allow(&world, &[&origin]);
    world.run(&["open", &page]).succeeded();
    world.run(&["get-text"]).succeeded();
    assert_eq!(remedy(&world, &["click", "body"]), format!("tabwire allow {origin} --act"));
    assert_eq!(remedy(&world, &["eval", "1"]), format!("tabwire allow {origin} --eval"));
    assert_eq!(remedy(&world, &["cookies"]), "tabwire allow '*' --act");
    assert_eq!(remedy(&world, &["state", "save", "x.json"]), "tabwire allow '*' --act");
    assert_eq!(
        remedy(&world, &["navigate", "http://169.254.169.254/latest"]),
        "tabwire allow http://169.254.169.254"
    );
    allow(&world, &[&origin, "--act", "--eval"]);
    assert_eq!(world.eval("1 + 1"), "2");
    world.run(&["click", "body"]).succeeded();

    // Any command can ask for `guarded`; none can be less strict than its session.
    world.run(&["--session", "free", "open", "--policy", "open", &site.url("b", "/plain")]).succeeded();
    let stricter = world.run(&["--json", "--session", "free", "get-text", "--policy", "guarded"]);
    assert_eq!(stricter.failure().0, "POLICY_DENIED", "{stricter:?}");
    let past = remedy(&world, &["--session", "free", "console", "--policy", "guarded"]);
    assert_eq!(past, "tabwire allow '*'", "state of an open session is not shown");
    let wider = world.run(&["--json", "get-text", "--policy", "open"]);
    assert_eq!(wider.failure().0, "BAD_ARGS", "{wider:?}");
    for loud in [&["--session", "free", "get-text", "--policy", "open", "--quiet"][..], &["status"]] {
        let outcome = world.run(loud).succeeded();
        assert!(outcome.stderr.contains("POLICY OPEN"), "{outcome:?}");
    }
    let log = world.run(&["--json", "log"]).succeeded();
    let rows: Vec<&str> = log.stdout.lines().collect();
    let denied = rows.iter().find(|row| row.contains("POLICY_DENIED") && row.contains("\"eval\""));
    assert!(denied.is_some_and(|row| row.contains("policy guarded")), "{rows:#?}");
}

#[test]
fn grants_survive_a_restart_and_end_by_time_session_or_revocation() {
    let (world, site) = (guarded(), FixtureSite::start());
    let origin = |name: &str| site.url(name, "").trim_end_matches('/').to_owned();
    allow(&world, &[&origin("a")]);
    world.run(&["open", &site.url("a", "/plain")]).succeeded();
    kill(world.daemon_pid());
    world.run(&["get-text"]).succeeded();
    let listed = world.run(&["grants"]).succeeded();
    assert!(listed.text().contains(&origin("a")), "`grants` alone lists them: {listed:?}");
    let mode = fs::metadata(world.home().join("state/grants.json")).expect("a file");
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode.permissions()) & 0o777, 0o600);

    world.run(&["grants", "revoke", &origin("a"), "--without-terminal"]).succeeded();
    assert_eq!(remedy(&world, &["get-text"]), format!("tabwire allow {}", origin("a")));

    allow(&world, &[&origin("a"), "--for", "2s"]);
    world.run(&["get-text"]).succeeded();
    eventually("the grant ends", 10, || world.run(&["get-text"]).code == 3);

    allow(&world, &[&origin("a"), "--for", "session"]);
    world.run(&["get-text"]).succeeded();
    assert_eq!(world.run(&["--session", "other", "open", &site.url("a", "/plain")]).code, 3);
    world.run(&["session", "stop"]).succeeded();
    assert_eq!(world.json(&["grants", "list"])["entries"], serde_json::json!([]));

    // A denial overrides grants, in open sessions too, and its remedy is to revoke it.
    allow(&world, &[&origin("b"), "--act"]);
    world.run(&["deny", "b.localhost"]).succeeded();
    let denied = remedy(&world, &["open", "--policy", "open", &site.url("b", "/plain")]);
    assert!(denied.starts_with("tabwire grants revoke d"), "{denied}");
}

#[test]
fn t24_a_policy_that_cannot_be_read_stops_the_start_with_its_line() {
    let world = World::new();
    fs::create_dir_all(world.home().join("config")).expect("a directory");
    let file = world.home().join("config/policy.toml");
    fs::write(&file, "unlisted = \"deny\"\n\n[[rule]]\nsite = \"https://a.test\"\nallow = [\"reed\"]\n")
        .expect("written");
    let outcome = world.run(&["--json", "open"]);
    assert_eq!(outcome.failure(), ("POLICY_DENIED".to_owned(), 3));
    let message = outcome.json()["error"]["message"].to_string();
    assert!(
        message.contains("policy.toml") && message.contains("line 5") && message.contains("reed"),
        "{message}"
    );
    fs::write(&file, "unlisted = \"deny\"\n\n[[rule]]\nsite = \"https://a.test\"\nallow = [\"act\"]\n")
        .expect("written");
    let check = |url: &str, action: &str| {
        let response = world.json(&["policy", "check", url, action, "--policy", "guarded"]);
        let one = &response["decisions"][0];
        (
            response["decision"].as_str().expect("a word").to_owned(),
            one["decided_by"].as_str().expect("a rule").to_owned(),
        )
    };
    assert_eq!(check("a.test", "click"), ("allow".into(), "the rule on line 3 of policy.toml".into()));
    assert_eq!(check("a.test", "eval"), ("deny".into(), "the guarded policy".into()));
    assert_eq!(check("http://2852039166/", "read"), ("deny".into(), "a built-in rule".into()));
    assert_eq!(world.json(&["policy", "show"])["rules"][0]["allow"], serde_json::json!(["read", "act"]));
}

#[test]
fn t15_an_approval_needs_a_user_and_times_out_as_denied() {
    let (world, site) = (guarded(), FixtureSite::start());
    fs::create_dir_all(world.home().join("config")).expect("a directory");
    let rule = format!("[[rule]]\nsite = \"{}\"\nask = [\"all\"]\n", site.page("").trim_end_matches('/'));
    fs::write(world.home().join("config/policy.toml"), rule).expect("written");
    let page = site.page("/plain");
    let asked = |response: &str| {
        let arguments = ["--json", "--as", "shopper", "open", page.as_str()];
        let child = world.start(&arguments);
        let question = find_eventually(20, || {
            let pending = world.json(&["approvals"])["pending"].clone();
            pending.as_array().expect("a list").first().cloned()
        });
        let question = question.expect("an approval is requested");
        assert_eq!(
            (&question["action"], &question["capability"]),
            (&"open".into(), &"read".into()),
            "{question}"
        );
        assert!(question["who"].as_str().is_some_and(|who| who.contains("shopper")), "{question}");
        assert!(question["site"].as_str().is_some_and(|site| !site.contains("/plain")), "{question}");
        let id = question["id"].as_str().expect("an id");
        world.run(&["approvals", "answer", id, response, "--without-terminal"]).succeeded();
        wait(child, &arguments)
    };
    let refused = asked("no");
    assert_eq!(refused.failure(), ("POLICY_DENIED".to_owned(), 3));
    assert!(refused.stdout.contains("denied it"), "{refused:?}");
    asked("once").succeeded();
    assert!(world.json(&["grants", "list"])["entries"].as_array().is_some_and(Vec::is_empty));
    asked("session").succeeded();
    world.run(&["--as", "shopper", "open", &page]).succeeded();
    let late = world.run(&["--json", "approvals", "answer", "a1", "always", "--without-terminal"]);
    assert_eq!(late.failure().0, "BAD_ARGS");
}

#[test]
fn t15_a_user_at_a_terminal_grants_and_answers() {
    let (world, site) = (guarded(), FixtureSite::start());
    let binary = env!("CARGO_BIN_EXE_tabwire");
    let transcript = world.home().join("transcript").display().to_string();
    let line = format!("{binary} allow {}", site.url("b", ""));
    let shown = world.run_program("script", &["-qec", &line, &transcript]).succeeded();
    assert!(shown.stdout.contains("read allowed on http://b.localhost"), "{shown:?}");

    let line = format!("{binary} approvals");
    let mut person = world.command("script", &["-qec", &line, &transcript]);
    let mut person = person.stdin(Stdio::piped()).spawn().expect("it starts");
    let mut keys = person.stdin.take().expect("piped");
    let page = site.page("/plain");
    let arguments = ["--json", "open", page.as_str()];
    // Without a listening user, requests are denied at once.
    let asking = find_eventually(30, || {
        let child = world.start(&arguments);
        let pending =
            || world.json(&["approvals"])["pending"].as_array().is_some_and(|list| !list.is_empty());
        if find_eventually(3, || pending().then_some(())).is_some() {
            return Some(child);
        }
        assert_eq!(wait(child, &arguments).code, 3);
        None
    });
    keys.write_all(b"s\n").expect("typed");
    wait(asking.expect("an approval is requested"), &arguments).succeeded();
    let granted = world.json(&["grants", "list"])["entries"].to_string();
    assert!(granted.contains("an approval") && granted.contains("a.localhost"), "{granted}");
    keys.write_all(b"\x03").expect("typed");
    let output = wait(person, &["approvals"]);
    assert!(output.stdout.contains("wants to open on http://a.localhost"), "{output:?}");
}
