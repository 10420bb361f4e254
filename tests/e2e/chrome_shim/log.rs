//! The log of the Chrome shim, and its frame log.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::chrome_shim::launcher::{Launcher, browser, shims};
use crate::chrome_shim::port_process::PortChrome;
use crate::support::cdp_client::CdpClient;
use crate::support::fixture_site::FixtureSite;
use crate::support::world::{World, await_end};

/// A word that occurs in the traffic only.
const SECRET: &str = "correct-horse-battery";

/// The lines of the only frame file in a directory.
fn frames(directory: &Path) -> Vec<Value> {
    let files: Vec<PathBuf> =
        fs::read_dir(directory).expect("it is there").flatten().map(|entry| entry.path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!((mode(directory), mode(&files[0])), (0o700, 0o600));
    let text = fs::read_to_string(&files[0]).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// Whether a client sent this method.
fn has_asked(frames: &[Value], method: &str) -> bool {
    frames.iter().any(|line| line["from"] == "client" && line["frame"]["method"] == method)
}

#[test]
fn a_pipe_launcher_is_logged_with_frames_on_request() {
    let (world, site) = (World::new().with_whole_chromium(), FixtureSite::start());
    let log = world.home().join("pipe.log");
    let directory = world.home().join("frames");
    let mut world = world.with("TABWIRE_CHROME_LOG", log.to_string_lossy());
    for with_frames in [false, true] {
        if with_frames {
            world = world.with("TABWIRE_CHROME_FRAMES", directory.to_string_lossy());
        }
        let mut launcher = Launcher::start(&world, "puppeteer-pipe", &[]);
        launcher.title(&site.page("/plain"));
        let (browser, shims) = (browser(&world), shims(&world));
        launcher.close();
        await_end("the shim", 5, &shims);
        await_end("the browser", 5, &[browser]);
        assert_eq!(directory.exists(), with_frames);
    }
    let logged = fs::read_to_string(&log).expect("it is written");
    for field in [
        "transportMode=\"pipe\"",
        "runtimeState=\"starting\"",
        "runtimeState=\"connected\"",
        "ownership=launched",
        "userDataDir=",
        "runtimeState=\"closing\"",
        "why=",
    ] {
        assert_eq!(logged.matches(field).count(), 2, "{field} in {logged}");
    }
    assert!(!logged.contains("Some("), "values are plain: {logged}");
    let frames = frames(&directory);
    assert!(has_asked(&frames, "Page.navigate") && has_asked(&frames, "Browser.close"));
    let is_reported =
        |line: &Value| line["from"] == "browser" && line["frame"]["result"]["frameId"].is_string();
    assert!(frames.iter().any(is_reported), "frames of the browser are logged too");
}

#[test]
fn a_port_is_logged_on_request_with_secrets_only_in_frames() {
    let world = World::new().with_whole_chromium();
    let directory = world.home().join("frames");
    let mut bad = world.command(env!("CARGO_BIN_EXE_tabwire"), &["chrome", "--remote-debugging-port=0"]);
    let refused = bad.env("TABWIRE_CHROME_LOG_LEVEL", "loud").output().expect("it runs");
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("`important` or `all`"));
    let say = json!({"expression": format!("'{SECRET}'.length"), "returnByValue": true});
    // By default the log contains no methods.
    let chrome = PortChrome::start(&world, &[]);
    let mut client = CdpClient::connect(&chrome.address);
    let page = client.open_page("about:blank");
    client.call("Runtime.evaluate", say.clone(), Some(&page.session));
    assert!(!chrome.log().contains("Runtime.evaluate") && !directory.exists());
    assert!(chrome.said.iter().all(|line| !line.contains("TABWIRE_CHROME_FRAMES")));
    drop((client, chrome));
    let world = world
        .with("TABWIRE_CHROME_LOG_LEVEL", "all")
        .with("TABWIRE_CHROME_FRAMES", directory.to_string_lossy());
    let plan = world.run(&["chrome", "--explain", "--remote-debugging-port=0"]).succeeded().stdout;
    assert!(plan.contains("frame log") && plan.contains(&*directory.to_string_lossy()), "{plan}");
    let chrome = PortChrome::start(&world, &[]);
    let said = chrome.said.iter().filter(|line| line.contains("TABWIRE_CHROME_FRAMES")).count();
    assert_eq!(said, 1, "{:?}", chrome.said);
    let mut client = CdpClient::connect(&chrome.address);
    let page = client.open_page("about:blank");
    client.call("Runtime.evaluate", say, Some(&page.session));
    let listed = chrome.json("/json/list");
    let mut alone = CdpClient::connect(listed[0]["webSocketDebuggerUrl"].as_str().expect("an address"));
    alone.call("Page.enable", json!({}), None);
    let log = chrome.log();
    assert!(log.contains("Runtime.evaluate") && !log.contains(SECRET), "{log}");
    let frames = frames(&directory);
    assert!(has_asked(&frames, "Runtime.evaluate") && has_asked(&frames, "Page.enable"));
    assert!(frames.iter().any(|line| line.to_string().contains(SECRET)));
    let clients: std::collections::BTreeSet<u64> =
        frames.iter().filter_map(|line| line["client"].as_u64()).collect();
    assert_eq!(clients.len(), 2, "one of the browser and one of a page");
}
