//! Other people's packages on one session, or each with a shim as its browser: two processes at once, each with its own
//! pages.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use tabwire_testkit::by_size;

use crate::chrome_shim::launcher::{Launcher, shim};
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

/// The hosts of the two clients. Each clicks another number of times.
const HOSTS: [&str; 2] = ["a", "b"];

/// How a package reaches the browser.
enum Way {
    /// `tabwire cdp-url`.
    Url,
    /// `tabwire cdp-url --port`.
    Port,
    /// `tabwire.connect()` of the Python package, with these arguments for the suite.
    Helper(&'static [&'static str]),
    /// A shim that the package starts as its Chrome.
    Shim,
}

impl Way {
    fn arguments(&self, world: &World) -> Vec<String> {
        let text = |words: &[&str]| world.run(words).succeeded().text().to_owned();
        match self {
            Self::Url => vec!["--endpoint".to_owned(), text(&["cdp-url"])],
            Self::Port => vec!["--endpoint".to_owned(), text(&["cdp-url", "--port"])],
            Self::Helper(more) => ["--helper"].iter().chain(*more).map(|word| (*word).to_owned()).collect(),
            Self::Shim => vec!["--executable".to_owned(), shim(world).to_string_lossy().into_owned()],
        }
    }
}

/// The suite of a package in `tests/packages`, not started yet.
fn suite(world: &World, package: &str) -> Command {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/packages").join(package);
    let mut command = if folder.join("package.json").is_file() {
        let installed = folder.join("node_modules").is_dir();
        assert!(installed, "{package} is not installed: run `cargo xtask setup`");
        world.command("node", &["suite.mjs"])
    } else {
        let installed = folder.join(".venv/installed").is_file();
        assert!(installed, "{package} is not installed: run `cargo xtask setup --full`");
        world.command(folder.join(".venv/bin/python"), &["suite.py"])
    };
    // Packages leave temporary profiles behind: nodriver 5 of 6 with Chromium itself.
    let temporary = world.home().join("packages");
    std::fs::create_dir_all(&temporary).expect("a directory");
    command.current_dir(folder).env("TMPDIR", temporary).stdin(Stdio::piped()).stderr(Stdio::inherit());
    command
}

/// Lets a suite import the Python package, which finds the program under test on PATH.
fn give_helper(world: &World, command: &mut Command) {
    let (folder, programs) = (world.home().join("python"), world.home().join("programs"));
    let package = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../packaging/python");
    for (link, target) in
        [(folder.join("tabwire"), package), (programs.join("tabwire"), env!("CARGO_BIN_EXE_tabwire").into())]
    {
        std::fs::create_dir_all(link.parent().expect("a parent")).expect("a directory");
        let _ = std::os::unix::fs::symlink(target, link);
    }
    let path = std::env::var("PATH").unwrap_or_default();
    command
        .env("PYTHONPATH", folder)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("PATH", format!("{}:{path}", programs.display()));
}

