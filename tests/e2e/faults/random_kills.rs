//! Kills processes at random moments of a start, a command and a stop: no process is orphaned, no session is lost.
//!
//! Moments and victims come from a fixed seed, which every failure message contains.

use std::process::Child;
use std::time::Duration;

use serde_json::Value;
use tabwire_testkit::by_size;

use crate::support::process::{Process, is_running, kill};
use crate::support::wait::{eventually, find_eventually};
use crate::support::world::World;

/// Kills in each of the four tests.
fn kills() -> u64 {
    by_size(3, 5)
}

/// How long a command may take whose daemon, browser or keeper was killed.
const COMMAND_SECONDS: u64 = 60;

/// The process that is killed.
#[derive(Clone, Copy, Debug)]
enum Victim {
    Daemon,
    CommandLine,
    Keeper,
    Browser,
}

/// A seeded xorshift generator.
struct Rng(u64);

impl Rng {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    fn victim(&mut self) -> Victim {
        [Victim::Daemon, Victim::CommandLine, Victim::Keeper, Victim::Browser]
            [usize::try_from(self.below(4)).expect("a small number")]
    }
}

impl Victim {
    /// The process, if there is one right now.
    fn find(self, world: &World, command_line: &Child) -> Option<i32> {
        let of = |what: &dyn Fn(&Process) -> bool| {
            world.processes().into_iter().find(|process| what(process)).map(|process| process.pid)
        };
        match self {
            Self::CommandLine => Some(command_line.id().cast_signed()),
            Self::Daemon => of(&|process| process.command.contains("daemon run")),
            Self::Keeper => of(&|process| process.command.ends_with("tabwire keep")),
            Self::Browser => world.browsers().first().map(|process| process.pid),
        }
    }
}

/// A session with a saved context, and a kill during each of some commands.
struct Trial {
    world: World,
    seed: u64,
    rng: Rng,
}

impl Trial {
    fn new(seed: u64) -> Self {
        let world = World::new();
        world.run(&["context", "set", "--target", "#kept", "--base-url", "http://kept.test/"]).succeeded();
        Self { world, seed, rng: Rng(seed) }
    }

    /// Starts a command, kills a process within the time, and checks the session.
    fn run_and_kill(&mut self, arguments: &[&str], within: u64) {
        let (victim, at) = (self.rng.victim(), self.rng.below(within));
        let seed = self.seed;
        let point = format!("seed {seed:#x}: {victim:?} killed {at} ms after `{}`", arguments.join(" "));
        let mut command = self.world.start(&[&["--json"], arguments].concat());
        std::thread::park_timeout(Duration::from_millis(at));
        let found = victim.find(&self.world, &command);
        if let Some(pid) = found {
            rustix::process::Pid::from_raw(pid)
                .map(|pid| rustix::process::kill_process(pid, rustix::process::Signal::KILL));
        }
        let ended = find_eventually(COMMAND_SECONDS, || command.try_wait().expect("our own child"));
        assert!(ended.is_some(), "{point}: the command hangs\n{}", self.world.log());
        let output = command.wait_with_output().expect("it has ended");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        if let Some(code) = output.status.code() {
            let response: Value =
                serde_json::from_str(&printed).unwrap_or_else(|_| panic!("{point}: no JSON: {printed}"));
            assert_eq!(code == 0, response.get("error").is_none(), "{point}: {response}");
            assert!(code == 0 || response["error"]["hint"].is_string(), "{point}: no hint: {response}");
        } else {
            assert!(matches!(victim, Victim::CommandLine), "{point}: {output:?}");
        }
        if let Some(pid) = found {
            eventually("the killed process ends", 10, || !is_running(pid));
        }
        self.check(&point);
    }

