//! The Chrome shim when a process is killed: every launcher, by pipe and by port.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::chrome_shim::launcher::{Launcher, ORPHAN_SECONDS, browser, shims};
use crate::chrome_shim::port_process::PortChrome;
use crate::support::cdp_client::CdpClient;
use crate::support::chromium::Chromium;
use crate::support::fixture_site::FixtureSite;
use crate::support::process::{is_running, kill, signal};
use crate::support::wait::eventually;
use crate::support::world::{World, await_end};

/// A profile directory in a world.
fn profile(world: &World, name: &str) -> String {
    world.home().join(name).to_string_lossy().into_owned()
}

#[test]
fn a_pipe_client_notices_a_killed_browser_and_relaunches_it() {
    let (world, site) = (World::new().with_whole_chromium(), FixtureSite::start());
    world.expect_litter();
    let both = "--remote-debugging-pipe --remote-debugging-port=0";
    for (tool, arguments) in [("playwright", ""), ("puppeteer-pipe", both), ("playwright-persistent", "")] {
        let directory = profile(&world, tool);
        let mut more = vec!["--arguments", arguments];
        if tool != "playwright" {
            more.extend(["--profile", &directory]);
        }
        let mut launcher = Launcher::start(&world, tool, &more);
        launcher.title(&site.page("/plain"));
        let (first, first_shims) = (browser(&world), shims(&world));
        kill(first.pid);
        assert_eq!(launcher.next_line(), json!({"disconnected": true}), "{tool} {arguments}");
        await_end("the shim", ORPHAN_SECONDS, &first_shims);
        drop(launcher);
        // On the profile that the killed browser left.
        if tool == "playwright-persistent" {
            let mut again = Launcher::start(&world, tool, &more);
            assert!(!again.title(&site.page("/plain")).is_empty(), "{tool}");
            let second = browser(&world);
            assert_ne!(second.pid, first.pid, "{tool}");
            again.close();
            await_end("the browser", ORPHAN_SECONDS, &[second]);
        }
    }
}

#[test]
fn a_port_client_continues_in_a_new_browser_after_a_kill() {
    let (world, site) = (World::new().with_whole_chromium(), FixtureSite::start());
    world.expect_litter();
    let log = world.home().join("shim.log");
    let world = world.with("TABWIRE_CHROME_LOG", log.to_string_lossy());
    let directory = profile(&world, "profile");
    let mut launcher = Launcher::start(&world, "puppeteer-port", &["--profile", &directory]);
    launcher.title(&site.page("/plain"));
    let (first, first_shims) = (browser(&world), shims(&world));
    kill(first.pid);
    eventually("the loss is noticed", 15, || {
        std::fs::read_to_string(&log).is_ok_and(|log| log.contains("runtimeState=\"degraded\""))
    });
    assert_eq!(launcher.command(&json!({"fresh": true})), json!({"fresh": true}));
    assert!(!launcher.title(&site.page("/plain")).is_empty());
    let second = browser(&world);
    assert_ne!(second.pid, first.pid);
    assert!(first_shims.iter().all(|one| is_running(one.pid)), "the shim has stayed");
    launcher.close();
    await_end("the shim", ORPHAN_SECONDS, &first_shims);
    await_end("the browser", ORPHAN_SECONDS, &[second]);
}

#[test]
fn nothing_is_orphaned_when_playwright_or_an_mcp_server_is_killed() {
    let (world, site) = (World::new().with_whole_chromium(), FixtureSite::start());
    world.expect_litter();
    let page = site.page("/plain");
    for (tool, open) in [
        ("playwright", None),
        ("chrome-devtools-mcp", Some("new_page")),
        ("playwright-mcp", Some("browser_navigate")),
    ] {
        let directory = profile(&world, tool);
        let (launcher, victim) = match open {
            None => {
                let mut launcher = Launcher::start(&world, tool, &[]);
                launcher.title(&page);
                let pid = launcher.pid();
                (launcher, pid)
            }
            Some(open) => {
                let mut launcher = Launcher::start_server(&world, tool, &["--profile", &directory]);
                let opened = launcher.command(&json!({"call": open, "arguments": {"url": page}}));
                assert_eq!(opened["failed"], false, "{tool}: {opened}");
                let server = launcher.server();
                (launcher, server)
            }
        };
        let (browser, shims) = (browser(&world), shims(&world));
        kill(victim);
        await_end(&format!("the shim of {tool}"), ORPHAN_SECONDS, &shims);
        await_end(&format!("the browser of {tool}"), ORPHAN_SECONDS, &[browser]);
        drop(launcher);
    }
}

