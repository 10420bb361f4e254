//! Bare values, closed pipes, tables, progress, suggestions, help with examples, the skill text and the update check.

use std::io::{Read, Write};
use std::net::TcpListener;

use crate::support::fixture_site::FixtureSite;
use crate::support::world::{Outcome, World};

const TABWIRE: &str = env!("CARGO_BIN_EXE_tabwire");

/// Runs a shell line in which `$T` is the binary.
fn shell(world: &World, line: &str) -> Outcome {
    world.run_program("bash", &["-c", &format!("T={TABWIRE}\n{line}")])
}

/// Runs a line on a terminal of this width, and returns what it showed.
fn on_a_terminal(world: &World, columns: u16, arguments: &str) -> String {
    let line = format!("stty cols {columns}; {TABWIRE} {arguments}");
    let transcript = world.home().join("transcript").display().to_string();
    world.run_program("script", &["-qec", &line, &transcript]).stdout
}

#[test]
fn raw_prints_bare_values_and_terminals_get_tables() {
    let (world, site) = (World::new(), FixtureSite::start());
    let page = site.page("/plain");
    let tab = world.run(&["--raw", "open", &page]).succeeded().text().to_owned();
    assert!(tab.starts_with("pipe:"), "{tab}");
    assert_eq!(world.run(&["get", "url", "--raw"]).succeeded().stdout, format!("{page}\n"));
    assert_eq!(world.run(&["eval", "'two words'", "--raw"]).succeeded().stdout, "two words\n");
    assert_eq!(world.run(&["eval", "({a: [1, 2]})", "--raw"]).succeeded().stdout, "{\"a\":[1,2]}\n");
    assert_eq!(world.run(&["tabs", "--raw"]).succeeded().text(), tab);
    let fenced = world.run(&["get-text"]).succeeded().stdout;
    let bare = world.run(&["get-text", "--raw"]).succeeded();
    assert!(fenced.starts_with("<page ") && !bare.stdout.contains("<page "), "{bare:?}");
    assert!(bare.stderr.is_empty() && fenced.contains(bare.text()), "{bare:?}");
    let cut = world.run(&["get-text", "--raw", "--limit", "3"]).succeeded();
    assert_eq!((cut.text().chars().count(), cut.stderr.contains("`from` 3")), (3, true), "{cut:?}");
    let seen = world.run(&["snapshot", "--raw"]).succeeded();
    assert!(seen.stdout.contains("button") && !seen.stdout.contains("<page "), "{seen:?}");
    world.run(&["cookies", "set", "theme", "dark"]).succeeded();
    assert_eq!(world.run(&["cookies", "get", "theme", "--raw"]).succeeded().stdout, "dark\n");
    assert_eq!(world.run(&["tabs", "--raw", "--json"]).code, 2, "one or the other");

    world.eval("void (document.title = '日本語の題 '.repeat(20) + '\\u001b[31m')");
    let table = on_a_terminal(&world, 60, "tabs");
    let lines: Vec<&str> =
        table.lines().filter(|line| line.contains("pipe:") || line.contains("TAB")).collect();
    assert!(lines.len() == 2 && lines[0].contains("TITLE"), "{table}");
    assert!(lines[1].contains('…') && !lines[1].contains("[31m"), "{table}");
    // Each of these characters is two columns wide.
    let wide = lines[1].chars().filter(|letter| !letter.is_ascii() && *letter != '…').count();
    assert!(lines[1].trim_end().chars().count() + wide <= 60, "{table}");
    let cookies = on_a_terminal(&world, 100, "cookies");
    assert!(cookies.contains("DOMAIN") && cookies.contains("theme"), "{cookies}");
    world.run(&["reload"]).succeeded();
    let requests = on_a_terminal(&world, 100, "requests");
    assert!(requests.contains("METHOD") && requests.contains("/plain"), "{requests}");
    assert!(on_a_terminal(&world, 100, "downloads").contains("no downloads"));
}

#[test]
fn a_closed_output_pipe_is_no_failure() {
    let world = World::new();
    world.open(&["about:blank"]);
    let many = r#"for i in $(seq 200); do echo '{"action": "eval", "params": {"expression": "window.n = (window.n ?? 0) + 1"}}'; done"#;
    let piped = shell(&world, &format!("({many}) | $T batch | head -1; echo ${{PIPESTATUS[1]}}"));
    assert!(piped.stdout.ends_with("\n0\n") && piped.stderr.is_empty(), "{piped:?}");
    let done: u32 = world.eval("window.n").parse().expect("a number");
    assert!(done < 200, "a batch without a reader continues: {done}");
    for line in ["help", "skill", "daemon logs", "--quiet eval '\"x\\n\".repeat(100000)' --raw"] {
        let piped = shell(&world, &format!("$T {line} | head -1; echo ${{PIPESTATUS[0]}}"));
        assert!(piped.stdout.ends_with("\n0\n") && piped.stderr.is_empty(), "{line}: {piped:?}");
    }
}

