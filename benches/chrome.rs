//! `tabwire chrome` compared with the browser itself: launch to first response, round trips, and a running
//! browser used again, all by pipe, in turns.
#![expect(clippy::print_stdout, reason = "a bench prints its table")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use command_fds::{CommandFdExt as _, FdMapping};
use rustix::pipe::{PipeFlags, pipe_with};
use serde_json::{Value, json};
use tabwire_api::{CdpSessionId, TargetId};
use tabwire_cdp::limits::BROWSER_MESSAGE_CEILING;
use tabwire_cdp::{CdpSession, Connection, PipeSink, PipeSource, TaskGroup};
use tabwire_testkit::bench::{Sample, TabwireWorld, detached, micros, ratio};

const ROUNDS: usize = 8;
const BLOCKS: usize = 20;
const BLOCK: usize = 100;
const DEADLINE: Duration = Duration::from_secs(30);

/// Typical flags of a launcher.
const FLAGS: &[&str] = &[
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
    "--no-startup-window",
];

/// A browser or a shim, with its pipe.
struct Launched {
    child: Child,
    connection: Connection,
}

impl Launched {
    /// Starts it and waits for its first response.
    async fn start(mut command: Command, profile: &Path, tasks: &TaskGroup) -> Self {
        let (commands, to_browser) = pipe_with(PipeFlags::CLOEXEC).expect("a pipe");
        let (from_browser, responses) = pipe_with(PipeFlags::CLOEXEC).expect("a pipe");
        let child = command
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", profile.display()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .fd_mappings(vec![
                FdMapping { parent_fd: commands, child_fd: 3 },
                FdMapping { parent_fd: responses, child_fd: 4 },
            ])
            .expect("mapped")
            .spawn()
            .expect("it starts");
        drop(command);
        let source = PipeSource::new(from_browser, BROWSER_MESSAGE_CEILING).expect("a source");
        let sink = PipeSink::new(to_browser).expect("a sink");
        let connection = Connection::start(source, sink, tasks);
        connection.browser().send("Browser.getVersion", &(), DEADLINE).await.expect("a response");
        Self { child, connection }
    }

    async fn page(&self) -> CdpSession {
        let browser = self.connection.browser();
        let ask = async |method, params: Value| -> Value {
            browser
                .send(method, &params, DEADLINE)
                .await
                .and_then(|response| response.to())
                .expect("a response")
        };
        let created = ask("Target.createTarget", json!({"url": "about:blank"})).await;
        let target = TargetId::new(created["targetId"].as_str().expect("an id"));
        let attached = ask("Target.attachToTarget", json!({"targetId": target, "flatten": true})).await;
        self.connection.session(&CdpSessionId::new(attached["sessionId"].as_str().expect("an id")))
    }

    async fn close(mut self) {
        let _ = self.connection.browser().send("Browser.close", &(), DEADLINE).await;
        drop(self.connection);
        let _ = self.child.wait();
    }
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let world = TabwireWorld::new(env!("CARGO_BIN_EXE_tabwire"));
    world.run(&["daemon", "start"]);
    let home = tempfile::tempdir().expect("a directory");
    runtime.block_on(async {
        let tasks = TaskGroup::new();
        launches(&world, home.path(), &tasks).await;
        round_trips(&world, home.path(), &tasks).await;
    });
}

fn direct() -> Command {
    detached(browser_program())
}

fn shim(world: &TabwireWorld) -> Command {
    world.detached_command(&["chrome"])
}

async fn launches(world: &TabwireWorld, home: &Path, tasks: &TaskGroup) {
    let (mut bare, mut through, mut again) = (Sample::default(), Sample::default(), Sample::default());
    for round in 0..ROUNDS {
        let profile = |name: &str| -> PathBuf { home.join(format!("{name}-{round}")) };
        let before = Instant::now();
        let browser = Launched::start(direct(), &profile("direct"), tasks).await;
        bare.add(before.elapsed());
        browser.close().await;
        let before = Instant::now();
        let first = Launched::start(shim(world), &profile("through"), tasks).await;
        through.add(before.elapsed());
        let before = Instant::now();
        let second = Launched::start(shim(world), &profile("through"), tasks).await;
        again.add(before.elapsed());
        second.close().await;
        first.close().await;
    }
    for (name, sample) in
        [("launched directly", &bare), ("through it", &through), ("a live one again", &again)]
    {
        println!(
            "{name:<20} first response: median {:>6.0} ms  min {:>6.0} ms  over direct {:>6.0} ms  direct is {:.1} times it",
            sample.median().as_secs_f64() * 1e3,
            sample.minimum().as_secs_f64() * 1e3,
            (sample.median().as_secs_f64() - bare.median().as_secs_f64()) * 1e3,
            bare.median().as_secs_f64() / sample.median().as_secs_f64(),
        );
    }
}

async fn round_trips(world: &TabwireWorld, home: &Path, tasks: &TaskGroup) {
    let bare = Launched::start(direct(), &home.join("trips-direct"), tasks).await;
    let through = Launched::start(shim(world), &home.join("trips-through"), tasks).await;
    let pages = [bare.page().await, through.page().await];
    let mut samples = [Sample::default(), Sample::default()];
    for _ in 0..BLOCKS {
        for (sample, page) in samples.iter_mut().zip(&pages) {
            for _ in 0..BLOCK {
                let before = Instant::now();
                page.send("Runtime.evaluate", &json!({"expression": "1"}), DEADLINE)
                    .await
                    .expect("a response");
                sample.add(before.elapsed());
            }
        }
    }
    let [direct, through_it] = &samples;
    println!(
        "Runtime.evaluate     direct pipe {}  through it {}  {}",
        micros(direct.median()),
        micros(through_it.median()),
        ratio(through_it.median(), direct.median()),
    );
    drop(pages);
    bare.close().await;
    through.close().await;
}

fn browser_program() -> PathBuf {
    tabwire_browser::finder::find(None, std::env::var_os("PATH").as_deref()).expect("a browser").path
}
