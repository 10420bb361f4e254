//! Colours on terminals only, and never with NO_COLOR. `script` provides the terminal.

use crate::support::world::World;

const ESCAPE: char = '\u{1b}';

/// Runs the binary on a terminal and returns what it showed.
pub(crate) fn on_a_terminal(world: &World, arguments: &str) -> String {
    let line = format!("{} {arguments}", env!("CARGO_BIN_EXE_tabwire"));
    let transcript = world.home().join("transcript").display().to_string();
    world.run_program("script", &["-qec", &line, &transcript]).stdout
}

#[test]
fn a_pipe_never_gets_an_escape_byte() {
    let world = World::new();
    for arguments in [&["--help"][..], &["opne"], &["close"], &["daemon", "status"], &["doctor"], &["status"]]
    {
        let outcome = world.run(arguments);
        assert!(!outcome.stdout.contains(ESCAPE) && !outcome.stderr.contains(ESCAPE), "{arguments:?}");
    }
}

#[test]
fn a_terminal_gets_colours_unless_disabled() {
    let world = World::new().with("TERM", "xterm-256color");
    for arguments in ["close", "tabs --browser /nonexistent"] {
        let shown = on_a_terminal(&world, arguments);
        assert!(shown.contains(ESCAPE), "{arguments}: {shown:?}");
    }
    let shown = on_a_terminal(&world, "--json close");
    assert!(!shown.contains(ESCAPE), "JSON has no colours: {shown:?}");

    let plain = world.with("NO_COLOR", "1");
    for arguments in ["--help", "close", "opne"] {
        let shown = on_a_terminal(&plain, arguments);
        assert!(!shown.contains(ESCAPE) && !shown.is_empty(), "{arguments}: {shown:?}");
    }
}

#[test]
fn a_dumb_terminal_gets_no_colours() {
    let world = World::new().with("TERM", "dumb");
    let shown = on_a_terminal(&world, "close");
    assert!(shown.contains("NO_BACKEND") && !shown.contains(ESCAPE), "{shown:?}");
}