    /// The session works and keeps its context.
    fn check(&self, point: &str) {
        let response = self.world.run(&["--json", "eval", "20 + 2"]);
        assert_eq!(response.code, 0, "{point}: {response:?}\n{}", self.world.log());
        assert_eq!(response.json()["result"]["value"], 22, "{point}: {response:?}");
        let shown = self.world.json(&["context", "show"])["result"].clone();
        let kept = (&shown["target"], &shown["base_url"]);
        assert_eq!(kept, (&"#kept".into(), &"http://kept.test/".into()), "{point}: {shown}");
        let sessions = self.world.json(&["session", "list"])["sessions"].clone();
        assert_eq!(sessions.as_array().map(Vec::len), Some(1), "{point}: {sessions}");
        assert_eq!(sessions[0]["active"], true, "{point}: {sessions}");
    }

    /// After the last kill: one browser, described by one descriptor, with one profile.
    fn finish(self) {
        let world = &self.world;
        let one = || {
            world.files("runtime/browsers").len() == 2 && world.files("runtime/profiles").len() == 1 && {
                let descriptor =
                    world.files("runtime/browsers").into_iter().find(|name| name.ends_with(".json"));
                let text = descriptor.and_then(|name| {
                    std::fs::read_to_string(world.runtime().join("browsers").join(name)).ok()
                });
                let described: Option<Value> = text.and_then(|text| serde_json::from_str(&text).ok());
                described.is_some_and(|described| {
                    ["browser", "keeper"].iter().all(|who| {
                        let pid = described[who]["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok());
                        pid.is_some_and(is_running)
                    })
                })
            }
        };
        let settled = find_eventually(30, || one().then_some(()));
        assert!(
            settled.is_some(),
            "left: {:?} {:?} {:#?}\n{}",
            world.files("runtime/browsers"),
            world.files("runtime/profiles"),
            world.processes(),
            world.log()
        );
        let browsers = world.browsers();
        assert_eq!(browsers.len(), 1, "{browsers:#?}");
        self.remove_litter();
    }

    /// Removes temporary directories of killed browsers, which have no owner to find. The running browser
    /// removes its own.
    fn remove_litter(&self) {
        let (world, temporary) = (&self.world, self.world.home().join("tmp"));
        let profile = world.files("runtime/profiles").into_iter().next().expect("the one profile");
        let socket = world.runtime().join("profiles").join(profile).join("SingletonSocket");
        let living = std::fs::read_link(socket).ok();
        for name in world.files("tmp").iter().filter(|name| name.starts_with("org.chromium.Chromium.")) {
            let directory = temporary.join(name);
            if living.as_deref().is_none_or(|living| !living.starts_with(&directory)) {
                std::fs::remove_dir_all(directory).expect("removed");
            }
        }
    }
}

/// Kills a process during the command several times; `before` prepares the session.
fn kill_during(seed: u64, arguments: &[&str], within: u64, before: impl Fn(&World)) {
    let mut trial = Trial::new(seed);
    for _ in 0..kills() {
        before(&trial.world);
        trial.run_and_kill(arguments, within);
    }
    trial.finish();
}

#[test]
fn a_kill_at_any_moment_of_a_first_start_loses_nothing() {
    kill_during(0x5eed_0001, &["open", "data:text/html,<title>opened</title>"], 900, |world| {
        world.run(&["daemon", "stop"]).succeeded();
    });
}

#[test]
fn a_kill_at_any_moment_of_a_recovery_loses_nothing() {
    kill_during(0x5eed_0002, &["get", "url"], 900, |world| {
        world.run(&["open", "data:text/html,<title>opened</title>"]).succeeded();
        kill(world.pid("browser_pid"));
    });
}

#[test]
fn a_kill_at_any_moment_of_a_command_loses_nothing() {
    let work = "await new Promise((done) => setTimeout(done, 300)); 1";
    kill_during(0x5eed_0003, &["eval", work], 350, |_| {});
}

#[test]
fn a_kill_at_any_moment_of_a_stop_loses_nothing() {
    kill_during(0x5eed_0004, &["session", "stop"], 120, |world| {
        world.run(&["open", "data:text/html,<title>opened</title>"]).succeeded();
    });
}