#[test]
fn a_port_shim_outlives_a_killed_daemon_until_the_next_request() {
    let world = World::new().with_whole_chromium();
    world.expect_litter();
    let directory = profile(&world, "profile");
    let mut chrome = PortChrome::start(&world, &["--user-data-dir", &directory]);
    let mut client = CdpClient::connect(&chrome.address);
    let first = browser(&world);
    kill(world.daemon_pid());
    await_end("the browser after its daemon", ORPHAN_SECONDS, &[first]);
    assert!(is_running(chrome.pid()), "{}\n{}", chrome.log(), world.log());
    // Requests wait for the browser that the first of them restarts, and each gets one response.
    let asked: Vec<u64> = ["Target.getTargets", "Browser.getVersion", "Target.getBrowserContexts"]
        .into_iter()
        .map(|method| client.send(method, json!({}), None))
        .collect();
    let deadline = Instant::now() + Duration::from_secs(40);
    let mut responses = BTreeMap::new();
    while responses.len() < asked.len() {
        let message = client.read_message(deadline).expect("it is there").expect("a response for each");
        if let Some(id) = message["id"].as_u64() {
            assert!(message["result"].is_object(), "{message}");
            assert!(
                asked.contains(&id) && responses.insert(id, ()).is_none(),
                "one response each: {message}"
            );
        }
    }
    assert!(chrome.log().contains("recoveryAttempt=1") && !chrome.log().contains("recoveryAttempt=2"));
    // A signal while the browser is gone ends the shim and starts no browser.
    kill(browser(&world).pid);
    chrome.degrades(2);
    signal(chrome.pid(), rustix::process::Signal::TERM);
    assert_eq!(chrome.end(), Some(0));
    eventually("no browser is there", ORPHAN_SECONDS, || world.browser_processes().is_empty());
}

#[test]
fn recovery_prefers_a_live_browser_on_the_profile() {
    let world = World::new().with_whole_chromium();
    world.expect_litter();
    let directory = profile(&world, "profile");
    let chrome = PortChrome::start(&world, &["--user-data-dir", &directory]);
    let mut client = CdpClient::connect(&chrome.address);
    kill(browser(&world).pid);
    chrome.degrades(1);
    // Another launcher starts a browser on the profile meanwhile.
    let mut other = Launcher::start(&world, "puppeteer-pipe", &["--profile", &directory]);
    let theirs = browser(&world);
    client.call("Browser.getVersion", json!({}), None);
    assert!(chrome.log().contains("recoveryResult=\"attached\""), "{}", chrome.log());
    assert_eq!(browser(&world).pid, theirs.pid);
    assert_eq!(other.command(&json!({"fresh": true})), json!({"fresh": true}));
    drop(chrome);
    assert_eq!(
        other.command(&json!({"eval": "6 * 7"})),
        json!({"value": 42}),
        "the other launcher keeps the browser"
    );
    other.close();
    await_end("the browser", ORPHAN_SECONDS, &[theirs]);
}

#[test]
fn a_start_that_cannot_work_is_refused_with_the_reason() {
    let world = World::new().with_whole_chromium();
    // A browser of another program, without a port to attach to.
    let mut other = Chromium::without_port();
    let directory = other.profile().to_string_lossy().into_owned();
    let refused =
        world.run(&["chrome", "--headless", "--remote-debugging-port=0", "--user-data-dir", &directory]);
    assert_eq!((refused.code, refused.stderr.contains("PROFILE_LOCKED")), (1, true), "{refused:?}");
    assert!(other.is_running() && world.browser_processes().is_empty());
}
