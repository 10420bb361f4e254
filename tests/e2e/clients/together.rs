//! Playwright, Puppeteer and the command line on one browser at the same time.

use std::sync::atomic::{AtomicBool, Ordering};

use tabwire_testkit::by_size;

use crate::clients::suite::Suite;
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

/// Operations of each client: the full test does every operation in both kinds of context, the short one two thirds of
/// them. The test of the user's own browser does every one in the default context.
fn operations() -> u64 {
    by_size(36, 200)
}

/// The operation at which the client that is killed pauses.
const PAUSE_BEFORE_KILL: &str = "20";

/// Evaluates on the command line until `done`; returns how often.
fn evaluate_until(world: &World, done: &AtomicBool) -> u64 {
    let mut count = 0;
    while !done.load(Ordering::SeqCst) {
        count += 1;
        assert_eq!(
            world.run(&["eval", &format!("window.count = {count}")]).succeeded().text(),
            count.to_string()
        );
        assert_eq!(world.eval("window.count"), count.to_string());
    }
    count
}

/// Runs the command line in a loop while clients work on the same browser.
fn beside_the_command_line(world: &World, clients: impl FnOnce()) {
    let done = AtomicBool::new(false);
    let done = &done;
    std::thread::scope(|scope| {
        let evaluations = scope.spawn(|| evaluate_until(world, done));
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(clients));
        done.store(true, Ordering::SeqCst);
        let count = evaluations.join().expect("every evaluation returns");
        if let Err(panic) = outcome {
            std::panic::resume_unwind(panic);
        }
        assert!(count > 10, "only {count} evaluations");
    });
}

fn settings<'a>(operations: &'a str, seed: &'a str) -> [&'a str; 4] {
    ["--operations", operations, "--seed", seed]
}

/// On a busy machine the script of a service worker is sometimes requested before the routes of its client apply: the
/// cause is not known. Only `clients::targets` runs that operation, with one client.
fn playwright_settings<'a>(operations: &'a str, seed: &'a str) -> Vec<&'a str> {
    [&settings(operations, seed)[..], &["--skip", "requests of a service worker"]].concat()
}

#[test]
fn f22_clients_and_the_command_line_share_a_browser_when_one_is_killed() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.open(&[&site.page("/plain")]);
    let address = world.cdp_url();
    let count = operations();
    let operations = count.to_string();
    let paused = |seed, at| [&playwright_settings(&operations, seed)[..], &["--pause-at", at]].concat();
    let mut doomed = Suite::playwright(&address, &site, &paused("4", PAUSE_BEFORE_KILL));
    let mut held = Suite::playwright(&address, &site, &[&paused("1", "10")[..], &["--part", "1/2"]].concat());
    beside_the_command_line(&world, || {
        doomed.await_pause();
        // This client pauses early, so that it still has most of its work when the other is killed.
        held.await_pause();
        let others = [
            Suite::playwright(
                &address,
                &site,
                &[&playwright_settings(&operations, "1")[..], &["--part", "2/2"]].concat(),
            ),
            Suite::puppeteer(&address, &site, &settings(&operations, "3")),
        ];
        doomed.kill();
        held.resume();
        held.passes(count);
        for suite in others {
            suite.passes(count);
        }
    });
    world.settles();
    assert_eq!(world.number("events_dropped"), 0);
}
