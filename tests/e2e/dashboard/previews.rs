//! Previews of files: requests of a HAR, events of a trace, text, video. What cannot be shown can be saved.

use serde_json::json;

use crate::support::chromium::Chromium;
use crate::support::dashboard_page::{Dashboard, dashboard_url};
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

/// Opens the preview of the file whose name ends so.
fn show(page: &mut Dashboard, ending: &str) {
    let row = format!(
        "[...document.querySelectorAll('#view-body .row')].find((one) => one.querySelector('strong').textContent.endsWith({ending:?}))"
    );
    page.becomes(&format!("{row} !== undefined"));
    page.run(&format!("{row}.querySelector('button').scrollIntoView({{block: 'center'}})"));
    let place = page.run(&format!(
        "(() => {{ const {{x, y, width, height}} = {row}.querySelector('button').getBoundingClientRect(); return [x + width / 2, y + height / 2]; }})()"
    ));
    for kind in ["mousePressed", "mouseReleased"] {
        let event = json!({"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1});
        page.client.call("Input.dispatchMouseEvent", event, Some(&page.session));
    }
}

#[test]
fn archives_traces_and_videos_are_shown_and_a_pdf_is_saved() {
    let (world, site, browser) = (World::new(), FixtureSite::start(), Chromium::with_port());
    world.open(&[&site.page("/plain")]);
    world.run(&["har", "start"]).succeeded();
    world.run(&["trace", "start"]).succeeded();
    world.run(&["navigate", &site.page("/form")]).succeeded();
    world.run(&["trace", "stop"]).succeeded();
    world.run(&["har", "stop"]).succeeded();
    world.run(&["pdf"]).succeeded();
    let mut page = Dashboard::open(&browser, &dashboard_url(&world));
    page.shows("connected");
    page.show_view("files");
    show(&mut page, ".har");
    page.becomes("[...document.querySelectorAll('.preview tbody tr')].some((row) => row.innerText.includes('GET') && row.innerText.includes('/form'))");
    page.save_screenshot("dashboard-files-har");
    show(&mut page, ".json");
    page.becomes("document.querySelectorAll('.preview th').length === 3 && document.querySelectorAll('.preview tbody tr').length > 3");
    page.save_screenshot("dashboard-files-trace");
    // The policy of the page forbids plugins and frames, so a PDF is saved.
    let folder = world.home().join("saved");
    let allowed = json!({"behavior": "allow", "downloadPath": folder});
    page.client.call("Browser.setDownloadBehavior", allowed, None);
    show(&mut page, ".pdf");
    let is_saved = || {
        std::fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .flatten()
            .any(|file| file.path().extension().is_some_and(|end| end == "pdf"))
    };
    crate::support::wait::eventually("the PDF", 20, is_saved);
    assert_eq!(page.run("violations"), json!([]));
}
