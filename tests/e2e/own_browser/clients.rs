//! Playwright, Puppeteer, the command line and an MCP server in the user's own browser at the same time.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::clients::suite::Suite;
use crate::mcp::client::McpClient;
use crate::own_browser::tabs::connected_browser;
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

/// Operations of each client: the two Playwrights run one half each of all operations, the Puppeteer all of
/// its own. Three clients run at once and are limited by the processor, so more operations would only take
/// longer.
const OPERATIONS: u64 = 30;

/// Features that the extension cannot provide: browser contexts, and workers without a page.
const THERE: [&str; 4] = ["--contexts", "default", "--service-workers", "hidden"];

fn settings<'a>(operations: &'a str, seed: &'a str, part: &'a str) -> Vec<&'a str> {
    [&["--operations", operations, "--seed", seed, "--part", part], &THERE[..]].concat()
}

#[test]
fn clients_mcp_and_the_command_line_share_the_users_own_browser() {
    let (world, site) = (World::new(), FixtureSite::start());
    let mut browser = connected_browser(&world);
    world.open(&["--upstream", "extension", "--policy", "open", &site.page("/plain")]);
    let (address, operations) = (world.cdp_url(), OPERATIONS.to_string());
    let suites = [
        Suite::playwright(&address, &site, &settings(&operations, "1", "1/2")),
        Suite::playwright(&address, &site, &settings(&operations, "1", "2/2")),
        Suite::puppeteer(&address, &site, &settings(&operations, "3", "1/1")),
    ];
    let mut agent = McpClient::start(&world, &["--upstream", "extension", "--policy", "open"]);
    agent.text("navigate", json!({"url": site.page("/form")}));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let beside = scope.spawn(|| {
            let mut count = 0;
            while !done.load(Ordering::SeqCst) {
                count += 1;
                let set = format!("window.count = {count}");
                assert_eq!(world.run(&["eval", &set]).succeeded().text(), count.to_string());
                let snapshot = agent.text("snapshot", json!({}));
                assert!(snapshot.contains("Form"), "{snapshot}");
            }
            count
        });
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for suite in suites {
                suite.passes(OPERATIONS);
            }
        }));
        done.store(true, Ordering::SeqCst);
        let count = beside.join().expect("every command returns");
        if let Err(panic) = outcome {
            std::panic::resume_unwind(panic);
        }
        assert!(count > 5, "only {count} times");
    });
    agent.close();
    world.run(&["close"]).succeeded();
    assert!(browser.is_running(), "the user's browser stays");
}
