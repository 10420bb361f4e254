//! Many rented sessions of one daemon: memory, throughput, and the release after a kill.

use std::time::{Duration, Instant};

use serde_json::Value;
use tabwire_testkit::by_size;

use super::records;
use crate::support::cdp_client::CdpClient;
use crate::support::fake_grid::FakeGrid;
use crate::support::process::kill;
use crate::support::wait::eventually;
use crate::support::world::{World, wait};

/// Memory of the daemon that one rented session may take, in KiB.
const SESSION_KIBIBYTES: u64 = 1_500;

/// Sessions that start at once.
const AT_ONCE: usize = 10;

/// How long commands are sent.
const MEASURED: Duration = Duration::from_secs(2);

/// Resident memory of a process in KiB.
fn resident(pid: i32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = text.lines().find(|line| line.starts_with("VmRSS:")).expect("its memory");
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number")
}

/// Commands per second that clients of these sessions get done together. Each command goes to its fake browser and back.
fn throughput(addresses: &[String]) -> u64 {
    let clients: Vec<_> = addresses
        .iter()
        .map(|address| {
            let mut client = CdpClient::connect(address);
            let page = client.open_page("about:blank");
            (client, page.session)
        })
        .collect();
    let end = Instant::now() + MEASURED;
    let running = clients.into_iter().map(|(mut client, session)| {
        std::thread::spawn(move || {
            let mut done = 0_u64;
            while Instant::now() < end {
                assert_eq!(client.evaluate("its own text", &session), "its own text");
                done += 1;
            }
            done
        })
    });
    let running: Vec<_> = running.collect();
    let done: u64 = running.into_iter().map(|client| client.join().expect("it ends")).sum();
    done / MEASURED.as_secs()
}

#[test]
fn many_rented_sessions_share_one_daemon_and_all_are_released() {
    let count = by_size(12, 200);
    let slots = count.to_string();
    let grid = FakeGrid::start(&["--nodes", "4", "--slots", &slots]);
    let world = World::new();
    let url = grid.url();
    let name = |number: usize| format!("rented-{number}");
    let start = |number: usize| {
        world.start(&[
            "--json",
            "--session",
            &name(number),
            "session",
            "start",
            "--grid",
            &url,
            "--rent-wait",
            "100s",
        ])
    };
    // The first session loads what all share.
    wait(start(0), &["start"]).succeeded();
    let daemon = world.daemon_pid();
    let before = resident(daemon);
    let started = Instant::now();
    let numbers: Vec<usize> = (1..count).collect();
    for some in numbers.chunks(AT_ONCE) {
        let children: Vec<_> = some.iter().map(|number| start(*number)).collect();
        for child in children {
            wait(child, &["start"]).succeeded();
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    let others = u64::try_from(count - 1).expect("a count");
    let each = resident(daemon).saturating_sub(before) / others;
    assert_eq!(grid.count("alive"), others + 1);
    let listed = world.json(&["session", "list"]);
    let sessions = listed["sessions"].as_array().expect("sessions");
    assert!(sessions.iter().filter(|session| session["ownership"] == "rented").count() == count, "{listed}");

    let address = |number: usize| {
        let session = name(number);
        world.run(&["--session", &session, "cdp-url"]).succeeded().text().to_owned()
    };
    let one = throughput(&[address(0)]);
    let some: Vec<String> = (0..count.min(40)).map(address).collect();
    let all = throughput(&some);
    println!(
        "{count} rented sessions: started in {seconds:.1} s, {each} KiB each; {one} commands/s in one, {all} in {} together",
        some.len()
    );
    assert!(each < SESSION_KIBIBYTES, "{each} KiB for each session");
    // Together they are not slower than one alone, with room for a busy machine.
    assert!(all * 2 > one, "{all} commands/s in all, {one} in one");

    kill(daemon);
    eventually("the connections end", 20, || {
        grid.request("GET", "/fake/counts", &Value::Null)["connections"] == 0
    });
    assert_eq!((grid.count("alive"), records(&world).len()), (others + 1, count));
    let released = Instant::now();
    world.run(&["daemon", "start"]).succeeded();
    grid.empties(60);
    eventually("no record is left", 20, || records(&world).is_empty());
    println!("released {count} sessions of a killed daemon in {:.1} s", released.elapsed().as_secs_f64());
}
