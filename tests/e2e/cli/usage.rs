//! Help, output formats and usage errors. Most tests need no browser.

use serde_json::Value;

use crate::support::world::World;

/// Every command with a word that its help must have.
const COMMANDS: &[(&[&str], &str)] = &[
    (&["open"], "--new-tab"),
    (&["tabs"], "--tab"),
    (&["snapshot"], "refs (e12)"),
    (&["click"], "covered"),
    (&["batch"], "--bail"),
    (&["eval"], "Promises are awaited"),
    (&["close"], "--tab"),
    (&["status"], "sessions and browsers"),
    (&["cdp-url"], "connectOverCDP"),
    (&["doctor"], "--fix"),
    (&["demo"], "--yes"),
    (&["docs"], "REF_EXPIRED"),
    (&["daemon"], "logs"),
    (&["daemon", "run"], "foreground"),
    (&["daemon", "start"], "if it is not running"),
    (&["daemon", "stop"], "every browser that it launched"),
    (&["daemon", "status"], "never start it"),
    (&["daemon", "logs"], "--lines"),
    (&["auth"], "without showing them"),
    (&["auth", "save"], "--totp-secret-file"),
    (&["auth", "login"], "--passphrase-file"),
    (&["auth", "list"], "origin"),
    (&["auth", "delete"], "<NAME>"),
    (&["profile"], "named browser profiles"),
    (&["profile", "list"], "last use"),
    (&["profile", "create"], "<NAME>"),
    (&["profile", "delete"], "--force"),
    (&["profile", "path"], "directory"),
    (&["profile", "lock-owner"], "process that uses"),
    (&["config"], "Show and change settings"),
    (&["config", "show"], "source"),
    (&["config", "get"], "<NAME>"),
    (&["config", "set"], "comments and layout stay"),
    (&["config", "unset"], "default applies again"),
    (&["config", "path"], "configuration files"),
    (&["config", "schema"], "for editors"),
    (&["config", "check"], "tabwire.toml"),
    (&["completions"], "fish"),
    (&["upgrade-check"], "--online"),
    (&["skill"], "coding agents"),
    (&["install-skill"], "--uninstall"),
];

#[test]
fn b9_usage_errors_are_json_on_request() {
    let world = World::new();
    for line in
        [&["--json", "clik", "e3"][..], &["click", "e3", "--no-such-option", "--json"], &["--json", "config"]]
    {
        let outcome = world.run(line);
        assert_eq!(outcome.failure(), ("BAD_ARGS".to_owned(), 2), "{outcome:?}");
        assert!(outcome.stderr.is_empty(), "{outcome:?}");
    }
}

#[test]
fn the_daemon_log_can_be_followed() {
    use std::io::{BufRead as _, BufReader};
    let world = World::new();
    world.run(&["daemon", "start"]).succeeded();
    let mut following = world.start(&["daemon", "logs", "--follow"]);
    let mut lines = BufReader::new(following.stdout.take().expect("piped")).lines();
    assert!(lines.any(|line| line.expect("text").contains("the daemon starts")));
    // The next daemon writes to the same log.
    world.run(&["daemon", "stop"]).succeeded();
    world.run(&["daemon", "start"]).succeeded();
    assert!(lines.any(|line| line.expect("text").contains("the daemon starts")));
    following.kill().expect("it runs");
    following.wait().expect("it ends");
}

#[test]
fn every_command_has_help() {
    let world = World::new();
    let overview = world.run(&["--help"]).succeeded();
    for (command, word) in COMMANDS {
        let help = world.run(&[command, &["--help"][..]].concat()).succeeded();
        assert!(help.stdout.contains(word), "{command:?}: {}", help.stdout);
        assert!(help.stdout.contains("--json") && help.stderr.is_empty(), "{command:?}");
        assert!(overview.stdout.contains(command[0]), "{command:?} is not in the overview");
    }
    assert!(!overview.stdout.contains("keep "), "the hidden command shows: {}", overview.stdout);
    let version = world.run(&["--version"]).succeeded();
    assert!(version.stdout.starts_with("tabwire "), "{version:?}");
    assert_eq!(world.run(&[]).code, 2);
    assert!(world.find_status().is_none(), "help started a daemon");
}

