//! Random faults: kills or pauses a browser, renderer, keeper or daemon.

use std::time::Duration;

use super::home::Home;
use super::process::{Process, signal};
use super::rng::Rng;

/// How long a daemon is paused.
const PAUSE: Duration = Duration::from_millis(1_500);

/// Injects one fault. Kills a daemon only with `also_daemons`, because its growth is lost with it.
pub(super) fn inject(home: &Home, rng: &mut Rng, also_daemons: bool) {
    let all = home.processes();
    let of =
        |what: &dyn Fn(&Process) -> bool| all.iter().filter(|each| what(each)).cloned().collect::<Vec<_>>();
    let daemon = |each: &Process| each.command.contains("daemon run");
    let (victims, name) = match rng.below(if also_daemons { 10 } else { 8 }) {
        0..=2 => (of(&Process::is_browser), "KILL"),
        3 | 4 => (of(&|each| each.command.contains("--type=renderer")), "KILL"),
        5 | 6 => (of(&|each| each.command.ends_with("tabwire keep")), "KILL"),
        7 => (of(&daemon), "STOP"),
        _ => (of(&daemon), "KILL"),
    };
    let Some(victim) = rng.choose(&victims) else { return };
    signal(victim.pid, name);
    if name == "STOP" {
        std::thread::sleep(PAUSE);
        signal(victim.pid, "CONT");
    }
}
