//! The cost of MCP: the same action as a tool call and as a request to the daemon, in turns; the time to the
//! first response compared with an empty process; and the memory of the idle relay process.
#![expect(clippy::print_stdout, reason = "a bench prints its table")]

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tabwire_testkit::bench::{McpClient, Sample, TabwireWorld, empty_program, micros};

const ROUNDS: usize = 300;
const STARTS: usize = 40;

/// Concurrent agents, and actions of each.
const AGENTS: usize = 20;
const ACTIONS: usize = 40;

/// The same action through the daemon's API.
fn ask_daemon(socket: &PathBuf, tab: &str, action: &str, params: &Value) -> Duration {
    let body = json!({"session": "bench", "tab": tab, "params": params, "text": true}).to_string();
    let before = Instant::now();
    let mut stream = UnixStream::connect(socket).expect("the daemon listens");
    let request = format!(
        "POST /v1/actions/{action} HTTP/1.1\r\nHost: tabwire.local\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("it responds");
    let taken = before.elapsed();
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");
    taken
}

/// A page with about two hundred interactive elements.
fn page() -> String {
    let rows: String = (0..100)
        .map(|row| format!("<li><a%20href='%23{row}'>Row%20{row}</a><button>Do%20{row}</button></li>"))
        .collect();
    format!("data:text/html,<title>Bench</title><input%20id=a><ul>{rows}</ul>")
}

/// Proportional set size of a process, in KiB.
fn proportional_kib(pid: u32) -> u64 {
    let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}

fn calls(world: &TabwireWorld) {
    let socket = world.home().join("runtime").join("daemon.sock");
    let arguments = ["mcp", "--global", "--session", "bench", "--policy", "open"];
    let mut client = McpClient::start(world.command(&arguments));
    let (_, output) = client.call_for_text("navigate", &json!({"url": page()}));
    let tab = output.split_whitespace().find(|word| word.starts_with("pipe:")).expect("a tab id");
    for (tool, arguments, params) in [
        ("eval", json!({"expression": "1"}), json!({"expression": "1"})),
        ("get_text", json!({}), json!({})),
        ("snapshot", json!({}), json!({})),
        ("click", json!({"selector": "li:first-child button"}), json!({"target": "li:first-child button"})),
    ] {
        let (mut ours, mut bare) = (Sample::default(), Sample::default());
        for _ in 0..ROUNDS / 10 {
            let _ = (client.call(tool, &arguments), ask_daemon(&socket, tab, tool, &params));
        }
        for _ in 0..ROUNDS {
            ours.add(client.call(tool, &arguments));
            bare.add(ask_daemon(&socket, tab, tool, &params));
        }
        println!(
            "{tool:<10} tool {:>10}  API {:>10}  (medians)   tool {:>10}  API {:>10}  (p99)",
            micros(ours.median()),
            micros(bare.median()),
            micros(ours.p99()),
            micros(bare.p99())
        );
    }
    println!("idle: {} KiB (its proportional share)", proportional_kib(client.id()));
}

/// From the start of the process to its first response, with a running daemon and without one.
fn starts(world: &TabwireWorld) {
    let directory = tempfile::tempdir().expect("a directory");
    let program = empty_program(directory.path());
    let (mut warm, mut cold, mut empty) = (Sample::default(), Sample::default(), Sample::default());
    for round in 0..STARTS {
        let before = Instant::now();
        assert!(Command::new(&program).status().expect("it runs").success());
        empty.add(before.elapsed());
        warm.add(first_response(world));
        if round % 4 == 0 {
            let other = TabwireWorld::new(env!("CARGO_BIN_EXE_tabwire"));
            cold.add(first_response(&other));
        }
    }
    for (name, sample) in [("with a daemon", &warm), ("without one", &cold)] {
        println!(
            "start to the first response, {name:<13} {:>10}  over an empty process {:>10}",
            micros(sample.median()),
            micros(sample.median().saturating_sub(empty.median()))
        );
    }
}

fn first_response(world: &TabwireWorld) -> Duration {
    let before = Instant::now();
    let client = McpClient::start(world.command(&["mcp"]));
    let taken = before.elapsed();
    drop(client);
    taken
}

/// Actions per second: of one agent, and of twenty agents on a tab each, where every action takes 50 ms.
fn crowd(world: &TabwireWorld) {
    let one = throughput(world, 1);
    let all = throughput(world, AGENTS);
    println!("one agent {one:.1} actions a second, {AGENTS} agents {all:.1}: {:.1}x", all / one);
}

fn throughput(world: &TabwireWorld, agents: usize) -> f64 {
    let clients: Vec<(McpClient, Value)> = (0..agents)
        .map(|_| {
            let arguments = ["mcp", "--global", "--session", "bench", "--policy", "open"];
            let mut client = McpClient::start(world.command(&arguments));
            client.call("tab_new", &json!({"url": page()}));
            let wait = json!({"expression": "new Promise((done) => setTimeout(() => done(1), 50))"});
            client.call("eval", &wait);
            (client, wait)
        })
        .collect();
    let before = Instant::now();
    std::thread::scope(|scope| {
        for (mut client, wait) in clients {
            scope.spawn(move || {
                for _ in 0..ACTIONS {
                    client.call("eval", &wait);
                }
            });
        }
    });
    #[expect(clippy::cast_precision_loss, reason = "a few hundred")]
    let actions = (agents * ACTIONS) as f64;
    actions / before.elapsed().as_secs_f64()
}

fn main() {
    let world = TabwireWorld::new(env!("CARGO_BIN_EXE_tabwire"));
    world.run(&["open", "about:blank", "--global", "--session", "bench"]);
    starts(&world);
    calls(&world);
    crowd(&world);
}