#[test]
fn mistyped_words_end_with_2_and_a_suggestion() {
    let world = World::new();
    for (typed, suggestion) in [
        (&["opne", "about:blank"][..], "open"),
        (&["open", "--new-tba"], "--new-tab"),
        (&["tabs", "--jsno"], "--json"),
        (&["daemon", "strat"], "start"),
        (&["eval", "1", "--timeout", "soon"], "ms, s, m, h or d"),
        (&["open", "--window", "big"], "1280x800"),
        (&["open", "--session", "../x"], "--session"),
        (&["open", "--cdp", "9222", "--headed"], "cannot be used with"),
        (&["open", "--cdp-header", "a: b"], "--cdp"),
    ] {
        let outcome = world.run(typed);
        assert_eq!(outcome.code, 2, "{typed:?}: {outcome:?}");
        assert!(outcome.stderr.contains(suggestion), "{typed:?}: {}", outcome.stderr);
        assert!(outcome.stdout.is_empty(), "{typed:?}: {}", outcome.stdout);
    }
    assert!(world.find_status().is_none(), "a usage error started a daemon");
}

/// The names of an object's members, sorted.
fn members(value: &Value) -> Vec<&str> {
    let mut names: Vec<_> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

#[test]
fn json_output_keeps_its_shape() {
    let world = World::new();
    let not_running = world.json(&["daemon", "status"]);
    assert_eq!(not_running, serde_json::json!({"running": false}));
    assert_eq!(world.json(&["status"])["running"], false, "the command starts nothing");
    let started = world.json(&["daemon", "start"]);
    assert_eq!((members(&started), &started["started"]), (vec!["pid", "started"], &Value::Bool(true)));
    assert_eq!(world.json(&["daemon", "start"])["started"], false);

    let opened = world.json(&["open"]);
    assert_eq!(members(&opened["result"]), ["tab", "text", "title", "truncated", "url"]);
    assert!(members(&opened).starts_with(&["notices", "result"]), "{opened}");
    let tabs = world.json(&["tabs"]);
    assert_eq!(members(&tabs), ["result", "session", "tab"]);
    assert_eq!(members(&tabs["result"]["tabs"][0]), ["current", "tab", "title", "url"]);
    let evaluated = world.json(&["eval", "6 * 7"]);
    assert_eq!(members(&evaluated["result"]), ["tab", "value"]);
    assert_eq!((&evaluated["result"]["value"], &evaluated["session"]), (&42.into(), &"default".into()));
    let address = world.json(&["cdp-url"]);
    assert_eq!(members(&address), ["http", "websocket"]);
    let status = world.json(&["status"]);
    assert_eq!(members(&status), ["lost_log_lines", "pid", "port", "sessions", "uptime_seconds", "version"]);
    let session = members(&status["sessions"][0]);
    for field in ["astray", "browser_pid", "clients", "held", "keeper_pid", "pending", "profile", "state"] {
        assert!(session.contains(&field), "{field} in {session:?}");
    }
    assert_eq!(world.json(&["daemon", "status"])["pid"], status["pid"]);
    let findings = world.json(&["doctor"]);
    assert_eq!(members(&findings["findings"][0]), ["code", "fixed", "remedy", "sentence", "verdict"]);
    let closed = world.json(&["close"]);
    assert_eq!(closed["result"], serde_json::json!({"closed": "session", "browser": "ended"}));
    let nothing = world.run(&["--json", "close"]);
    assert_eq!(nothing.failure(), ("NO_BACKEND".to_owned(), 1));
    assert_eq!(members(&nothing.json()["error"]), ["code", "hint", "message", "remedy"]);
    assert_eq!(world.json(&["daemon", "stop"])["stopped"], true);
    assert_eq!(world.json(&["daemon", "stop"])["stopped"], false);
}

#[test]
fn results_are_text_and_notes_go_to_stderr() {
    let world = World::new();
    let demo = world.run(&["demo", "--yes"]).succeeded();
    assert!(demo.stdout.contains("/demo"), "{demo:?}");
    assert!(demo.stderr.contains("tabwire close"), "{demo:?}");
    let table = world.run(&["tabs"]).succeeded();
    assert!(table.stdout.starts_with("* pipe:"), "{table:?}");
    assert!(table.stderr.is_empty(), "{table:?}");
    let status = world.run(&["status"]).succeeded();
    assert!(status.stdout.contains("SESSION") && status.stdout.contains("launched"), "{status:?}");
    let quiet = world.run(&["--quiet", "--session", "other", "open", "about:blank"]).succeeded();
    assert!(quiet.stderr.is_empty(), "{quiet:?}");
    let logs = world.run(&["daemon", "logs", "-n", "5"]).succeeded();
    assert!((1..=5).contains(&logs.stdout.lines().count()), "{logs:?}");
    assert!(world.run(&["close"]).succeeded().stdout.contains("ended"));
}

#[test]
fn invalid_urls_are_refused_before_a_browser_starts() {
    let world = World::new();
    for bad in ["javascript:alert(1)", "two words", "mailto:a@b"] {
        assert_eq!(world.run(&["--json", "open", bad]).failure(), ("BAD_ARGS".to_owned(), 2), "{bad}");
    }
    assert_eq!(world.browser_processes().len(), 0);
}
