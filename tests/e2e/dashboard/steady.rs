//! Nothing moves by itself while agents work, and the page fits narrow and very wide windows.

use serde_json::{Value, json};

use crate::support::chromium::Chromium;
use crate::support::dashboard_page::{Dashboard, dashboard_url};
use crate::support::fixture_site::FixtureSite;
use crate::support::page_checks::FAULTS;
use crate::support::world::{World, wait};

/// Collects layout shifts that follow no input of the user.
const SHIFTS: &str = "window.shifts = []; new PerformanceObserver((list) => { for (const one of list.getEntries()) if (!one.hadRecentInput) \
    shifts.push([one.value, ...one.sources.map(({node, previousRect: from, currentRect: to}) => `${node?.className} ${node?.textContent?.slice(0, 40)} ${[from.x, from.y, from.height]} > ${[to.x, to.y, to.height]}`)]); }).observe({type: 'layout-shift', buffered: true})";

/// What agents do in a busy minute.
fn work(world: &World, site: &FixtureSite, page: &mut Dashboard) {
    let mut wanted = 0;
    let mut acts = |page: &mut Dashboard, arguments: &[&str]| {
        let before =
            page.run("Number(document.getElementById('shown-rows').textContent.match(/(\\d+)$/)?.[1] ?? 0)");
        drop(world.run(arguments));
        wanted = before.as_i64().unwrap_or(0).max(wanted) + 1;
        page.becomes(&format!(
            "Number(document.getElementById('shown-rows').textContent.match(/(\\d+)$/)?.[1] ?? 0) >= {wanted}"
        ));
    };
    for round in 0..4 {
        acts(page, &["fill", "#name", &format!("Round {round}")]);
        acts(page, &["click", "#agree"]);
        acts(page, &["snapshot"]);
        acts(page, &["eval", &format!("document.body.style.background = 'hsl({} 60% 80%)'", round * 60)]);
        acts(page, &["click", "#not-there", "--timeout", "200ms"]);
        acts(page, &["navigate", &site.page("/form")]);
    }
    // More rows than the column keeps.
    for _ in 0..40 {
        drop(world.run(&["eval", "1"]));
    }
    acts(page, &["screenshot"]);
    // A question comes and goes, a second session too.
    let asked = world.start(&[
        "--json",
        "--as",
        "reviewer",
        "open",
        "--session",
        "shop",
        "--policy",
        "guarded",
        &site.page("/plain"),
    ]);
    page.shows("reviewer wants to see and open pages of");
    page.press("Once");
    wait(asked, &["open"]).succeeded();
    page.becomes("document.getElementById('questions-section').hidden");
    page.becomes("document.querySelectorAll('#sessions li').length === 2");
}

#[test]
fn nothing_moves_while_agents_work() {
    let (world, site, browser) = (World::new(), FixtureSite::start(), Chromium::with_port());
    world.run(&["open", &site.page("/form")]).succeeded();
    world.run(&["eval", "1"]).succeeded();
    let mut page =
        Dashboard::open_with(&browser, &format!("{}&session=default", dashboard_url(&world)), SHIFTS);
    page.client.call("Page.bringToFront", json!({}), Some(&page.session));
    page.use_size(1280, 800);
    page.shows_frame();
    page.becomes("document.querySelectorAll('#latest .entry').length >= 2");
    page.run("void (shifts.length = 0)");
    work(&world, &site, &mut page);
    assert_eq!(page.run("shifts"), json!([]), "on the stage");
    assert_eq!(
        page.run("document.querySelectorAll('#latest .entry').length <= 61"),
        true,
        "old rows are dropped"
    );
    page.show_view("live");
    page.becomes("document.querySelectorAll('.session-card').length === 2");
    page.becomes("document.querySelector('.thumbnail img')?.naturalWidth > 0");
    page.run("void (shifts.length = 0)");
    for _ in 0..3 {
        world.run(&["click", "#agree"]).succeeded();
        world.run(&["--session", "shop", "eval", "1"]);
    }
    page.becomes("document.querySelector('#latest .entry code')?.textContent === 'eval'");
    assert_eq!(page.run("shifts"), json!([]), "on the wall");
    assert_eq!(page.run("violations"), json!([]));
}

#[test]
fn every_view_fits_from_360_to_3840_pixels() {
    let (world, site, browser) = (World::new(), FixtureSite::start(), Chromium::with_port());
    world.run(&["open", &site.page("/form")]).succeeded();
    world.run(&["--as", "an agent with a very long name that goes on and on", "click", "#agree"]);
    world
        .run(&[
            "allow",
            "https://a-very-long-host-name-of-a-shop-that-sells-everything.example.test",
            "--without-terminal",
        ])
        .succeeded();
    let mut page = Dashboard::open(&browser, &dashboard_url(&world));
    page.client.call("Page.bringToFront", json!({}), Some(&page.session));
    page.shows("Pause all");
    for view in [
        "live",
        "live/default",
        "questions",
        "timeline",
        "policy",
        "clients",
        "files",
        "recordings",
        "health",
    ] {
        page.show_view(view);
        let name = view.replace('/', "-");
        if view == "live/default" {
            page.shows_frame();
        }
        for (width, height) in [(360, 740), (719, 800), (720, 800), (1100, 800), (2560, 1440), (3840, 2160)] {
            page.use_size(width, height);
            for scheme in ["light", "dark"] {
                page.use_scheme(scheme);
                assert_eq!(page.run(FAULTS), json!([]), "{view} at {width} in the {scheme} scheme");
            }
            if view == "live/default" && [360, 3840].contains(&width) {
                page.save_image(&format!("view-{name}-{width}-dark.png"), &json!({}));
            }
        }
        if view == "live/default" {
            let share: Value = page.run("document.querySelector('.screen').clientHeight / innerHeight");
            assert!(share.as_f64().is_some_and(|share| share > 0.6), "the page uses a large window: {share}");
        }
        page.save_screenshot(&format!("view-{name}"));
    }
    assert_eq!(page.run("violations"), json!([]));
}
