//! What a user of several sessions does, at random. Failures that faults explain are part of it.

use std::time::Duration;

use super::chance::Chance;
use super::home::Home;
use super::process::signal;
use crate::trouble::Trouble;

/// The sessions; the last two share a browser.
const SESSIONS: [&str; 4] = ["own-one", "own-two", "shared-one", "shared-two"];

/// A page with something to press.
const PAGE: &str =
    "data:text/html,<title>0</title><button%20onclick='document.title%2B%2B'>Go</button><input>";

/// How long a command runs before it is interrupted.
const IMPATIENCE: Duration = Duration::from_millis(300);

/// Carries out one deed; fails when a command hangs or fails as only a bug does.
pub(super) fn carry_out(home: &Home, chance: &mut Chance) -> Result<(), Trouble> {
    let session = chance.choose(&SESSIONS).copied().unwrap_or(SESSIONS[0]);
    let isolation: &[&str] = if session.starts_with("shared") { &["--isolation", "context"] } else { &[] };
    let run =
        |words: &[&str]| home.run(&[&["--session", session, "--json", "--timeout", "8s"], words].concat());
    match chance.below(16) {
        0..=3 => run(&[&["open"], isolation, &[PAGE]].concat()),
        4..=6 => run(&["click", "text=Go"]),
        7 | 8 => run(&["snapshot"]),
        9 => run(&["eval", "document.title"]),
        10 => run(&["fill", "input", "typed"]),
        11 => run(&["tab-new", PAGE]),
        12 => run(&["session", "stop"]),
        13 => run(&["session", "restart"]),
        14 => run(&["--as", "anna", "get", "url", "--pin-tab"]),
        _ => interrupt(home, session),
    }
}

/// Begins a wait and calls it off.
fn interrupt(home: &Home, session: &str) -> Result<(), Trouble> {
    let words = ["--session", session, "wait-for", "#never", "--timeout", "60s"];
    home.run_until(&words, |pid| {
        std::thread::sleep(IMPATIENCE);
        signal(pid, "INT");
    })
}
