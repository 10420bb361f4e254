//! Browsers that outlive a shim, and what `status` says about browsers that shims attached to.

use rustix::process::Signal;
use serde_json::json;

use crate::chrome_shim::launcher::browser;
use crate::chrome_shim::port_process::PortChrome;
use crate::support::cdp_client::CdpClient;
use crate::support::chromium::Chromium;
use crate::support::process::{is_running, signal};
use crate::support::world::{World, await_end};

#[test]
fn kept_headless_browser_serves_the_next_launcher() {
    let world = World::new().with_whole_chromium().with("TABWIRE_CHROME_KEEP", "1");
    let refused = world.run(&["chrome", "--headless", "--remote-debugging-port=0"]);
    assert!(refused.stderr.contains("TABWIRE_CHROME_PROFILE"), "{refused:?}");
    let profile = world.home().join("profile").to_string_lossy().into_owned();
    let mut first = PortChrome::start(&world, &["--user-data-dir", &profile]);
    let kept = browser(&world);
    signal(first.pid(), Signal::TERM);
    assert_eq!(first.end(), Some(0));
    let log = first.log();
    assert!(log.contains("runtimeState=\"closing\"") && log.contains("SIGTERM"), "{log}");
    assert!(is_running(kept.pid), "it stays without a shim");
    let mut second = PortChrome::start(&world, &["--user-data-dir", &profile]);
    assert_eq!(browser(&world).pid, kept.pid);
    // A client that closes its browser ends it.
    let mut client = CdpClient::connect(&second.address);
    assert_eq!(client.call("Browser.close", json!({}), None), json!({}));
    assert_eq!(second.end(), Some(0));
    await_end("the browser", 10, &[kept]);
}

#[test]
fn status_describes_a_browser_that_a_shim_attached_to() {
    let world = World::new().with_whole_chromium();
    let chromium = Chromium::whole_with_port();
    let profile = chromium.profile().to_string_lossy().into_owned();
    let _shim = PortChrome::start(&world, &["--user-data-dir", &profile]);
    let status = world.json(&["status"]);
    let listed = &status["shim_browsers"][0];
    assert_eq!((&listed["ownership"], &listed["headless"]), (&json!("attached"), &json!(true)), "{status:#}");
    assert_eq!((&listed["profile"], &listed["pid"]), (&json!(profile), &json!(chromium.pid())), "{status:#}");
    assert!(listed["product"].as_str().is_some_and(|product| product.starts_with("Chrome/")), "{status:#}");
}

#[test]
fn explain_shows_the_plan_for_windows_outside_wsl() {
    let world = World::new().with_whole_chromium().with("TABWIRE_CHROME_HOST", "windows");
    let plan = world.run(&["chrome", "--explain", "--remote-debugging-port=0"]).succeeded().stdout;
    for part in ["this system is not WSL", "Windows, through", "debug port"] {
        assert!(plan.contains(part), "{part} in {plan}");
    }
}
