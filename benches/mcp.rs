//! What MCP adds: the same action as a tool call and as a request to the daemon, in turns; how long a client waits for
//! its first answer compared with an empty process; and what the process between them weighs while nothing happens.
#![expect(clippy::print_stdout, reason = "a bench prints its table")]

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tabwire_testkit::bench::{Sample, TabwireWorld, micros};

const ROUNDS: usize = 300;
const STARTS: usize = 40;

/// A client of one `tabwire mcp` process.
struct Client {
    process: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    next: u64,
}

impl Client {
    fn start(world: &TabwireWorld, arguments: &[&str]) -> Self {
        let mut command = world.command(&[&["mcp"], arguments].concat());
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("tabwire runs");
        let (stdin, stdout) = (process.stdin.take().expect("piped"), process.stdout.take().expect("piped"));
        let mut client = Self { process, stdin, stdout: BufReader::new(stdout), next: 0 };
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}});
        client.ask("initialize", &hello);
        client
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        self.stdin.write_all(format!("{message}\n").as_bytes()).expect("it reads");
        loop {
            let mut line = String::new();
            assert!(self.stdout.read_line(&mut line).expect("it answers") > 0, "it ended");
            let answer: Value = serde_json::from_str(&line).expect("a message");
            if answer["id"] == self.next {
                return answer;
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Duration {
        let before = Instant::now();
        let answer = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
        let taken = before.elapsed();
        assert_ne!(answer["result"]["isError"], true, "{answer}");
        taken
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The same action as the daemon's API does it.
fn ask_daemon(socket: &PathBuf, action: &str, params: &Value) -> Duration {
    let body = json!({"session": "bench", "params": params, "text": true}).to_string();
    let before = Instant::now();
    let mut stream = UnixStream::connect(socket).expect("the daemon listens");
    let request = format!(
        "POST /v1/actions/{action} HTTP/1.1\r\nHost: tabwire.local\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    let taken = before.elapsed();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    taken
}

/// A page with about two hundred elements that can be acted on.
fn page() -> String {
    let rows: String = (0..100)
        .map(|row| format!("<li><a%20href='%23{row}'>Row%20{row}</a><button>Do%20{row}</button></li>"))
        .collect();
    format!("data:text/html,<title>Bench</title><input%20id=a><ul>{rows}</ul>")
}

/// Kibibytes of memory that are this process's own share.
fn proportional_kib(pid: u32) -> u64 {
    let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}

fn calls(world: &TabwireWorld) {
    let socket = world.home().join("runtime").join("daemon.sock");
    let mut client = Client::start(world, &["--session", "bench", "--policy", "open"]);
    client.call("navigate", &json!({"url": page()}));
    for (tool, arguments, params) in [
        ("eval", json!({"expression": "1"}), json!({"expression": "1"})),
        ("get_text", json!({}), json!({})),
        ("snapshot", json!({}), json!({})),
        ("click", json!({"selector": "button"}), json!({"target": "button"})),
    ] {
        let (mut ours, mut bare) = (Sample::default(), Sample::default());
        for _ in 0..ROUNDS / 10 {
            let _ = (client.call(tool, &arguments), ask_daemon(&socket, tool, &params));
        }
        for _ in 0..ROUNDS {
            ours.add(client.call(tool, &arguments));
            bare.add(ask_daemon(&socket, tool, &params));
        }
        println!(
            "{tool:<10} tool {:>10}  API {:>10}  (medians)   tool {:>10}  API {:>10}  (p99)",
            micros(ours.median()),
            micros(bare.median()),
            micros(ours.p99()),
            micros(bare.p99())
        );
    }
    println!("idle: {} KiB (its proportional share)", proportional_kib(client.process.id()));
}

fn starts(world: &TabwireWorld) {
    let (mut ours, mut empty) = (Sample::default(), Sample::default());
    for _ in 0..STARTS {
        let before = Instant::now();
        assert!(Command::new("/bin/true").status().expect("it runs").success());
        empty.add(before.elapsed());
        let before = Instant::now();
        let client = Client::start(world, &[]);
        ours.add(before.elapsed());
        drop(client);
    }
    println!(
        "start to the first answer {:>10}  an empty process {:>10}  (medians)",
        micros(ours.median()),
        micros(empty.median())
    );
}

fn main() {
    let world = TabwireWorld::new(env!("CARGO_BIN_EXE_tabwire"));
    world.run(&["open", "about:blank", "--session", "bench"]);
    starts(&world);
    calls(&world);
}
