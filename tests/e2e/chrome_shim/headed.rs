//! The Chrome shim with a window on a virtual display, and chromedriver, which launches it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::chrome_shim::launcher::{Launcher, browser, shims};
use crate::chrome_shim::port_process::{PortChrome, ask_with};
use crate::chrome_shim::recipe::recipe;
use crate::support::fixture_site::FixtureSite;
use crate::support::process::{is_running, signal};
use crate::support::virtual_display::VirtualDisplay;
use crate::support::world::{World, await_end};

/// A process that is killed on drop.
struct Helper(Child);

impl Drop for Helper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a program and returns the first printed line that matches.
fn start(mut command: Command, wanted: impl Fn(&str) -> Option<String>) -> (Helper, String) {
    let name = format!("{command:?}");
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut helper = Helper(child.unwrap_or_else(|error| panic!("{name}: {error}; run `cargo xtask setup`")));
    let mut lines = BufReader::new(helper.0.stdout.take().expect("piped")).lines();
    let found = lines.by_ref().map_while(Result::ok).find_map(|line| wanted(&line));
    // Reads the rest of the output, so that the program never blocks on a full pipe.
    std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
    (helper, found.unwrap_or_else(|| panic!("{name} ended")))
}

#[test]
fn closing_a_reused_headed_browser_keeps_its_window() {
    let display = VirtualDisplay::start();
    let world = World::new().with_whole_chromium().with("DISPLAY", &display.name);
    let site = FixtureSite::start();
    let profile = world.home().join("profile").to_string_lossy().into_owned();
    let mut chrome = PortChrome::start_headed(&world, &["--user-data-dir", &profile]);
    let window = browser(&world);
    assert!(!window.command.contains("--headless"), "{window:?}");
    // The window stays when the shim that opened it gets a signal to end.
    signal(chrome.pid(), rustix::process::Signal::TERM);
    assert_eq!(chrome.end(), Some(0));
    assert!(is_running(window.pid));
    // The next shim uses it; Playwright closes its browser, and the window stays.
    let more = ["--profile", &profile, "--window", "yes"];
    let mut launcher = Launcher::start(&world, "playwright-persistent", &more);
    assert!(!launcher.title(&site.page("/plain")).is_empty());
    let playwrights = shims(&world);
    launcher.close();
    await_end("the shim", 5, &playwrights);
    assert!(is_running(window.pid));
    // A headless launch on a headed browser is refused.
    let refused =
        world.run(&["chrome", "--headless", "--remote-debugging-port=0", "--user-data-dir", &profile]);
    assert_eq!((refused.code, refused.stderr.contains("PROFILE_LOCKED")), (1, true), "{refused:?}");
    // Ended by the daemon, which keeps it running for other launchers.
    world.run(&["daemon", "stop"]).succeeded();
    await_end("the window", 10, &[window]);
}

/// Sends a request to chromedriver; returns the value of the response.
fn drive(port: u16, method: &str, path: &str, body: &Value) -> Value {
    let body = body.to_string();
    let headers = format!(
        "Host: 127.0.0.1:{port}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n",
        body.len()
    );
    let (_, response) = ask_with(port, method, path, &headers, &body);
    let mut response: Value =
        serde_json::from_str(&response).unwrap_or_else(|_| panic!("{path}: {response}"));
    assert!(response["value"].get("error").is_none(), "{path}: {response}");
    response["value"].take()
}

#[test]
fn chromedriver_launches_it_and_finds_its_port_in_the_profile() {
    let (world, site) = (World::new().with_whole_chromium(), FixtureSite::start());
    // Chromedriver removes its profile while the browser may still write to it.
    world.expect_litter();
    let mut command = world.command("chromedriver", &["--port=0"]);
    command.env("TMPDIR", world.home().join("tmp"));
    let (_driver, port) = start(command, |line| {
        let (_, rest) = line.split_once("started successfully on port ")?;
        Some(rest.trim_end_matches('.').to_owned())
    });
    let port: u16 = port.parse().expect("a port");
    let printed = recipe(&world, "Selenium and others that use chromedriver").remove(0);
    let printed: Value = serde_json::from_str(&printed).expect("JSON");
    let wanted = json!({"capabilities": {"alwaysMatch": printed}});
    let session = drive(port, "POST", "/session", &wanted);
    let base = format!("/session/{}", session["sessionId"].as_str().expect("a session"));
    drive(port, "POST", &format!("{base}/url"), &json!({"url": site.page("/plain")}));
    let title = drive(port, "GET", &format!("{base}/title"), &json!({}));
    assert!(title.as_str().is_some_and(|title| !title.is_empty()), "{title}");
    let sum =
        drive(port, "POST", &format!("{base}/execute/sync"), &json!({"script": "return 6 * 7", "args": []}));
    assert_eq!(sum, 42);
    let (browser, shims) = (browser(&world), shims(&world));
    drive(port, "DELETE", &base, &json!({}));
    await_end("the shim", 5, &shims);
    await_end("the browser", 5, &[browser]);
}
