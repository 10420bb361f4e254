//! The live view: frames, states, dialogs, files, and pages that may not be shown.

use serde_json::{Value, json};

use crate::support::cdp_client::CdpClient;
use crate::support::chromium::Chromium;
use crate::support::dashboard_page::{Dashboard, dashboard_url};
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::{eventually, find_eventually};
use crate::support::world::World;

/// The colour in the middle of the image.
const MIDDLE: &str = "(() => { const one = document.querySelector('canvas.frames'); \
    return [...one.getContext('2d').getImageData(one.width >> 1, one.height >> 1, 1, 1).data].slice(0, 3); })()";

/// The colour in the middle becomes the wanted one; JPEG changes it a little.
fn shows_color(page: &mut Dashboard, wanted: [i64; 3]) {
    let mut color = Value::Null;
    let is_near = |color: &Value| {
        let parts: Vec<i64> = color.as_array().into_iter().flatten().filter_map(Value::as_i64).collect();
        parts.len() == 3 && parts.iter().zip(wanted).all(|(part, wanted)| (part - wanted).abs() < 12)
    };
    let shown = find_eventually(20, || {
        color = page.run(MIDDLE);
        is_near(&color).then_some(())
    });
    assert!(shown.is_some(), "{wanted:?} is not shown: {color}");
}

/// Makes the page of the default session one colour.
fn paint(world: &World, color: &str) {
    world.eval(&format!(
        "void (document.body.innerHTML = '', document.documentElement.style.background = '{color}')"
    ));
}

#[test]
fn a_live_view_follows_the_page_and_shows_every_state() {
    let (world, site, browser) = (World::new(), FixtureSite::start(), Chromium::with_port());
    world.run(&["open", &site.page("/form")]).succeeded();
    let mut page = Dashboard::open(&browser, &dashboard_url(&world));
    page.shows("Pause all");
    eventually("a thumbnail", 20, || {
        page.run("document.querySelector('.thumbnail img')?.naturalWidth > 0") == true
    });
    page.save_screenshot("live-wall");
    page.run("void document.querySelector('.session-card').click()");
    page.shows("Take over");
    page.shows_frame();
    world.run(&["click", "#name"]).succeeded();
    eventually("the mark", 20, || page.run("document.querySelectorAll('.overlay .box').length") == 1);
    let share =
        "document.querySelector('.screen').clientWidth / document.querySelector('#view-body').clientWidth";
    assert!(
        page.run(share).as_f64().is_some_and(|share| share > 0.9),
        "the screen has the width of the view"
    );
    page.save_screenshot("live-stage");
    paint(&world, "rgb(200, 30, 30)");
    shows_color(&mut page, [200, 30, 30]);
    paint(&world, "rgb(20, 160, 40)");
    shows_color(&mut page, [20, 160, 40]);
    // A dialog is shown, and can be answered after taking over.
    world.eval("void setTimeout(() => { document.title = prompt('Your name?', 'Ann') }, 0)");
    page.shows("Your name?");
    page.shows("Take over to answer it.");
    page.save_screenshot("live-dialog");
    page.press("Take over");
    page.press("OK");
    page.press("Give it back");
    eventually("the answer", 20, || world.run(&["eval", "document.title"]).text().contains("Ann"));
    // States without a page.
    let mut client = CdpClient::connect(&format!("{}?share=all", world.cdp_url()));
    let targets = client.call("Target.getTargets", json!({}), None)["targetInfos"].take();
    let shown = |one: &&Value| one["url"].as_str().is_some_and(|url| url.ends_with("/form"));
    let target = targets.as_array().into_iter().flatten().find(shown).expect("the form")["targetId"].clone();
    let session = client.attach(target.as_str().expect("an id"));
    client.send("Page.crash", json!({}), Some(&session));
    page.shows("The page has crashed.");
    page.shows("A page crashed");
    page.save_screenshot("live-crashed");
    world.run(&["navigate", &site.page("/plain")]).succeeded();
    page.shows_frame();
    paint(&world, "rgb(30, 60, 200)");
    shows_color(&mut page, [30, 60, 200]);
    let tabs = world.json(&["tabs"])["result"]["tabs"].clone();
    for tab in tabs.as_array().expect("tabs") {
        world.run(&["close", "--tab", tab["tab"].as_str().expect("an id")]).succeeded();
    }
    page.shows("This session has no open tab.");
    page.save_screenshot("live-no-tab");
    world.run(&["close"]).succeeded();
    page.shows("This session does not run.");
    page.save_screenshot("live-no-session");
    assert_eq!(page.run("violations"), json!([]));
    page.run("void (location.hash = 'live')");
    page.shows("No session runs.");
}

#[test]
fn a_page_that_the_policy_hides_stays_hidden() {
    let (world, site, browser) = (World::new(), FixtureSite::start(), Chromium::with_port());
    world.run(&["open", &site.page("/form")]).succeeded();
    let mut page = Dashboard::open(&browser, &format!("{}&session=default", dashboard_url(&world)));
    page.shows_frame();
    let origin = site.page("");
    world.run(&["deny", origin.trim_end_matches('/')]).succeeded();
    page.shows("This page may not be shown.");
    assert_eq!(
        page.run("document.querySelector('.tab-strip').innerText.includes('Form')"),
        false,
        "no title"
    );
    let covered = "getComputedStyle(document.querySelector('.cover')).backgroundColor.startsWith('rgb(') && !document.querySelector('.cover').hidden";
    assert_eq!(page.run(covered), true);
    shows_color(&mut page, [0, 0, 0]);
    page.save_screenshot("live-refused");
    page.run("void (location.hash = 'live')");
    page.shows("This page may not be shown.");
    assert_eq!(page.run("document.querySelectorAll('.thumbnail img').length"), 0);
    assert_eq!(page.run("violations"), json!([]));
}

#[test]
fn the_user_gives_a_file_to_the_page() {
    let (world, site, browser) = (World::new(), FixtureSite::start(), Chromium::with_port());
    world.run(&["open", &site.page("/form")]).succeeded();
    let mut page = Dashboard::open(&browser, &format!("{}&session=default", dashboard_url(&world)));
    page.shows_frame();
    let find = "(() => { const {x, y, width, height} = document.querySelector('#file').getBoundingClientRect(); \
        return [(x + width / 4) / innerWidth, (y + height / 2) / innerHeight]; })()";
    let place = world.json(&["eval", find])["result"]["value"].clone();
    // The first frame tells how large the page is.
    eventually("a frame", 20, || page.run("document.querySelector('canvas.frames').width > 16") == true);
    page.press("Take over");
    page.shows("You have mouse and keyboard.");
    page.click_page(&place);
    page.shows("The page asks for a file");
    page.save_screenshot("live-files");
    let file = world.home().join("note.txt");
    std::fs::write(&file, "hello").expect("written");
    page.choose_files("input[type=file]", &[file.to_str().expect("a path")]);
    eventually("the form closes", 20, || page.run("document.querySelector('.requests').hidden") == true);
    page.press("Give it back");
    let name =
        "document.querySelector('#file').files[0]?.name + document.querySelector('#file').files[0]?.size";
    eventually("the file", 20, || world.run(&["eval", name]).text().contains("note.txt5"));
}
