//! A cold `tabwire open` of the demo page, compared with the time of a bare headless browser to its first
//! response.
#![expect(clippy::print_stdout, reason = "a bench prints its table")]

use std::time::{Duration, Instant};

use tabwire_cdp::{Connection, TaskGroup, WebSocketUrl};

use tabwire_testkit::bench::{BareBrowser, Sample, TabwireWorld};

const ROUNDS: usize = 8;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (mut bare, mut with_daemon, mut without) = (Sample::default(), Sample::default(), Sample::default());
    for _ in 0..ROUNDS {
        let before = Instant::now();
        let browser = BareBrowser::start(&browser_program());
        runtime.block_on(async {
            let tasks = TaskGroup::new();
            let address = WebSocketUrl::parse(&browser.websocket()).expect("an address");
            let (source, sink) = address.connect().await.expect("connected");
            let connection = Connection::start(source, sink, &tasks);
            connection
                .browser()
                .send("Browser.getVersion", &(), Duration::from_secs(20))
                .await
                .expect("a response");
        });
        bare.add(before.elapsed());
        drop(browser);

        let world = TabwireWorld::new(env!("CARGO_BIN_EXE_tabwire"));
        let before = Instant::now();
        world.run(&["open"]);
        without.add(before.elapsed());
        world.run(&["close"]);
        let before = Instant::now();
        world.run(&["open"]);
        with_daemon.add(before.elapsed());
    }
    for (name, sample) in [
        ("bare browser, first response", &bare),
        ("tabwire open, no daemon yet", &without),
        ("tabwire open, daemon runs", &with_daemon),
    ] {
        println!(
            "{name:<30} median {:>7.0} ms  min {:>7.0} ms  over the bare one {:>6.0} ms",
            sample.median().as_secs_f64() * 1e3,
            sample.minimum().as_secs_f64() * 1e3,
            (sample.median().as_secs_f64() - bare.median().as_secs_f64()) * 1e3,
        );
    }
}

fn browser_program() -> std::path::PathBuf {
    tabwire_browser::finder::find(None, std::env::var_os("PATH").as_deref()).expect("a browser").path
}
