//! The states of the dashboard that need no running browser, or a fault: each is named and readable, and has a screenshot.

use serde_json::json;

use crate::support::chromium::Chromium;
use crate::support::dashboard_page::{Dashboard, dashboard_url};
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

/// Keeps frames from the page, as a browser does that sends none.
const NO_FRAMES: &str = "window.WebSocket = class extends WebSocket { addEventListener(name, listener) { \
    super.addEventListener(name, name === 'message' ? (event) => typeof event.data === 'string' && listener(event) : listener); } }";

#[test]
fn empty_views_say_what_would_fill_them() {
    let (world, browser) = (World::new(), Chromium::with_port());
    let mut page = Dashboard::open(&browser, &dashboard_url(&world));
    page.shows("No session runs.");
    for (view, text) in [
        ("timeline", "Nothing happened yet."),
        ("files", "No session has written a file yet."),
        ("recordings", "There is no recording yet."),
        ("questions", "No agent waits for an answer."),
        ("clients", "No client is connected."),
    ] {
        page.show_view(view);
        page.shows(text);
        page.save_screenshot(&format!("state-empty-{view}"));
    }
    page.show_view("live/gone");
    page.shows("This session does not run.");
    page.save_screenshot("state-no-session");
    assert_eq!(page.run("violations"), json!([]));
}

#[test]
fn a_page_without_a_key_is_locked() {
    let (world, browser) = (World::new(), Chromium::with_port());
    let url = dashboard_url(&world);
    let mut page = Dashboard::open(&browser, url.split('#').next().expect("an address"));
    page.shows("The dashboard is locked.");
    page.shows("tabwire dashboard");
    page.save_screenshot("state-locked");
    world.run(&["daemon", "stop"]).succeeded();
}

#[test]
fn a_log_that_is_off_or_unreadable_is_named_in_every_view() {
    let (world, site, browser) =
        (World::new().with("TABWIRE_AUDIT_LOG", "off"), FixtureSite::start(), Chromium::with_port());
    world.run(&["open", &site.page("/plain")]).succeeded();
    let mut page = Dashboard::open(&browser, &dashboard_url(&world));
    page.shows("The audit log is off.");
    page.save_screenshot("state-log-off");
    page.show_view("timeline");
    page.shows("The audit log is off.");
    drop((page, browser, world));

    let (world, browser) = (World::new(), Chromium::with_port());
    world.run(&["open", &site.page("/plain")]).succeeded();
    let mut page = Dashboard::open(&browser, &dashboard_url(&world));
    page.shows("Pause all");
    world.run(&["daemon", "stop"]).succeeded();
    for name in ["audit.sqlite", "audit.sqlite-wal", "audit.sqlite-shm"] {
        let _ = std::fs::remove_file(world.home().join("state").join(name));
    }
    // A folder in its place can neither be read nor replaced by the writer.
    std::fs::create_dir_all(world.home().join("state/audit.sqlite/full")).expect("a folder");
    let mut page = Dashboard::open(&browser, &dashboard_url(&world));
    page.shows("The log cannot be read:");
    page.save_screenshot("state-log-unreadable");
    assert_eq!(page.run("violations"), json!([]));
}

#[test]
fn a_broken_policy_is_named_in_every_view() {
    let (world, browser) = (World::new(), Chromium::with_port());
    let mut page = Dashboard::open(&browser, &dashboard_url(&world));
    page.shows("connected");
    std::fs::create_dir_all(world.home().join("config")).expect("a directory");
    std::fs::write(world.home().join("config/policy.toml"), "rules = 7\n").expect("written");
    page.shows("The policy file has a fault.");
    page.save_screenshot("state-policy-broken");
    assert_eq!(page.run("violations"), json!([]));
    page.show_view("policy");
    page.becomes("document.querySelector('.source .fault') !== null && document.getElementById('banner').innerText === ''");
}

#[test]
fn a_stage_that_waits_for_its_first_frame_says_so() {
    let (world, site, browser) = (World::new(), FixtureSite::start(), Chromium::with_port());
    world.run(&["open", &site.page("/form")]).succeeded();
    let url = format!("{}&session=default", dashboard_url(&world));
    let mut page = Dashboard::open_with(&browser, &url, NO_FRAMES);
    page.shows("Waiting for the first image.");
    page.becomes("document.querySelectorAll('.tab-strip li').length === 1");
    page.save_screenshot("state-connecting");
    assert_eq!(page.run("violations"), json!([]));
}

#[test]
fn the_wall_shows_paused_and_taken_sessions() {
    let (world, site, browser) = (World::new(), FixtureSite::start(), Chromium::with_port());
    world.run(&["open", &site.page("/form")]).succeeded();
    world.run(&["open", "--session", "held", &site.page("/plain")]).succeeded();
    let other = Chromium::with_port();
    let mut driver = Dashboard::open(&other, &format!("{}&session=default", dashboard_url(&world)));
    driver.shows_frame();
    driver.press("Take over");
    driver.shows("You have taken over this tab.");
    let mut page = Dashboard::open(&browser, &format!("{}&session=held", dashboard_url(&world)));
    page.shows_frame();
    page.press("Pause");
    page.shows("Paused.");
    page.show_view("live");
    page.shows("Another dashboard has taken over this tab.");
    page.becomes("['taken over', 'paused'].every((text) => [...document.querySelectorAll('.session-card .tag')].some((one) => one.textContent === text))");
    page.save_screenshot("state-wall-held");
    page.press("Pause all");
    page.shows("Resume all");
    page.press("Resume all");
    page.shows("Pause all");
    driver.press("Give it back");
    page.becomes("!document.getElementById('view-body').innerText.includes('taken over')");
    assert_eq!(page.run("violations"), json!([]));
}

#[test]
fn a_replay_without_screenshots_shows_the_actions() {
    let (world, site, browser) = (World::new(), FixtureSite::start(), Chromium::with_port());
    world.run(&["open", "--session", "work", &site.page("/form")]).succeeded();
    world.run(&["--session", "work", "click", "#agree"]).succeeded();
    let mut page = Dashboard::open(&browser, &dashboard_url(&world));
    page.shows("connected");
    page.show_view("timeline");
    page.shows("Details");
    page.press("Replay");
    page.shows("Session work, 2 actions");
    page.shows("This session has no screenshots.");
    page.save_screenshot("state-replay-without-screenshots");
    // On the stage, the track says the same.
    page.show_view("live/work");
    page.shows_frame();
    page.becomes("document.querySelectorAll('.bars i').length === 2");
    assert_eq!(page.run("violations"), json!([]));
}
