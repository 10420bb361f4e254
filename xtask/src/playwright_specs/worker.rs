//! Runs the prepared specs as scripts: one daemon, a session for each worker, one spec at a time in each.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::Setup;
use super::outcome::{Outcomes, group};
use super::stock;
use crate::error::Error;

/// Starts a line that holds a result.
const MARK: char = '\u{1}';

/// A spec that ends early is run again from the next test, at most this often.
const MOST_RESTARTS: usize = 8;

/// Most bytes of the assets of a spec.
const ASSET_BYTES: usize = 40_000;

/// Flags that a browser for tests needs.
const BROWSER_FLAGS: [&str; 5] = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-sync",
];

/// Runs the tests named in `only`.
pub(super) fn run_all(setup: &Setup<'_>, only: &BTreeSet<String>) -> Result<Outcomes, Error> {
    let home = Home::create(setup)?;
    let servers = Servers::start(setup)?;
    let wanted = |name: &&String| only.iter().any(|id| group(id) == **name);
    let queue: Mutex<Vec<&String>> = Mutex::new(setup.names.iter().rev().filter(wanted).collect());
    let outcomes = Mutex::new(Outcomes::default());
    std::thread::scope(|scope| {
        for worker in 0..setup.options.workers {
            let (home, servers, queue, outcomes) = (&home, &servers, &queue, &outcomes);
            scope.spawn(move || {
                loop {
                    let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop();
                    let Some(name) = next else { break };
                    let ran = run_spec(setup, home, servers, worker, name, only);
                    let mut all = outcomes.lock().unwrap_or_else(PoisonError::into_inner);
                    match ran {
                        Ok(ran) => all.update(ran),
                        Err(error) => eprintln!("xtask: {name}: {error}"),
                    }
                }
            });
        }
    });
    Ok(outcomes.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Runs one spec until each of its tests has a result, or none comes any more.
fn run_spec(
    setup: &Setup<'_>,
    home: &Home,
    servers: &Servers,
    worker: usize,
    name: &str,
    only: &BTreeSet<String>,
) -> Result<Outcomes, Error> {
    let file = write_script(setup, name)?;
    let only: Vec<&String> = only.iter().filter(|id| group(id) == name).collect();
    let mut outcomes = Outcomes::default();
    for _ in 0..MOST_RESTARTS {
        let before = outcomes.len();
        let settings = json!({
            "link": servers.link, "worker": worker, "http": servers.ports[worker]["http"],
            "https": servers.ports[worker]["https"], "checkout": setup.options.checkout,
            "output": setup.output("files"), "version": home.browser_version, "filter": setup.options.filter,
            "limit": setup.options.limit, "only": only, "files": read_assets(setup, name), "done": outcomes.ids(),
        });
        let log = home.run_script(worker, &file, name, &settings, &mut outcomes)?;
        let is_whole = log.contains("spec finished");
        if is_whole || outcomes.len() == before {
            if !is_whole {
                eprintln!("xtask: {name} ended early:\n{log}");
            }
            break;
        }
    }
    Ok(outcomes)
}

/// The assets that a spec reads at once, which a script cannot: `fs.readFileSync(asset("a.png"))`. Small ones only, since
/// they are a part of the command line.
fn read_assets(setup: &Setup<'_>, name: &str) -> BTreeMap<String, Value> {
    let spec = fs::read_to_string(setup.output("prepared").join(format!("{name}.js"))).unwrap_or_default();
    let calls = spec.split("Sync(asset(").skip(1);
    let names = calls.filter_map(|rest| rest.strip_prefix('\'')?.split('\'').next());
    let mut left = ASSET_BYTES;
    let mut assets = BTreeMap::new();
    for path in names.map(|name| setup.options.checkout.join("tests/assets").join(name)) {
        let Some(bytes) = fs::read(&path).ok().filter(|bytes| bytes.len() <= left) else { continue };
        left -= bytes.len();
        assets.insert(path.display().to_string(), json!(BASE64_STANDARD.encode(bytes)));
    }
    assets
}

/// Joins the shared part, the part for scripts and the spec into one file.
fn write_script(setup: &Setup<'_>, name: &str) -> Result<PathBuf, Error> {
    let read = |path: PathBuf| fs::read_to_string(&path).map_err(|source| Error::file(path, source));
    let spec = read(setup.output("prepared").join(format!("{name}.js")))?;
    let harness = read(setup.own_file("harness.js"))?;
    let child = read(setup.own_file("child.js"))?;
    let body = "function specBody(__import, require, __dirname, __filename, process) {";
    let path = setup.output("run").join(format!("{name}.js"));
    let text = format!("{body} {spec}\n}}\n{harness}\n{child}\n");
    fs::write(&path, text).map_err(|source| Error::file(&path, source))?;
    Ok(path)
}

/// `TABWIRE_HOME` of the run. The daemon and its browsers end with it.
struct Home {
    path: PathBuf,
    program: PathBuf,
    checkout: PathBuf,
    /// Where specs write files.
    output: PathBuf,
    browser_version: String,
}

impl Home {
    fn create(setup: &Setup<'_>) -> Result<Home, Error> {
        let path = std::env::temp_dir().join(format!("tw-specs-{}", std::process::id()));
        fs::create_dir_all(path.join("user")).map_err(|source| Error::file(&path, source))?;
        let version = Command::new(stock::browser()).arg("--version").output();
        let version = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        let browser_version = version.ok().and_then(|text| {
            text.split_whitespace()
                .find(|word| word.starts_with(|letter: char| letter.is_ascii_digit()))
                .map(str::to_owned)
        });
        Ok(Home {
            path,
            program: setup.repository.path("target/debug/tabwire"),
            checkout: setup.options.checkout.clone(),
            output: setup.output("files"),
            browser_version: browser_version.unwrap_or_default(),
        })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        for (name, _) in std::env::vars_os() {
            if ["TABWIRE_", "XDG_"].iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
                command.env_remove(name);
            }
        }
        command
            .current_dir(&self.checkout)
            .env("TABWIRE_HOME", &self.path)
            .env("HOME", self.path.join("user"))
            .envs([("TABWIRE_PORT", "0"), ("TABWIRE_LINGER", "5")])
            .stdin(Stdio::null());
        command
    }

    /// Runs a script in the session of a worker. Results go to `outcomes`; what else it prints is returned.
    fn run_script(
        &self,
        worker: usize,
        file: &std::path::Path,
        name: &str,
        settings: &Value,
        outcomes: &mut Outcomes,
    ) -> Result<String, Error> {
        let program = self.program.display().to_string();
        let flags: Vec<String> = BROWSER_FLAGS.iter().map(|flag| format!("--browser-arg={flag}")).collect();
        let mut child = self
            .command()
            .args(["--session", &format!("specs-{worker}"), "run", "--timeout", "20m", "--policy", "open"])
            .args(["--browser", &stock::browser()])
            .arg("--root")
            .arg(&self.checkout)
            .arg("--root")
            .arg(&self.output)
            .args(flags)
            .arg(file)
            .args(["--", name, &settings.to_string()])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|source| Error::CannotStart { program, source })?;
        let errors = child.stderr.take();
        let reading = std::thread::spawn(move || errors.map(std::io::read_to_string));
        let mut log = String::new();
        for line in BufReader::new(child.stdout.take().into_iter().next().expect("a pipe")).lines() {
            let Ok(line) = line else { break };
            match line.split_once(MARK).and_then(|(_, text)| serde_json::from_str(text).ok()) {
                Some(result) => outcomes.add(&result),
                None => log.push_str(&format!("{line}\n")),
            }
        }
        let _ = child.wait();
        if let Ok(Some(Ok(text))) = reading.join() {
            log.push_str(&text);
        }
        Ok(log)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = self
            .command()
            .args(["session", "stop", "--all"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        let _ = self.command().args(["daemon", "stop"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// The HTTP servers, in a Node process that ends with this value.
struct Servers {
    child: Child,
    _input: Option<ChildStdin>,
    link: Value,
    ports: Vec<Value>,
}

impl Servers {
    fn start(setup: &Setup<'_>) -> Result<Servers, Error> {
        let mut child = Command::new("node")
            .arg(setup.own_file("server.mjs"))
            .arg(&setup.options.checkout)
            .arg(setup.output("files"))
            .arg(setup.options.workers.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|source| Error::CannotStart { program: "node".to_owned(), source })?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            let _ = BufReader::new(output).read_line(&mut line);
        }
        let facts: Value = serde_json::from_str(&line).unwrap_or_default();
        let ports = facts["ports"].as_array().cloned().unwrap_or_default();
        if ports.len() != setup.options.workers {
            return Err(Error::StepFailed {
                step: "servers".to_owned(),
                command: "node server.mjs".to_owned(),
            });
        }
        let input = child.stdin.take();
        Ok(Servers { child, _input: input, link: facts["link"].clone(), ports })
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        if let Some(input) = &mut self._input {
            let _ = input.flush();
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
