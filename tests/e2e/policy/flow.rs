//! Text read on one site does not leave for another one in a URL or a form without a grant (T26).

use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

/// A text longer than a search.
fn long() -> String {
    "x".repeat(250)
}

#[test]
fn t26_long_text_goes_to_another_site_only_with_carry() {
    let (world, site) = (World::new().with("TABWIRE_POLICY", "guarded"), FixtureSite::start());
    let (bank, shop) = (site.url("a", "/plain"), site.url("b", "/inputs"));
    for origin in [site.url("a", ""), site.url("b", "")] {
        world.run(&["allow", &origin, "--act", "--without-terminal"]).succeeded();
    }
    let (far, long) = (format!("{shop}?q={}", long()), long());
    // Before another site was read, the URL is not restricted.
    world.run(&["open", &far]).succeeded();
    world.run(&["open", &bank]).succeeded();
    world.run(&["get-text"]).succeeded();
    let refused = world.run(&["--json", "open", &far]);
    assert_eq!(refused.failure(), ("POLICY_DENIED".to_owned(), 3), "{refused:?}");
    let output = refused.json()["error"].to_string();
    assert!(output.contains("was read") && output.contains("--carry"), "{output}");
    assert_eq!(world.run(&["get", "url"]).succeeded().text(), bank, "nothing was opened");
    // Opening the site and short texts are allowed.
    world.run(&["open", &shop]).succeeded();
    world.run(&["fill", "#text", "a few words"]).succeeded();
    let refused = world.run(&["--json", "fill", "#text", &long]);
    assert_eq!(refused.failure(), ("POLICY_DENIED".to_owned(), 3), "{refused:?}");
    let kept = world.run(&["get", "value", "#text"]).succeeded();
    assert_eq!(kept.text(), "a few words", "nothing was typed");
    world.run(&["allow", &site.url("b", ""), "--carry", "--act", "--without-terminal"]).succeeded();
    world.run(&["fill", "#text", &long]).succeeded();
    world.run(&["open", &far]).succeeded();
    let log = world.run(&["log", "--json"]).succeeded().stdout;
    assert!(log.contains("brought_to") && log.contains("brought_from"), "{log}");
    assert!(!log.contains(&long), "the text itself is not logged");
}

#[test]
fn an_open_session_needs_no_carry_and_its_flows_are_logged() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.open(&[&site.url("a", "/plain")]);
    world.open(&[&format!("{}?q={}", site.url("b", "/inputs"), long())]);
    let log = world.run(&["log", "--json"]).succeeded().stdout;
    assert!(log.contains("\"brought_characters\""), "{log}");
}
