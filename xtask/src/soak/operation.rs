//! A random command of a user with several sessions. Errors other than `INTERNAL` are expected.

use std::time::Duration;

use super::home::Home;
use super::process::signal;
use super::rng::Rng;
use crate::error::Error;

/// The sessions; the last two share a browser.
const SESSIONS: [&str; 4] = ["own-one", "own-two", "shared-one", "shared-two"];

/// A page with a button and a field.
const PAGE: &str =
    "data:text/html,<title>0</title><button%20onclick='document.title%2B%2B'>Go</button><input>";

/// How long a command runs before it is interrupted.
const INTERRUPT_AFTER: Duration = Duration::from_millis(300);

/// Runs one command. Fails when it hangs or reports `INTERNAL`.
pub(super) fn run(home: &Home, rng: &mut Rng) -> Result<(), Error> {
    let session = rng.choose(&SESSIONS).copied().unwrap_or(SESSIONS[0]);
    let isolation: &[&str] = if session.starts_with("shared") { &["--isolation", "context"] } else { &[] };
    let run_command =
        |words: &[&str]| home.run(&[&["--session", session, "--json", "--timeout", "8s"], words].concat());
    match rng.below(16) {
        0..=3 => run_command(&[&["open"], isolation, &[PAGE]].concat()),
        4..=6 => run_command(&["click", "text=Go"]),
        7 | 8 => run_command(&["snapshot"]),
        9 => run_command(&["eval", "document.title"]),
        10 => run_command(&["fill", "input", "typed"]),
        11 => run_command(&["tab-new", PAGE]),
        12 => run_command(&["session", "stop"]),
        13 => run_command(&["session", "restart"]),
        14 => run_command(&["--as", "anna", "get", "url", "--pin-tab"]),
        _ => interrupt(home, session),
    }
}

/// Starts a wait and interrupts it.
fn interrupt(home: &Home, session: &str) -> Result<(), Error> {
    let words = ["--session", session, "wait-for", "#never", "--timeout", "60s"];
    home.run_until(&words, |pid| {
        std::thread::sleep(INTERRUPT_AFTER);
        signal(pid, "INT");
    })
}
