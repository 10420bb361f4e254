//! The Chrome shim in WSL with a Chrome of Windows. Windows is a directory, PowerShell a testkit program, Chrome a
//! Chromium of this system.

use std::net::TcpListener;

use serde_json::json;

use crate::chrome_shim::fake_windows::FakeWindows;
use crate::chrome_shim::launcher::{Launcher, ORPHAN_SECONDS, shim};
use crate::chrome_shim::port_process::PortChrome;
use crate::support::cdp_client::CdpClient;
use crate::support::chromium::Chromium;
use crate::support::fixture_site::FixtureSite;
use crate::support::process::{is_running, kill};
use crate::support::wait::eventually;
use crate::support::world::{World, await_end};

const PROFILE: &str = r"--user-data-dir=%TEMP%\agent";

#[test]
fn a_windows_chrome_is_found_launched_relayed_and_stopped() {
    let (world, windows) = FakeWindows::around(World::new().with_whole_chromium());
    let site = FixtureSite::start();
    let mut chrome = PortChrome::start(&world, &[PROFILE, "--lang=de"]);
    let mut client = CdpClient::connect(&chrome.address);
    let page = client.open_page(&site.page("/plain"));
    assert_eq!(client.evaluate("6 * 7", &page.session), 42);
    // A message of a megabyte passes unchanged, and so do non-ASCII characters.
    assert_eq!(client.evaluate("'x'.repeat(1 << 20).length", &page.session), 1 << 20);
    assert_eq!(client.evaluate("'äé\\n漢'", &page.session), "äé\n漢");
    // The port is on Windows, so the shim cannot fetch the protocol description from it.
    let (status, body) = chrome.http("GET", "/json/protocol", "Host: localhost\r\n");
    assert_eq!((status, body.contains("NO_BACKEND")), (500, true), "{body}");
    assert_eq!(windows.words()[..4], ["start", "find", "port", "launch"]);
    let asked = windows.asked();
    let launch = &asked[3];
    let arguments = launch["arguments"].as_array().expect("a list");
    assert!(arguments.contains(&json!(PROFILE)), "Windows expands variables: {launch}");
    assert!(arguments.contains(&json!("--lang=de")) && launch["headless"] == true, "{launch}");
    assert!(
        !arguments.iter().any(|argument| argument == "--remote-debugging-pipe" || argument == "--no-sandbox")
    );
    let browsers = windows.browsers();
    assert!(
        browsers.len() == 1 && browsers[0].command.contains("windows/C/Users/me/AppData/Local/Temp/agent")
    );
    let log = chrome.log();
    for field in ["ownership=launched", "userDataDir=", "resolvedDebugPort="] {
        assert!(log.contains(field), "{field} in {log}");
    }
    // A second launcher on the same profile, in any spelling, uses the same browser and PowerShell.
    let mut second = PortChrome::start(&world, &[r"--user-data-dir=C:\Users\me\AppData\Local\Temp\AGENT\"]);
    let mut other = CdpClient::connect(&second.address);
    other.open_page("about:blank");
    assert!(second.log().contains("ownership=attached"), "{}", second.log());
    assert_eq!((windows.count("launch"), windows.count("start"), windows.count("open")), (1, 1, 1));
    // A headed browser does not serve a headless launcher.
    let headed = world.run(&["chrome", "--remote-debugging-port=0", PROFILE]);
    assert_eq!((headed.code, headed.stderr.contains("PROFILE_LOCKED")), (1, true), "{headed:?}");
    // When the first launcher leaves, the other keeps the browser; the last one ends it, after checks.
    assert_eq!(client.call("Browser.close", json!({}), None), json!({}));
    assert_eq!(chrome.end(), Some(0));
    assert!(is_running(browsers[0].pid));
    other.call("Browser.close", json!({}), None);
    assert_eq!(second.end(), Some(0));
    await_end("the browser of Windows", 5, &browsers);
    let asked = windows.asked();
    let stop = asked.iter().find(|asked| asked["do"] == "stop").expect("it was ended");
    assert_eq!((&stop["headless"], &stop["port"]), (&json!(true), &launch["port"]), "{stop}");
    assert!(stop["executable"].as_str().is_some_and(|program| program.ends_with("chrome.exe")), "{stop}");
    eventually("PowerShell ends without clients", 10, || windows.powershells().is_empty());
}

#[test]
fn a_pipe_launcher_with_a_linux_profile_path_reaches_windows_chrome() {
    let (world, windows) = FakeWindows::around(World::new().with_whole_chromium());
    let site = FixtureSite::start();
    let mistaken = world.home().join(r"%TEMP%\agent");
    std::fs::create_dir(&mistaken).expect("a directory");
    let mut launcher = Launcher::start(&world, "puppeteer-pipe", &["--profile", &mistaken.to_string_lossy()]);
    assert!(!launcher.title(&site.page("/plain")).is_empty());
    assert!(!mistaken.exists(), "an empty directory from a misread path is removed");
    let browsers = windows.browsers();
    assert!(browsers[0].command.contains("Temp/agent"), "{browsers:?}");
    // A lost browser ends the shim, and the launcher notices.
    kill(browsers[0].pid);
    assert_eq!(launcher.next_line(), json!({"disconnected": true}));
    drop(launcher);
    // A killed shim and a killed daemon leave no headless browser.
    for victim in ["shim", "daemon"] {
        let launcher = Launcher::start(&world, "puppeteer-pipe", &["--profile", r"C:\agents\one"]);
        let browsers = windows.browsers();
        let shims = crate::chrome_shim::launcher::shims(&world);
        kill(if victim == "daemon" { world.daemon_pid() } else { shims[0].pid });
        await_end(&format!("the browser of Windows after its {victim}"), ORPHAN_SECONDS, &browsers);
        drop(launcher);
    }
    eventually("no PowerShell is left", 10, || windows.powershells().is_empty());
    world.run(&["daemon", "start"]).succeeded();
}

#[test]
fn a_lost_relay_or_windows_chrome_returns_with_the_next_request() {
    let (world, windows) = FakeWindows::around(World::new().with_whole_chromium());
    let chrome = PortChrome::start(&world, &[PROFILE]);
    let mut client = CdpClient::connect(&chrome.address);
    client.call("Browser.getVersion", json!({}), None);
    // The browser is lost: the next request starts another.
    kill(windows.browsers()[0].pid);
    chrome.degrades(1);
    client.call("Browser.getVersion", json!({}), None);
    assert!(chrome.log().contains("recoveryResult=\"relaunched\""), "{}", chrome.log());
    assert_eq!(windows.count("launch"), 2);
    // PowerShell is lost, the browser is not: another PowerShell attaches to it again.
    let second = windows.browsers();
    windows.misbehave("garbage find\nslow version");
    kill(windows.powershells()[0].pid);
    chrome.degrades(2);
    client.call("Browser.getVersion", json!({}), None);
    assert!(chrome.log().contains("recoveryResult=\"attached\""), "{}", chrome.log());
    assert_eq!(windows.count("launch"), 2);
    assert_eq!(windows.browsers()[0].pid, second[0].pid);
    // The shim still ends it, although another PowerShell started it.
    drop(chrome);
    await_end("the browser of Windows", ORPHAN_SECONDS, &second);
}

#[test]
fn a_running_windows_chrome_is_attached_to_and_left_running() {
    let (world, windows) = FakeWindows::around(World::new().with_whole_chromium());
    let mut theirs = Chromium::with_port();
    windows.list_browser(theirs.pid(), Some(theirs.port()), r"C:\Users\me\AppData\Local\Temp\Agent");
    let mut chrome = PortChrome::start(&world, &[PROFILE]);
    let mut client = CdpClient::connect(&chrome.address);
    client.open_page("about:blank");
    let log = chrome.log();
    assert!(log.contains("ownership=attached"), "{log}");
    assert!(log.contains(&format!("resolvedDebugPort={}", theirs.port())), "{log}");
    client.call("Browser.close", json!({}), None);
    assert_eq!(chrome.end(), Some(0));
    assert_eq!((windows.count("launch"), windows.count("stop")), (0, 0));
    assert!(theirs.is_running());
    // A browser without a port blocks its profile: a second one would hand over to it and exit.
    windows.list_browser(theirs.pid(), None, r"C:\agents\two");
    let refused =
        world.run(&["chrome", "--headless", "--remote-debugging-port=0", r"--user-data-dir=C:\agents\two"]);
    assert_eq!((refused.code, refused.stderr.contains("PROFILE_LOCKED")), (1, true), "{refused:?}");
    assert_eq!(windows.count("launch"), 0);
}

#[test]
fn with_one_loopback_frames_go_to_windows_directly() {
    let (world, windows) = FakeWindows::mirrored(World::new().with_whole_chromium());
    let mut chrome = PortChrome::start(&world, &[PROFILE]);
    let mut client = CdpClient::connect(&chrome.address);
    let page = client.open_page("about:blank");
    assert_eq!(client.evaluate("6 * 7", &page.session), 42);
    assert!(chrome.json("/json/protocol")["domains"].is_array());
    assert_eq!((windows.count("open"), windows.count("version"), windows.count("launch")), (0, 0, 1));
    client.call("Browser.close", json!({}), None);
    assert_eq!(chrome.end(), Some(0));
    eventually("the browser of Windows ends", 5, || windows.browsers().is_empty());
}

#[test]
fn windows_errors_are_reported_and_nothing_hangs() {
    let (world, windows) = FakeWindows::around(World::new().with_whole_chromium());
    let refused = |more: &[&str], expected: &str| {
        let words = [&["chrome", "--headless", "--remote-debugging-port=0", PROFILE], more].concat();
        let outcome = world.run(&words);
        assert_eq!((outcome.code, outcome.stderr.contains(expected)), (1, true), "{expected}: {outcome:?}");
    };
    for (fault, expected) in [
        ("die start", "it ended before its script ran"),
        ("old start", "speaks protocol 0"),
        ("die find", "ended before it could find a browser"),
        ("half find", "ended before it could find a browser"),
        ("flood find", "ended before it could find a browser"),
        ("refuse launch", "could not start a browser: Access is denied"),
    ] {
        windows.misbehave(fault);
        refused(&[], expected);
    }
    windows.misbehave("");
    // A port that the user requires and that is in use on Windows.
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("bound").port();
    refused(&[&format!("--tabwire-remote-debugging-port={port}")], "is taken");
    refused(&["--renderer-cmd-prefix=calc"], "--renderer-cmd-prefix");
    // The user's everyday profile, and a system that is not WSL.
    let everyday =
        world.run(&["chrome", "--remote-debugging-port=0", r"--user-data-dir=C:\Google\Chrome\User Data"]);
    assert_eq!((everyday.code, everyday.stderr.contains("default profile")), (1, true), "{everyday:?}");
    assert!(windows.browsers().is_empty());
    let plan = world.run_program(
        &shim(&world).to_string_lossy(),
        &["--explain", "--remote-debugging-port=9222", PROFILE, "--disk-cache-dir=/home/me/cache"],
    );
    for part in [
        "host        Windows, through",
        "9222 if free, else any free port",
        r"\\wsl$\Debian\home\me\cache",
        "through PowerShell",
    ] {
        assert!(plan.stdout.contains(part), "{part} in {plan:?}");
    }
    let nowhere = World::new().with_whole_chromium().with("TABWIRE_CHROME_HOST", "windows");
    let outcome = nowhere.run(&["chrome", "--remote-debugging-port=0"]);
    assert_eq!((outcome.code, outcome.stderr.contains("this system is not WSL")), (1, true), "{outcome:?}");
}
