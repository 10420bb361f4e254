//! Hostile scripts: each ends in time, leaves no process, and does not slow down other clients.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tabwire_testkit::{HOSTILE_SCRIPTS, by_size};

use crate::mcp::client::{McpClient, text_of};
use crate::support::process::Process;
use crate::support::wait::eventually;
use crate::support::world::World;

/// The timeout of each program: in full runs long enough for a hundred calls of the other client beside each.
fn timeout() -> Duration {
    Duration::from_millis(by_size(400, 1_500))
}

/// After its timeout a program is gone within 1.5 s. The rest is for a machine that runs other tests.
const GONE: Duration = Duration::from_millis(1_500 + 4_000);

/// The 99th percentile of another client's calls is under 50 ms (`cargo xtask bench script` measures it). A debug build
/// on a machine that runs other tests gets this.
const SLOWEST: Duration = Duration::from_millis(1_500);

fn script_processes(world: &World) -> Vec<i32> {
    let daemon = world.daemon_pid();
    let is_child = |process: &Process| {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.pid)).unwrap_or_default();
        let parent = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)?.parse().ok());
        process.command.ends_with("script-child") && parent == Some(daemon)
    };
    Process::all().iter().filter(|process| is_child(process)).map(|process| process.pid).collect()
}

/// Times of calls of a well-behaved client until the hostile call has its response.
fn calls_until(good: &mut McpClient, bad: &mut McpClient, id: u64) -> (Vec<Duration>, Value) {
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| bad.response(id));
        let mut times = Vec::new();
        while !waiting.is_finished() {
            let since = Instant::now();
            let text = good.text("get", json!({"what": "title"}));
            assert!(text.contains("Calm"), "{text}");
            times.push(since.elapsed());
        }
        (times, waiting.join().expect("a response"))
    })
}

#[test]
fn hostile_scripts_end_in_time_and_do_not_slow_others_down() {
    let world = World::new();
    let open = ["--policy", "open"];
    let mut good = McpClient::start(&world, &[&open[..], &["--tools", "all"]].concat());
    good.text("navigate", json!({"url": "data:text/html,<title>Calm</title>"}));
    let mut bad =
        McpClient::start(&world, &[&open[..], &["--tools", "execute", "--session", "bad"]].concat());
    bad.text("execute", json!({"code": "await page.goto('data:text/html,<title>Bad</title>'); 1"}));
    for (what, code) in HOSTILE_SCRIPTS {
        let since = Instant::now();
        let arguments = json!({"code": code, "timeout_ms": timeout().as_millis()});
        let id = bad.begin("tools/call", json!({"name": "execute", "arguments": arguments}));
        let (mut times, response) = calls_until(&mut good, &mut bad, id);
        let took = since.elapsed();
        let result = &response["result"];
        assert_eq!(result["isError"], true, "{what}: {}", text_of(result));
        assert!(took < timeout() + GONE, "{what} took {took:?}: {}", text_of(result));
        times.sort();
        let slow = times[(times.len() * 99 / 100).min(times.len() - 1)];
        let middle = times[times.len() / 2];
        eprintln!("{what}: {} calls, median {middle:?}, p99 {slow:?}, gone after {took:?}", times.len());
        assert!(slow < SLOWEST, "{what}: {slow:?} of {} calls", times.len());
        // A process that was interrupted is replaced; none is left that computes.
        eventually("one process is left at most", 10, || script_processes(&world).len() <= 1);
    }
    assert!(bad.text("execute", json!({"code": "1 + 1"})).contains('2'), "the client can go on");
}
