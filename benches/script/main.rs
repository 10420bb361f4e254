//! Scripts: the start, memory and calls of their process; the same steps by `execute`, by tool calls and by Node with
//! Playwright; and what other clients notice of hostile scripts.
#![expect(clippy::print_stdout, reason = "a bench prints its table")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tabwire_testkit::HOSTILE_SCRIPTS;
use tabwire_testkit::bench::{McpClient, Sample, TabwireWorld, empty_program, micros};

const STARTS: usize = 20;
const CALLS: usize = 2_000;
const ROUNDS: usize = 5;

/// The timeout of a hostile script.
const HOSTILE_TIME: Duration = Duration::from_millis(1_500);

/// The process of a script, driven as the daemon does.
struct ScriptProcess {
    process: Child,
    input: ChildStdin,
    output: BufReader<std::process::ChildStdout>,
}

impl ScriptProcess {
    fn start() -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_tabwire"))
            .arg("script-child")
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let input = process.stdin.take().expect("piped");
        let output = BufReader::new(process.stdout.take().expect("piped"));
        let mut script = Self { process, input, output };
        assert_eq!(script.next(), json!("ready"));
        script
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it writes");
        serde_json::from_str(&line).expect("a message")
    }

    fn send(&mut self, message: &Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).expect("it reads");
    }

    /// Runs code; calls are responded to at once.
    fn run(&mut self, code: &str) {
        let run = json!({"run": {"id": 1, "code": code, "name": "bench", "actions": ["get"], "tabs": []}});
        self.send(&run);
        loop {
            let message = self.next();
            if let Some(call) = message.get("call") {
                self.send(&json!({"response": {"id": call["id"], "result": {"result": {}}}}));
            } else if let Some(done) = message.get("done") {
                assert!(done.get("error").is_none(), "{done}");
                return;
            }
        }
    }
}