#[test]
fn progress_is_shown_on_terminals_only() {
    let (world, site) = (World::new().with_whole_chromium(), FixtureSite::start());
    world.open(&[&site.page("/plain")]);
    let slow =
        format!("download-file --url '{}'", site.page("/download/slow?bytes=400000&milliseconds=4000"));
    let shown = on_a_terminal(&world, 100, &slow);
    assert!(shown.contains("downloading ") && shown.contains('%'), "{shown:?}");
    assert!(!on_a_terminal(&world, 100, &format!("--quiet {slow}")).contains("downloading "));
    let piped = world.run(&["eval", "new Promise(done => setTimeout(done, 1500))"]).succeeded();
    assert!(piped.stderr.is_empty(), "{piped:?}");
}

#[test]
fn misspelt_names_get_a_suggestion() {
    let world = World::new();
    world.open(&["about:blank"]);
    let lines = r#"{"action": "clik", "params": {}}
{"action": "click", "params": {"tagret": "e1"}}
{"action": "eval", "params": {"expr": "1"}}"#;
    let responses = shell(&world, &format!("printf '%s\\n' '{lines}' | $T batch"));
    let hints: Vec<&str> = responses.stdout.lines().collect();
    for (response, meant) in hints.iter().zip(["`click`", "`target`", "`expression`"]) {
        assert!(response.contains(&format!("Did you mean {meant}?")), "{response}");
    }
    assert_eq!((hints.len(), responses.code), (3, 2), "{responses:?}");
    let typo = world.run(&["help", "clik"]);
    assert!(typo.code == 2 && typo.stderr.contains("click"), "{typo:?}");
}

#[test]
fn help_has_examples() {
    let world = World::new();
    for arguments in [&["help", "click"][..], &["click", "--help"], &["click", "-h"]] {
        let help = world.run(arguments).succeeded().stdout;
        assert!(help.contains("Examples:") && help.contains("tabwire click e3"), "{arguments:?}: {help}");
    }
    let help = world.run(&["completions", "--help"]).succeeded().stdout;
    assert!(help.contains(".bashrc") && help.contains("$PROFILE"), "{help}");
}

#[test]
fn the_update_check_runs_only_when_configured() {
    let world = World::new();
    let offline = world.json(&["upgrade-check"]);
    assert_eq!((&offline["daemon"]["state"], &offline["newest"]), (&"none".into(), &serde_json::Value::Null));
    assert!(world.run(&["upgrade-check"]).succeeded().stdout.contains("no daemon runs"));
    assert_eq!(world.run(&["--json", "upgrade-check", "--online"]).failure(), ("BAD_ARGS".to_owned(), 2));
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://127.0.0.1:{}/newest", listener.local_addr().expect("an address").port());
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a visitor");
        let mut request = [0; 1024];
        let _ = stream.read(&mut request);
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nv9.9.9\n").expect("it reads");
    });
    let world = world.with("TABWIRE_UPDATE_URL", &url);
    assert_eq!(world.json(&["upgrade-check"])["newest"], serde_json::Value::Null, "only when asked");
    let online = world.json(&["upgrade-check", "--online"]);
    assert_eq!((&online["newest"], &online["newer"]), (&"9.9.9".into(), &true.into()), "{online}");
    server.join().expect("served");
    assert!(world.find_status().is_none(), "the command started a daemon");
}

