//! Firefox beside Chromium: warm commands on a small page in a session of each, and a cold `tabwire open`.
#![expect(clippy::print_stdout, reason = "a bench prints its table")]

use std::time::Instant;

use tabwire_testkit::Site;
use tabwire_testkit::bench::{Sample, TabwireWorld, micros, ratio, timed};

const ROUNDS: usize = 100;
const OPENS: usize = 6;

/// The sessions, and the browser of each.
const BROWSERS: [(&str, &str); 2] = [("c", "chromium"), ("f", "firefox")];

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let site = runtime.block_on(Site::start()).expect("a port");
    let world = TabwireWorld::new(env!("CARGO_BIN_EXE_tabwire"));
    let (page, form) = (site.url("a", "/plain"), site.url("a", "/inputs"));
    for (session, browser) in BROWSERS {
        world.run(&["--session", session, "open", "--browser", browser, &page]);
    }
    for (name, arguments) in [
        ("eval", &["eval", "1"][..]),
        ("snapshot", &["snapshot"][..]),
        ("click", &["click", "#count"][..]),
        ("screenshot", &["screenshot"][..]),
    ] {
        measure(&world, name, |_| arguments.iter().map(|one| (*one).to_owned()).collect());
    }
    for (session, _) in BROWSERS {
        world.run(&["--session", session, "open", &form]);
    }
    measure(&world, "fill", |round| vec!["fill".into(), "#text".into(), format!("value {round}")]);
    cold_opens(&page);
}

/// Runs a command in both sessions, taking turns.
fn measure(world: &TabwireWorld, name: &str, arguments: impl Fn(usize) -> Vec<String>) {
    let mut samples = [Sample::default(), Sample::default()];
    for round in 0..ROUNDS {
        for ((session, _), sample) in BROWSERS.iter().zip(&mut samples) {
            let given = arguments(round);
            let all: Vec<&str> =
                ["--session", *session].into_iter().chain(given.iter().map(String::as_str)).collect();
            sample.add(timed(world.command(&all)));
        }
    }
    let [chromium, firefox] = samples.map(|sample| sample.median());
    println!(
        "{name:<10} Chromium {:>10}  Firefox {:>10}  {} (aim for click and snapshot: 3x)",
        micros(chromium),
        micros(firefox),
        ratio(firefox, chromium)
    );
}

fn cold_opens(page: &str) {
    let mut sample = Sample::default();
    for _ in 0..OPENS {
        let world = TabwireWorld::new(env!("CARGO_BIN_EXE_tabwire"));
        let before = Instant::now();
        world.run(&["open", "--browser", "firefox", page]);
        sample.add(before.elapsed());
    }
    println!("cold open of Firefox: median {} (aim: 2.5 s)", micros(sample.median()));
}
