//! Packages that drive a browser through chromedriver and the Chrome shim.

use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::chrome_shim::launcher::shim;
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

/// Runs the suite of a package in `tests/packages`, on one profile if it has a name; every check must pass.
fn suite_passes(package: &str, profile: Option<&str>, checks: u64) {
    let (world, site) = (World::new().with_whole_chromium(), FixtureSite::start());
    world.expect_litter();
    let profile = profile.map(|name| world.home().join(name).to_string_lossy().into_owned());
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/packages").join(package);
    assert!(folder.join("node_modules").is_dir(), "run `cargo xtask setup`: {package} is not installed");
    let (port, link) = (site.port().to_string(), shim(&world).to_string_lossy().into_owned());
    let arguments =
        ["suite.mjs", "--executable", &link, "--chromedriver", "/usr/bin/chromedriver", "--site-port", &port];
    let mut command = world.command("node", &arguments);
    command.args(profile.iter().flat_map(|profile| ["--profile", profile]));
    let output = command.current_dir(&folder).stderr(Stdio::inherit()).output().expect("node is there");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let last: Value =
        text.lines().last().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
    assert_eq!(last["failures"], json!([]), "{package}: {text}\n{}", world.log());
    assert!(last["checks"].as_u64() >= Some(checks), "{package}: {text}");
}

#[test]
fn p3_selenium_uses_webdriver_bidi_through_the_shim() {
    suite_passes("selenium", None, 10);
}

#[test]
fn p3_webdriverio_uses_webdriver_bidi_through_the_shim() {
    suite_passes("webdriverio", None, 10);
}

#[test]
fn p1_two_selenium_sessions_on_one_profile_keep_to_their_pages() {
    suite_passes("selenium", Some("profile"), 10);
}