#[test]
fn the_skill_is_installed_without_changing_other_files() {
    let world = World::new();
    let text = world.run(&["skill"]).succeeded().stdout;
    assert!(text.starts_with("---\nname: tabwire\n") && text.len() < 4800, "{} bytes", text.len());
    let user = world.home().join("user");
    let file = |folder: &str| user.join(folder).join("tabwire/SKILL.md");
    let installed = world.run(&["install-skill", "--for", "claude-code", "--for", "codex"]).succeeded();
    assert_eq!(installed.stdout.matches(": installed").count(), 2, "{installed:?}");
    for folder in [".claude/skills", ".agents/skills"] {
        assert_eq!(std::fs::read_to_string(file(folder)).expect("installed"), text, "{folder}");
    }
    let again = world.run(&["install-skill"]).succeeded();
    assert_eq!(
        again.stdout.matches(": is current").count(),
        2,
        "the agents whose directories exist: {again:?}"
    );
    let older = format!("{text}\nan older one\n");
    std::fs::write(file(".claude/skills"), older).expect("written");
    assert!(world.run(&["install-skill", "--for", "claude-code"]).succeeded().stdout.contains(": updated"));

    std::fs::write(file(".claude/skills"), "my own notes").expect("written");
    for more in [&[][..], &["--uninstall"]] {
        let refused = world.run(&[&["install-skill", "--for", "claude-code"], more].concat());
        assert!(
            refused.code == 1 && refused.stdout.contains("not changed: tabwire did not write it"),
            "{refused:?}"
        );
        assert_eq!(std::fs::read_to_string(file(".claude/skills")).expect("still there"), "my own notes");
    }
    let removed = world.run(&["install-skill", "--for", "codex", "--uninstall"]).succeeded();
    assert!(removed.stdout.contains(": removed") && !file(".agents/skills").exists(), "{removed:?}");

    let project = world.home().join("project");
    std::fs::create_dir_all(project.join(".git")).expect("a project");
    std::fs::create_dir_all(project.join("deep/.cursor")).expect("a directory");
    let mut command =
        world.command(TABWIRE, &["install-skill", "--project", "--for", "cursor", "--print", "--json"]);
    let printed =
        crate::support::world::wait(command.current_dir(project.join("deep")).spawn().expect("starts"), &[]);
    let place = project.canonicalize().expect("a path").join(".cursor/skills/tabwire/SKILL.md");
    assert_eq!(printed.json()["places"][0]["path"], place.display().to_string());
    assert!(!place.exists(), "only printed");
}

#[test]
fn open_and_navigate_print_the_snapshot_with_refs() {
    let world = World::new();
    let page = "data:text/html,<title>Shop</title><button>Pay</button>";
    let opened = world.run(&["open", page]).succeeded();
    assert!(opened.text().contains("button \"Pay\" [e"), "{}", opened.text());
    assert!(opened.text().contains("<page "), "{}", opened.text());
    let data = world.json(&["open", page, "--snapshot", "--json"]);
    assert!(data["result"]["snapshot"].as_str().is_some_and(|text| text.contains("[e")), "{data}");
    let data = world.json(&["open", page, "--json"]);
    assert!(data["result"].get("snapshot").is_none(), "{data}");
    let moved = world.run(&["navigate", page, "--snapshot"]).succeeded();
    assert!(moved.text().contains("button \"Pay\" [e"), "{}", moved.text());
}

#[test]
fn mistyped_session_starts_no_browser_and_short_forms_work() {
    let world = World::new();
    let page = "data:text/html,<p>Hello</p>";
    world.run(&["-s", "checkout", "open", page]).succeeded();
    let failed = world.run(&["-s", "chekcout", "text", "--json"]);
    assert_eq!(failed.failure().0, "NO_BACKEND", "{failed:?}");
    assert!(failed.stdout.contains("checkout"), "{failed:?}");
    let read = world.run(&["-s", "checkout", "text", "--raw"]).succeeded();
    assert_eq!(read.text().trim(), "Hello");
    world.run(&["-s", "checkout", "key", "Tab"]).succeeded();
    world.run(&["-s", "checkout", "close"]).succeeded();
}

#[test]
fn json_members_have_one_order() {
    let world = World::new();
    world.open(&["data:text/html,<title>order</title>"]);
    for arguments in [
        &["--json", "get", "title"][..],
        &["--json", "session", "status"],
        &["--json", "context", "show"],
        &["--json", "tabs"],
    ] {
        let printed = world.run(arguments).succeeded().stdout;
        let place =
            |member: &str| printed.find(&format!("\"{member}\":")).unwrap_or_else(|| panic!("{printed}"));
        assert!(printed.starts_with("{\"session\":") && place("session") < place("result"), "{printed}");
    }
    let failed = world.run(&["--json", "click", "#none", "--timeout", "100ms"]).stdout;
    let place = |member: &str| failed.find(&format!("\"{member}\":")).unwrap_or_else(|| panic!("{failed}"));
    assert!(place("code") < place("message") && place("message") < place("hint"), "{failed}");
}
