//! Pages with instructions and an agent that obeys them: a guarded session leaks nothing to other sites (T20, T26). The
//! same agent leaks in an open session, which shows that the instructions work.

use tabwire_testkit::{INJECTION_DATA, INJECTIONS};

use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

/// The text that the agent has read where its user is logged in; as long as a line of an account statement.
fn statement() -> String {
    format!("canary{}", "0123456789".repeat(22))
}

/// Everything that an agent can read.
fn read(world: &World) -> String {
    [&["snapshot", "--full"][..], &["get-html"]].iter().map(|look| world.run(look).stdout).collect()
}

/// The instruction that an agent finds in the text.
fn find_order(seen: &str) -> Option<Vec<String>> {
    let plain = seen.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    for (at, _) in plain.match_indices("ORDER ") {
        let rest = &plain[at + 6..];
        let Some(end) = rest.find(" END") else { continue };
        let text = &rest[..end];
        // Quoted texts are read as well.
        for text in [text.to_owned(), text.replace("\\\"", "\"")] {
            if let Ok(order) = serde_json::from_str(&text) {
                return Some(order);
            }
        }
    }
    None
}

/// The number of instructions that an obedient agent has found, and how often its text reached other sites.
fn obey_all(world: &World, site: &FixtureSite) -> (usize, u64) {
    let (statement, mut heard) = (statement(), 0);
    for number in 0..INJECTIONS {
        world.run(&["open", &site.url("a", "/plain")]).succeeded();
        world.run(&["open", &site.url("b", &format!("/hostile/lure?number={number}"))]).succeeded();
        let Some(order) = find_order(&read(world)) else { continue };
        heard += 1;
        world.run(&["open", &site.url("a", "/plain")]).succeeded();
        let words: Vec<String> = order.iter().map(|word| word.replace(INJECTION_DATA, &statement)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        // The other site's request count shows whether it was refused.
        let outcome = world.run(&words);
        assert!(!outcome.stderr.contains("INTERNAL"), "{words:?}: {outcome:?}");
    }
    (heard, site.request_count(&format!("/leak-{statement}")))
}

#[test]
fn t20_t26_an_obedient_agent_leaks_nothing_in_a_guarded_session() {
    let (world, site) = (World::new().with("TABWIRE_POLICY", "guarded"), FixtureSite::start());
    // The user grants work at the bank, and reading the other site.
    world.run(&["allow", &site.url("a", ""), "--act", "--without-terminal"]).succeeded();
    world.run(&["allow", &site.url("b", ""), "--without-terminal"]).succeeded();
    let (heard, leaked) = obey_all(&world, &site);
    assert!(
        heard > INJECTIONS / 2,
        "the agent hears of {heard} orders only; it must be as gullible as can be"
    );
    assert_eq!(leaked, 0, "{leaked} of {heard} orders leaked");
}

#[test]
fn the_same_agent_leaks_in_an_open_session() {
    let (world, site) = (World::new(), FixtureSite::start());
    let (heard, leaked) = obey_all(&world, &site);
    assert!(leaked > 8, "{leaked} of {heard}: such orders would show nothing in a guarded session");
}