/// A running suite. It has its own deadlines.
struct Client {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Client {
    fn start(command: &mut Command) -> Self {
        let mut child = command.spawn().expect("node and python are there");
        let lines = BufReader::new(child.stdout.take().expect("piped"));
        Self { child, lines }
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("readable");
        serde_json::from_str(&line).unwrap_or(Value::String(line))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs the suite of a package twice at the same time; every check must pass.
fn two_suites_pass(package: &str, way: &Way, checks: u64) {
    let (world, site) = (World::new(), FixtureSite::start());
    world.expect_litter();
    world.open(&[&site.page("/article")]);
    let (arguments, port) = (way.arguments(&world), site.port().to_string());
    let mut clients = HOSTS.map(|host| {
        let more = ["--site-port", &port, "--host", host];
        let mut command = suite(&world, package);
        if matches!(way, Way::Helper(_)) {
            give_helper(&world, &mut command);
        }
        Client::start(command.args(&arguments).args(more))
    });
    for client in &mut clients {
        let line = client.line();
        assert_eq!(line["connected"], true, "{package}: {line}\n{}", world.log());
    }
    // Both are connected before either works.
    for client in &mut clients {
        client.child.stdin.as_mut().expect("piped").write_all(b"go\n").expect("it listens");
    }
    for client in &mut clients {
        let score = client.line();
        assert_eq!(score["failures"], json!([]), "{package}: {score:#}\n{}", world.log());
        assert!(score["checks"].as_u64() >= Some(checks), "{package}: {score}");
    }
    assert_eq!(world.eval("location.pathname"), "/article", "{package}: the session's tab is untouched");
}

/// The same for a package that only full runs install.
#[expect(clippy::print_stderr, reason = "says why nothing was run")]
fn two_suites_pass_in_full_runs(package: &str, way: &Way, checks: u64) {
    if by_size(true, false) {
        eprintln!("{package} is large: `cargo xtask test --full` runs it");
        return;
    }
    two_suites_pass(package, way, checks);
}

#[test]
fn p1_two_browser_use_sessions_keep_to_their_pages_in_full_runs() {
    two_suites_pass_in_full_runs("browser-use", &Way::Helper(&[]), 12);
}

#[test]
fn p1_two_crawl4ai_crawlers_keep_to_their_pages_in_full_runs() {
    two_suites_pass_in_full_runs("crawl4ai", &Way::Helper(&[]), 20);
}

#[test]
fn p1_two_stagehands_keep_to_their_pages() {
    two_suites_pass("stagehand", &Way::Url, 12);
}

#[test]
fn p6_two_nodrivers_keep_to_their_pages_on_a_port() {
    two_suites_pass("nodriver", &Way::Helper(&["--port"]), 11);
}

#[test]
fn p4_two_nodrivers_start_shims() {
    two_suites_pass("nodriver", &Way::Shim, 11);
}

#[test]
fn p6_two_zendrivers_keep_to_their_pages_on_a_port() {
    two_suites_pass("zendriver", &Way::Port, 11);
}

#[test]
fn p4_two_zendrivers_start_shims() {
    two_suites_pass("zendriver", &Way::Shim, 11);
}

/// The ref of the counter's button in the last snapshot of a Playwright MCP server.
fn counter_ref(text: &str) -> String {
    let line = text.lines().find(|line| line.contains(r#"button "Count""#)).expect("the button");
    let start = line.find("[ref=").expect("a ref") + "[ref=".len();
    line[start..].split(']').next().expect("its end").to_owned()
}

#[test]
fn p1_two_playwright_mcp_servers_on_one_session_keep_to_their_pages() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.open(&[&site.page("/article")]);
    let arguments = json!(["--cdp-endpoint", world.cdp_url()]).to_string();
    let mut servers = HOSTS.map(|host| {
        let profile = world.home().join(format!("{host}/profile"));
        std::fs::create_dir_all(profile.parent().expect("a parent")).expect("a directory");
        let more = ["--profile", &profile.to_string_lossy(), "--arguments", &arguments];
        (host, Launcher::start_server(&world, "playwright-mcp", &more))
    });
    let mut call = |server: usize, tool: &str, arguments: Value| {
        let response = servers[server].1.command(&json!({"call": tool, "arguments": arguments}));
        assert_eq!(response["failed"], false, "{tool}: {response}\n{}", world.log());
        response["text"].as_str().unwrap_or_default().to_owned()
    };
    let url = |host: &str| format!("http://{host}.localhost:{}/plain", site.port());
    for (server, host) in HOSTS.iter().enumerate() {
        call(server, "browser_navigate", json!({"url": url(host)}));
    }
    for clicks in 1..=3 {
        for server in 0..HOSTS.len() {
            let target = counter_ref(&call(server, "browser_snapshot", json!({})));
            for _ in 0..=server {
                call(server, "browser_click", json!({"element": "Count", "target": target}));
            }
        }
        for (server, host) in HOSTS.iter().enumerate() {
            let seen = call(server, "browser_snapshot", json!({}));
            let expected = format!(": \"{}\"", clicks * (server + 1));
            assert!(seen.contains(&url(host)) && seen.contains(&expected), "{host}: {seen}");
            let tabs = call(server, "browser_tabs", json!({"action": "list"}));
            assert_eq!(tabs.matches("http://").count(), 1, "its own tab only: {tabs}");
        }
    }
    assert_eq!(world.eval("location.pathname"), "/article", "the session's tab is untouched");
    for (_, server) in servers {
        server.close();
    }
}