impl Drop for ScriptProcess {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Proportional set size of a process, in KiB.
fn proportional_kib(pid: u32) -> u64 {
    let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}

fn process() {
    let directory = tempfile::tempdir().expect("a directory");
    let program = empty_program(directory.path());
    let (mut ready, mut empty) = (Sample::default(), Sample::default());
    for _ in 0..STARTS {
        let before = Instant::now();
        assert!(Command::new(&program).status().expect("it runs").success());
        empty.add(before.elapsed());
        let before = Instant::now();
        let script = ScriptProcess::start();
        ready.add(before.elapsed());
        drop(script);
    }
    println!(
        "process ready (aim: under 15 ms): {} (an empty process: {})",
        micros(ready.median()),
        micros(empty.median())
    );
    let mut script = ScriptProcess::start();
    script.run("state.a = await tabwire.get({}); 1");
    println!(
        "process after a run (aim: under 4096 KiB): {} KiB (its proportional share)",
        proportional_kib(script.process.id())
    );
    let before = Instant::now();
    script.run(&format!("for (let i = 0; i < {CALLS}; i++) await tabwire.get({{ what: 'title' }})"));
    let each = before.elapsed() / u32::try_from(CALLS).expect("few");
    println!("a call of a script (aim: under 100 µs), without the action: {}", micros(each));
    growth(&program);
}

/// What scripts add to the program: the size of a program that is nothing but the process of a script, over that of an
/// empty one. An upper bound: the program has parts of it anyway.
fn growth(empty: &Path) {
    let kib = |path: &Path| std::fs::metadata(path).ok().map(|data| data.len() / 1024);
    let whole = Path::new(env!("CARGO_BIN_EXE_tabwire"));
    let alone = whole.with_file_name("script-child-for-tests");
    match (kib(whole), kib(&alone), kib(empty)) {
        (Some(whole), Some(alone), Some(empty)) => println!(
            "the program has {whole} KiB; scripts add (aim: at most 1741 KiB) up to {} KiB",
            alone.saturating_sub(empty)
        ),
        (whole, ..) => println!(
            "the program has {} KiB; what scripts add is not measured: \
             `cargo build --profile PROFILE -p tabwire-script --bins` in the bench's profile",
            whole.unwrap_or_default()
        ),
    }
}

/// The processes of scripts and the daemon above them: their proportional share in KiB, daemon first.
fn memory_of_scripts() -> (u64, u64) {
    let program = Path::new(env!("CARGO_BIN_EXE_tabwire")).canonicalize().unwrap_or_default();
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let (mut daemons, mut scripts) = (0, 0);
    for pid in pids {
        if std::fs::read_link(format!("/proc/{pid}/exe")).ok().as_ref() != Some(&program) {
            continue;
        }
        let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<&str> = line.split('\0').collect();
        if words.contains(&"script-child") {
            scripts += proportional_kib(pid);
        } else if words.contains(&"daemon") {
            daemons += proportional_kib(pid);
        }
    }
    (daemons, scripts)
}

/// A form with ten fields and five buttons.
fn page() -> String {
    let fields: String = (0..10).map(|at| format!("<input id=f{at} aria-label=Field{at}>")).collect();
    let buttons: String = (0..5)
        .map(|at| format!("<button id=b{at} onclick=this.textContent='done{at}'>Do{at}</button>"))
        .collect();
    format!("data:text/html,<title>Steps</title>{fields}{buttons}").replace(' ', "%20")
}

/// Twenty steps: ten fields are filled, five buttons clicked, five texts read.
fn steps_by_script(client: &mut McpClient) -> (Duration, usize) {
    let code = "for (let i = 0; i < 10; i++) await page.fill(`#f${i}`, `value ${i}`); const texts = []; \
                for (let i = 0; i < 5; i++) { await page.click(`#b${i}`); texts.push(await page.innerText(`#b${i}`)) } texts";
    let arguments = json!({"code": code});
    let before = Instant::now();
    let (_, text) = client.call_for_text("execute", &arguments);
    assert!(text.contains("done4"), "{text}");
    (before.elapsed(), arguments.to_string().len() + text.len())
}

fn steps_by_tools(client: &mut McpClient) -> (Duration, usize) {
    let before = Instant::now();
    let mut bytes = 0;
    let mut call = |tool: &str, arguments: Value| {
        let (_, text) = client.call_for_text(tool, &arguments);
        bytes += arguments.to_string().len() + text.len();
        text
    };
    for at in 0..10 {
        call("fill", json!({"selector": format!("#f{at}"), "value": format!("value {at}")}));
    }
    for at in 0..5 {
        call("click", json!({"selector": format!("#b{at}")}));
        let text = call("get_text", json!({"selector": format!("#b{at}")}));
        assert!(text.contains("done"), "{text}");
    }
    (before.elapsed(), bytes)
}

/// The same steps by Node with Playwright.
struct NodeSteps {
    steps: Duration,
    /// With the start of Node and of its browser.
    whole: Duration,
    memory_kib: u64,
    /// The script that a model would write, and what it would read.
    bytes: usize,
}

fn steps_by_node(benches: &Path) -> Option<NodeSteps> {
    let before = Instant::now();
    let output = Command::new("node")
        .arg(benches.join("script/steps.mjs"))
        .arg(page())
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let report: Value = serde_json::from_slice(&output.stdout).ok()?;
    let steps = Duration::from_secs_f64(report["ms"].as_f64()? / 1_000.0);
    let script = std::fs::read_to_string(benches.join("script/steps.mjs")).ok()?;
    let texts = report["texts"].to_string();
    Some(NodeSteps {
        steps,
        whole: before.elapsed(),
        memory_kib: report["rss_kib"].as_u64()?,
        bytes: script.len() + texts.len(),
    })
}

fn steps(world: &TabwireWorld, benches: &Path) {
    let arguments = ["mcp", "--global", "--session", "bench", "--policy", "open", "--tools", "all"];
    let mut client = McpClient::start(world.command(&arguments));
    let (mut script, mut tools) = (Sample::default(), Sample::default());
    let (mut script_bytes, mut tool_bytes) = (0, 0);
    for _ in 0..ROUNDS {
        client.call("navigate", &json!({"url": page()}));
        let (taken, bytes) = steps_by_script(&mut client);
        script.add(taken);
        script_bytes = bytes;
        client.call("navigate", &json!({"url": page()}));
        let (taken, bytes) = steps_by_tools(&mut client);
        tools.add(taken);
        tool_bytes = bytes;
    }
    let (daemon, process) = memory_of_scripts();
    println!(
        "20 steps by execute: {}, {script_bytes} bytes to and from the model, {process} KiB of the script's process, \
         {daemon} KiB of the daemon",
        micros(script.median())
    );
    println!(
        "20 steps by 20 tool calls: {}, {tool_bytes} bytes to and from the model, {} KiB of `tabwire mcp`",
        micros(tools.median()),
        proportional_kib(client.id())
    );
    match steps_by_node(benches) {
        Some(NodeSteps { steps, whole, memory_kib, bytes }) => println!(
            "20 steps by Node with Playwright: {}, with its start and its browser's {}, {bytes} bytes to and from the \
             model, {memory_kib} KiB of Node",
            micros(steps),
            micros(whole)
        ),
        None => println!("20 steps by Node with Playwright: not measured, `npm ci` in tests/clients"),
    }
}

/// Times of `get title` of one client while another runs a hostile script.
fn others(world: &TabwireWorld) {
    let open = |session: &'static str| {
        let arguments = ["mcp", "--global", "--session", session, "--policy", "open", "--tools", "all"];
        let mut client = McpClient::start(world.command(&arguments));
        client.call("navigate", &json!({"url": page()}));
        client
    };
    let (mut good, mut bad) = (open("bench"), open("bad"));
    let mut measure = |until: &mut dyn FnMut() -> bool| {
        let mut sample = Sample::default();
        while !until() {
            sample.add(good.call("get", &json!({"what": "title"})));
        }
        sample
    };
    let mut left = 500;
    let idle = measure(&mut || {
        left -= 1;
        left == 0
    });
    println!("another client, nothing else: {} median, {} p99", micros(idle.median()), micros(idle.p99()));
    for (name, code) in HOSTILE_SCRIPTS {
        let arguments = json!({"code": code, "timeout_ms": HOSTILE_TIME.as_millis()});
        let sample = std::thread::scope(|scope| {
            let running = scope.spawn(|| {
                let before = Instant::now();
                bad.request("tools/call", &json!({"name": "execute", "arguments": arguments}));
                before.elapsed()
            });
            let sample = measure(&mut || running.is_finished());
            (sample, running.join().expect("an end"))
        });
        let (sample, took) = sample;
        println!(
            "another client (aim: p99 under 50 ms), {name}: {} median, {} p99; gone (aim: 1.5 s) {} after its time",
            micros(sample.median()),
            micros(sample.p99()),
            micros(took.saturating_sub(HOSTILE_TIME))
        );
    }
}

fn main() {
    let benches = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches");
    process();
    let world = TabwireWorld::new(env!("CARGO_BIN_EXE_tabwire"));
    world.run(&["open", "about:blank", "--global", "--session", "bench"]);
    steps(&world, &benches);
    others(&world);
}
