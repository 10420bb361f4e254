//! Strokes of fate: processes that are killed, stopped and started again. Knows nothing of what they do.

use std::time::Duration;

use super::chance::Chance;
use super::home::Home;
use super::process::{Process, signal};

/// How long a daemon stands still.
const STANDSTILL: Duration = Duration::from_millis(1_500);

/// Strikes somebody. A daemon is killed only where `also_daemons`: what it has grown by is lost with it.
pub(super) fn strike(home: &Home, chance: &mut Chance, also_daemons: bool) {
    let all = home.processes();
    let of =
        |what: &dyn Fn(&Process) -> bool| all.iter().filter(|each| what(each)).cloned().collect::<Vec<_>>();
    let daemon = |each: &Process| each.command.contains("daemon run");
    let (victims, name) = match chance.below(if also_daemons { 10 } else { 8 }) {
        0..=2 => (of(&Process::is_browser), "KILL"),
        3 | 4 => (of(&|each| each.command.contains("--type=renderer")), "KILL"),
        5 | 6 => (of(&|each| each.command.ends_with("tabwire keep")), "KILL"),
        7 => (of(&daemon), "STOP"),
        _ => (of(&daemon), "KILL"),
    };
    let Some(victim) = chance.choose(&victims) else { return };
    signal(victim.pid, name);
    if name == "STOP" {
        std::thread::sleep(STANDSTILL);
        signal(victim.pid, "CONT");
    }
}
