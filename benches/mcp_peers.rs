//! Tool calls of `tabwire mcp` and of other MCP servers for browsers, on the same page, in turns.
#![expect(clippy::print_stdout, reason = "a bench prints its table")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::json;
use tabwire_testkit::Site;
use tabwire_testkit::bench::{McpClient, McpOperation, McpPeer, Sample, TabwireWorld, micros, ratio};

/// Time and number of uncounted calls of each server at the start, so that its scripts in the page are
/// compiled.
const WARM_UP: Duration = Duration::from_secs(1);
const WARM_UP_CALLS: usize = 100;
/// Blocks of calls of each server, and in each block uncounted and counted calls.
const BLOCKS: usize = 3;
const WARMING: usize = 3;
const ROUNDS: usize = 8;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let site = runtime.block_on(Site::start()).expect("a port");
    let url = site.url("a", "/bench");
    let world = TabwireWorld::new(env!("CARGO_BIN_EXE_tabwire"));
    let mut ours = McpClient::start(world.command(&["mcp", "--session", "bench", "--policy", "open"]));
    ours.call("navigate", &json!({"url": url}));
    let benches = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../benches");
    let mut peers = McpPeer::start_all(&benches, Path::new("/usr/bin/chromium"), &url);
    if peers.is_empty() {
        println!("no peer is installed: run `npm ci --ignore-scripts` in benches/peers");
    }
    for (operation, tool, arguments) in [
        (McpOperation::Eval, "eval", json!({"expression": "1"})),
        (McpOperation::GetText, "get_text", json!({})),
        (McpOperation::Snapshot, "snapshot", json!({})),
        (McpOperation::Click, "click", json!({"selector": "#b1"})),
    ] {
        let mut sample = Sample::default();
        let mut theirs: Vec<Option<Sample>> = peers.iter().map(|_| Some(Sample::default())).collect();
        warm_up(|| Some(ours.call(tool, &arguments)));
        for peer in &mut peers {
            warm_up(|| peer.time(operation));
        }
        // In blocks, because an agent also calls one server many times in a row.
        for _ in 0..BLOCKS {
            for round in 0..WARMING + ROUNDS {
                let taken = ours.call(tool, &arguments);
                if round >= WARMING {
                    sample.add(taken);
                }
            }
            for (peer, sample) in peers.iter_mut().zip(&mut theirs) {
                for round in 0..WARMING + ROUNDS {
                    match (peer.time(operation), sample.as_mut()) {
                        (Some(taken), Some(sample)) if round >= WARMING => sample.add(taken),
                        (Some(_), _) => {}
                        (None, _) => *sample = None,
                    }
                }
            }
        }
        println!("{tool:<10} tabwire {:>10}", micros(sample.median()));
        for (peer, theirs) in peers.iter().zip(&theirs) {
            let Some(theirs) = theirs else { continue };
            let times = ratio(theirs.median(), sample.median());
            println!("{:<10} {:<20} {:>10}  its / ours {times}", "", peer.name(), micros(theirs.median()));
        }
    }
}

/// Calls a server until it is warm; skips a server without the tool.
fn warm_up(mut call: impl FnMut() -> Option<Duration>) {
    let began = Instant::now();
    for _ in 0..WARM_UP_CALLS {
        if began.elapsed() >= WARM_UP || call().is_none() {
            return;
        }
    }
}
