//! The dashboard with the keyboard alone: every control is reachable, and everything that matters can be done.

use serde_json::json;

use crate::support::chromium::Chromium;
use crate::support::dashboard_page::{Dashboard, dashboard_url};
use crate::support::fixture_site::FixtureSite;
use crate::support::page_checks::{KeyPage as _, check_stops, press_by_key, tab_to};
use crate::support::wait::eventually;
use crate::support::world::{World, wait};

#[test]
fn the_dashboard_works_with_the_keyboard_alone() {
    let (world, site, browser) = (World::new(), FixtureSite::start(), Chromium::with_port());
    world.run(&["open", &site.page("/form")]).succeeded();
    // Another client has a tab of its own.
    world.run(&["--as", "reader", "navigate", &site.page("/plain")]).succeeded();
    world.run(&["click", "#name"]).succeeded();
    let mut page = Dashboard::open(&browser, &dashboard_url(&world));
    page.take_keys();
    page.use_scheme("light");
    page.shows("Pause all");
    page.becomes("document.querySelector('.thumbnail img')?.naturalWidth > 0");
    check_stops(&mut page);
    // A session of the bar opens the stage; its tabs are one stop with arrow keys.
    press_by_key(&mut page, "default", "Enter");
    page.shows_frame();
    check_stops(&mut page);
    tab_to(&mut page, "Form");
    page.key("ArrowRight");
    page.becomes("document.activeElement.getAttribute('role') === 'tab' && document.activeElement.getAttribute('aria-selected') === 'false'");
    page.key("Enter");
    page.becomes("document.querySelector('.url').innerText.includes('/plain')");
    page.key("Home");
    page.key("Enter");
    page.becomes("document.querySelector('.url').innerText.includes('/form')");
    page.shows_frame();
    // The user takes over, types, and gives back.
    world.run(&["focus", "#name"]).succeeded();
    press_by_key(&mut page, "Take over", "Enter");
    page.shows("You have mouse and keyboard.");
    page.becomes("document.activeElement.className === 'keyboard'");
    page.type_keys("Ada");
    page.key("Escape");
    page.key("Escape");
    page.becomes("document.activeElement.textContent === 'Take over'");
    eventually("the text", 20, || {
        world.run(&["eval", "document.querySelector('#name').value"]).text().contains("Ada")
    });
    // The track looks back, and Escape returns.
    tab_to(&mut page, "Moment");
    page.key("ArrowLeft");
    page.shows("This action has no screenshot.");
    page.key("Escape");
    page.becomes("document.querySelector('.past').hidden");
    // A question is answered.
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
    page.becomes("[...document.querySelectorAll('.answers button')].every((one) => !one.disabled)");
    tab_to(&mut page, "Once");
    page.shows("Permits this one action.");
    page.key("Tab");
    page.shows("while session shop runs");
    page.key("Enter");
    wait(asked, &["open"]).succeeded();
    // The search opens a view, where a site is allowed.
    page.key("Control+k");
    page.becomes("document.querySelector('dialog.search').open");
    page.insert_text("pol");
    page.key("Enter");
    page.becomes(
        "location.hash === '#policy' && document.getElementById('view-title').textContent === 'Policy'",
    );
    check_stops(&mut page);
    page.run("document.querySelector('[placeholder=\"https://example.com\"]').focus()");
    page.insert_text("https://shop.test");
    press_by_key(&mut page, "Allow", " ");
    page.shows("is allowed on https://shop.test");
    for view in ["questions", "timeline", "clients", "files", "recordings", "health"] {
        page.show_view(view);
        page.becomes(&format!("document.querySelector('[aria-current=page]')?.hash === '#{view}'"));
        check_stops(&mut page);
    }
    assert_eq!(page.run("violations"), json!([]));
}
