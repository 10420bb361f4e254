//! Recordings of a terminal for README and docs. `cargo xtask pictures` copies them from `target/screenshots`.

mod svg;
mod terminal;

use std::path::Path;

use tabwire_testkit::by_size;

use crate::support::world::World;
use svg::drawn;
use terminal::Terminal;

/// The largest recording: README shows one.
const MOST_BYTES: usize = 60_000;

fn save(name: &str, label: &str, terminal: &Terminal<'_>) {
    let image = drawn(label, terminal.steps());
    assert!(image.len() < MOST_BYTES, "{name} has {} bytes", image.len());
    for words in ["/tmp/", "\u{1b}"] {
        assert!(!image.contains(words), "{name} shows {words:?}: {image}");
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/screenshots");
    std::fs::create_dir_all(&folder).expect("a directory");
    std::fs::write(folder.join(name), image).expect("written");
}

/// The ref of a line of a snapshot, such as `e9` of `textbox "Your name" [e9]`.
fn ref_after(text: &str, words: &str) -> String {
    let rest = text.split(words).nth(1).unwrap_or_else(|| panic!("no {words} in {text}"));
    rest.split_once('[').and_then(|(_, rest)| rest.split_once(']')).expect("a ref").0.to_owned()
}

#[test]
fn the_recordings_of_the_documentation_are_made_in_full_runs() {
    if by_size(true, false) {
        eprintln!("recordings are made by full runs, or with TABWIRE_TEST_SIZE=full");
        return;
    }
    let world = World::new();
    let mut terminal = Terminal::new(&world);
    let page = terminal.run("tabwire open");
    let (field, button) = (ref_after(&page, "textbox \"Your name\""), ref_after(&page, "button \"Greet\""));
    let greeted = terminal.run(&format!("tabwire fill {field} Ada --then click {button} --snapshot"));
    assert!(greeted.contains("Hello, Ada!"), "{greeted}");
    save(
        "terminal.svg",
        "A terminal: tabwire opens a page, lists its elements with refs, fills a field and prints what changed",
        &terminal,
    );

    let mut terminal = Terminal::new(&world);
    let script = "await page.getByLabel('Your name').fill('Grace'); await page.getByRole('button', { name: 'Greet' }).click(); \
                  return page.locator('#greeting').textContent()";
    let result = terminal.run(&format!("tabwire execute \"{script}\""));
    assert!(result.contains("Hello, Grace!"), "{result}");
    let typed = terminal.run("tabwire execute \"await page.locator('#nothing').click({ timeout: 500 })\"");
    assert!(typed.contains("TIMEOUT") || typed.contains("SELECTOR_NOT_FOUND"), "{typed}");
    save(
        "recording-script.svg",
        "A terminal: a script with an API like Playwright's fills a form and returns a text; a wrong selector is explained",
        &terminal,
    );

    let mut terminal = Terminal::new(&world);
    terminal.run("tabwire allow https://shop.example --act --for 1h");
    let refused = terminal.run("tabwire policy check --policy guarded https://bank.example click");
    assert!(refused.contains("tabwire allow"), "{refused}");
    terminal.run("tabwire policy check --policy guarded https://shop.example click");
    terminal.run("tabwire grants");
    save(
        "recording-policy.svg",
        "A terminal: the user allows a site for an hour, checks another one, which needs a grant, and lists the grants",
        &terminal,
    );
}
