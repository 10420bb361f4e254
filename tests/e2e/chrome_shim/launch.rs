//! Playwright and Puppeteer launch the Chrome shim.

use std::fs;

use serde_json::json;

use crate::chrome_shim::launcher::{Launcher, ORPHAN_SECONDS, browser, shim, shims};
use crate::support::fixture_site::FixtureSite;
use crate::support::process::kill;
use crate::support::world::{World, await_end};

#[test]
fn the_shim_prints_version_help_and_missing_flags() {
    let world = World::new().with_whole_chromium();
    let link = shim(&world).to_string_lossy().into_owned();
    // A copy under that name does the same as a link.
    let copy = world.home().join("copy");
    fs::create_dir(&copy).expect("a directory");
    let copy = copy.join("tabwire-chrome");
    fs::hard_link(env!("CARGO_BIN_EXE_tabwire"), &copy)
        .or_else(|_| fs::copy(env!("CARGO_BIN_EXE_tabwire"), &copy).map(drop))
        .expect("a copy");
    let copy = copy.to_string_lossy().into_owned();
    let version = world.run(&["chrome", "--version"]).succeeded().stdout;
    let number =
        version.split(' ').find(|word| word.chars().all(|letter| letter.is_ascii_digit() || letter == '.'));
    assert_eq!(number.map(|number| number.split('.').count()), Some(4), "{version}");
    for program in [&link, &copy] {
        assert_eq!(world.run_program(program, &["--version"]).succeeded().stdout, version);
        let nothing = world.run_program(program, &["--headless"]);
        assert_eq!((nothing.code, nothing.stderr.contains("Neither --remote-debugging-pipe")), (1, true));
    }
    for program in [vec!["chrome", "--help"], vec!["chrome", "-h"]] {
        let help = world.run(&program).succeeded().stdout;
        for part in ["--explain", "TABWIRE_CHROME_HOST", "TABWIRE_CHROME_FRAMES", r"'%LOCALAPPDATA%\agent'"] {
            assert!(help.contains(part), "{part} in {help}");
        }
    }
    assert!(world.run_program(&link, &["--help"]).succeeded().stdout.contains("TABWIRE_CHROME_POWERSHELL"));
    let no_pipe = world.run(&["chrome", "--remote-debugging-pipe"]);
    assert_eq!((no_pipe.code, no_pipe.stderr.contains("descriptors 3 and 4")), (1, true), "{no_pipe:?}");
    let plan = world.run(&["chrome", "--explain", "--remote-debugging-port=0", "--no-sandbox"]).succeeded();
    assert!(plan.stdout.contains("dropped     --no-sandbox"), "{plan:?}");
}

#[test]
fn playwright_and_puppeteer_launch_it_by_pipe() {
    let (world, site) = (World::new().with_whole_chromium(), FixtureSite::start());
    for tool in ["playwright", "puppeteer-pipe"] {
        let mut launcher = Launcher::start(&world, tool, &[]);
        let title = launcher.title(&site.page("/plain"));
        assert!(!title.is_empty(), "{tool}");
        assert_eq!(launcher.command(&json!({"eval": "6 * 7"})), json!({"value": 42}), "{tool}");
        let (browser, shims) = (browser(&world), shims(&world));
        assert_eq!(shims.len(), 1, "{tool}");
        launcher.close();
        // The library has waited for the shim's exit, and the shim for the browser's.
        await_end("the shim", 1, &shims);
        await_end("the browser", 5, &[browser]);
    }
}

#[test]
fn nothing_is_orphaned_whatever_is_killed() {
    let (world, site) = (World::new().with_whole_chromium(), FixtureSite::start());
    world.expect_litter();
    for victim in ["shim", "launcher", "browser", "daemon"] {
        let mut launcher = Launcher::start(&world, "puppeteer-pipe", &[]);
        launcher.title(&site.page("/plain"));
        let (browser, shims) = (browser(&world), shims(&world));
        match victim {
            "shim" => kill(shims[0].pid),
            "launcher" => kill(launcher.pid()),
            "browser" => kill(browser.pid),
            _ => kill(world.daemon_pid()),
        }
        await_end(&format!("the shim after its {victim}"), ORPHAN_SECONDS, &shims);
        await_end(&format!("the browser after its {victim}"), ORPHAN_SECONDS, &[browser]);
        if victim != "launcher" {
            assert_eq!(launcher.next_line(), json!({"disconnected": true}), "{victim}");
        }
    }
    // A killed daemon leaves its socket, and the next daemon replaces it.
    world.run(&["daemon", "start"]).succeeded();
}
