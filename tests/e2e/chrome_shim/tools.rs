//! Tools that launch the Chrome shim: MCP servers, and libraries compared with plain Chromium.

use serde_json::{Value, json};

use crate::chrome_shim::launcher::{Launcher, browser, run_script, shim, shims};
use crate::support::fixture_site::FixtureSite;
use crate::support::process::{is_running, kill};
use crate::support::wait::eventually;
use crate::support::world::{World, await_end};

/// An MCP server, its tools that open a page, read it and open one in a new browser, and further arguments of
/// the first two.
struct Server {
    name: &'static str,
    open: &'static str,
    look: &'static str,
    again: &'static str,
    page: Option<u64>,
}

const SERVERS: &[Server] = &[
    Server {
        name: "chrome-devtools-mcp",
        open: "navigate_page",
        look: "take_snapshot",
        again: "new_page",
        page: Some(1),
    },
    Server {
        name: "playwright-mcp",
        open: "browser_navigate",
        look: "browser_snapshot",
        again: "browser_navigate",
        page: None,
    },
];

impl Server {
    fn call(&self, launcher: &mut Launcher, tool: &str, mut arguments: Value) -> Value {
        if let Some(page) = self.page {
            arguments["pageId"] = json!(page);
        }
        launcher.command(&json!({"call": tool, "arguments": arguments}))
    }
}

#[test]
fn mcp_servers_use_the_shim_and_restart_a_killed_browser() {
    let (world, site) = (World::new().with_whole_chromium(), FixtureSite::start());
    world.expect_litter();
    let page = site.page("/plain");
    for server in SERVERS {
        let profile = world.home().join(server.name).to_string_lossy().into_owned();
        let mut launcher = Launcher::start_server(&world, server.name, &["--profile", &profile]);
        let opened = server.call(&mut launcher, server.open, json!({"url": page}));
        assert_eq!(opened["failed"], false, "{}: {opened}", server.name);
        let seen = server.call(&mut launcher, server.look, json!({}));
        assert!(
            seen["text"].as_str().is_some_and(|text| text.contains("Plain page")),
            "{}: {seen}",
            server.name
        );
        let (first, first_shims) = (browser(&world), shims(&world));
        kill(first.pid);
        await_end("the shim", 5, &first_shims);
        // The next operation may report the loss; the one after that has a browser again.
        let again = json!({"call": server.again, "arguments": {"url": page}});
        eventually("it has a browser again", 60, || launcher.command(&again)["failed"] == false);
        let second = browser(&world);
        assert_ne!(second.pid, first.pid, "{}", server.name);
        launcher.close();
        await_end("the browser", 5, &[second]);
    }
}

#[test]
fn two_mcp_servers_share_one_profile_and_one_browser() {
    let (world, site) = (World::new().with_whole_chromium(), FixtureSite::start());
    let profile = world.home().join("profile").to_string_lossy().into_owned();
    let pages = [site.page("/plain"), site.page("/form")];
    let mut launchers: Vec<Launcher> = Vec::new();
    // Playwright's server goes first: it does not launch when another process uses the profile.
    for (server, page) in SERVERS.iter().rev().zip(&pages) {
        let mut launcher = Launcher::start_server(&world, server.name, &["--profile", &profile]);
        let opened = launcher.command(&json!({"call": server.again, "arguments": {"url": page}}));
        assert_eq!(opened["failed"], false, "{}: {opened}", server.name);
        launchers.push(launcher);
    }
    assert_eq!(world.browsers().len(), 1, "one browser serves both");
    assert_eq!(shims(&world).len(), 2);
    let only = browser(&world);
    // When the first server leaves, the other keeps its browser and pages.
    let mut launchers = launchers.into_iter();
    launchers.next().expect("two").close();
    assert!(is_running(only.pid));
    let mut other = launchers.next().expect("two");
    let seen = other.command(&json!({"call": "list_pages", "arguments": {}}));
    assert!(seen["text"].as_str().is_some_and(|text| text.contains("/form")), "{seen}");
    other.close();
    await_end("the browser", 5, &[only]);
}

/// Runs the same operations on a browser launched directly and on one launched through a shim; returns their
/// number.
fn find_differences(tool: &str) -> u64 {
    let (world, site) = (World::new().with_whole_chromium(), FixtureSite::start());
    let port = site.port().to_string();
    let link = shim(&world).to_string_lossy().into_owned();
    let more = ["--tool", tool, "--site-port", &port, "--direct", "/usr/bin/chromium", "--shim", &link];
    let outcome = run_script(&world, "launch/launch-difference.mjs", &more);
    let nothing = json!([]);
    assert_eq!((&outcome["differences"], &outcome["failures"]), (&nothing, &nothing), "{outcome:#}");
    assert_eq!(outcome["versions"][0], outcome["versions"][1]);
    outcome["operations"].as_u64().unwrap_or_default()
}

#[test]
fn playwright_behaves_the_same_as_on_chromium() {
    assert!(find_differences("playwright") >= 50);
}

#[test]
fn puppeteer_behaves_the_same_as_on_chromium() {
    assert!(find_differences("puppeteer") >= 50);
}
