//! What a new user sees first: the first screen, the demo on a terminal, the documentation inside the program.

use crate::cli::colors::on_a_terminal;
use crate::support::world::World;

#[test]
fn tabwire_alone_on_a_terminal_says_where_to_start() {
    let world = World::new().with("NO_COLOR", "1");
    let shown = on_a_terminal(&world, "");
    for words in ["Tabwire 0.", "Browser: /", "tabwire demo", "tabwire mcp install", "tabwire open"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(shown.lines().count() <= 10, "{shown}");
    let piped = world.run(&[]);
    assert!(piped.stdout.is_empty() && piped.stderr.contains("Usage:"), "{piped:?}");
}

#[test]
fn the_demo_on_a_terminal_links_to_the_live_view() {
    let world = World::new().with("NO_COLOR", "1");
    let shown = on_a_terminal(&world, "demo");
    let link = shown.split("works once: ").nth(1).unwrap_or_else(|| panic!("no link: {shown}"));
    assert!(link.starts_with("http://127.0.0.1:") && link.contains("session="), "{shown}");
    // The input of this terminal has ended, which starts the script as Enter does.
    assert!(shown.contains("then press Enter"), "{shown}");
    let recording = shown.split("its recording: ").nth(1).and_then(|rest| rest.split_whitespace().next());
    let recording = std::fs::metadata(recording.expect("a recording")).expect("it is there");
    assert!(recording.is_dir() || recording.len() > 1000, "{recording:?}");
    assert_eq!(world.eval("document.querySelector('#total').textContent"), "3");
    // Without a terminal there is no link into the dashboard.
    let quiet = world.run(&["demo"]).succeeded();
    assert!(!quiet.stderr.contains("once: "), "{quiet:?}");
}

#[test]
fn docs_prints_pages_and_explains_error_codes() {
    let world = World::new();
    assert!(world.run(&["docs"]).succeeded().stdout.contains("getting-started"));
    assert!(world.run(&["docs", "policy"]).succeeded().stdout.starts_with("# "));
    let code = world.run(&["docs", "REF_EXPIRED"]).succeeded();
    assert!(code.stdout.starts_with("REF_EXPIRED: ") && code.stdout.contains("snapshot"), "{code:?}");
    assert_eq!(world.run(&["--json", "docs", "no-such-page"]).failure(), ("BAD_ARGS".to_owned(), 2));
}
