//! The chats of the dashboard: the same as in the side panel, with the same parts.

use serde_json::{Value, json};

use crate::chat::{send, world_with};
use crate::support::chromium::Chromium;
use crate::support::dashboard_page::{Dashboard, dashboard_url};
use crate::support::fixture_site::FixtureSite;
use crate::support::page_checks::{KeyPage as _, check_stops};
use crate::support::wait::find_eventually;
use crate::support::world::World;

fn say(page: &mut Dashboard, text: &str) {
    page.becomes("document.querySelector('.chats textarea')?.disabled === false");
    page.run("document.querySelector('.chats textarea').focus()");
    page.insert_text(text);
    page.key("Enter");
}

fn await_idle(world: &World) {
    let idle = find_eventually(20, || {
        let chats = send(world, "GET", "/v1/chats", &Value::Null).expect("the chats");
        (chats["chats"][0]["state"] == "idle").then_some(())
    });
    assert!(idle.is_some(), "the agent waits");
}

#[test]
fn a_chat_in_the_dashboard_asks_acts_replies_and_is_exported() {
    let (world, site, browser) = (world_with("codex-acp", ""), FixtureSite::start(), Chromium::with_port());
    let mut page = Dashboard::open(&browser, &dashboard_url(&world));
    page.shows("connected");
    page.show_view("chats");
    page.shows("Choose an agent");
    page.take_keys();
    page.save_screenshot("dashboard-chats-start");
    let call = json!({"url": site.page("/form")});
    say(
        &mut page,
        &format!("think Let me look.\ntool navigate {call}\ntool screenshot {{}}\nsay It is a **form**."),
    );
    page.becomes("document.querySelector('.chats .question .answers button:enabled') !== null");
    page.save_screenshot("dashboard-chats-question");
    // Its session is on the wall and in the bar, with its question.
    page.becomes("document.querySelector('#sessions .count') !== null");
    // Both places have the same question; the one in the chat is answered.
    let once = "[...document.querySelectorAll('.chats .answers button')].find((one) => one.textContent === 'This session')";
    let place = page.run(&format!(
        "(() => {{ const one = {once}; one.scrollIntoView({{block: 'center'}}); const box = one.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
    ));
    for kind in ["mousePressed", "mouseReleased"] {
        let event = json!({"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1});
        page.client.call("Input.dispatchMouseEvent", event, Some(&page.session));
    }
    page.becomes("document.querySelector('.chats .theirs strong')?.textContent === 'form'");
    page.becomes("document.querySelectorAll('.question').length === 0");
    await_idle(&world);
    page.run("(document.querySelector('.chats .work:last-of-type').open = true, 0)");
    page.becomes("document.querySelector('.chats .shot img')?.naturalWidth > 100");
    page.save_screenshot("dashboard-chats");
    check_stops(&mut page);
    // A page of the panel and one of the dashboard see the same chat; a message that comes elsewhere is shown here.
    let chats = send(&world, "GET", "/v1/chats", &Value::Null).expect("the chats");
    let id = chats["chats"][0]["id"].as_str().expect("an id").to_owned();
    let text = json!({"text": "say From <img src=x onerror=window.pwned=1> elsewhere."});
    send(&world, "POST", &format!("/v1/chats/{id}/messages"), &text).expect("sent");
    page.shows("From <img src=x onerror=window.pwned=1> elsewhere.");
    assert_eq!(page.run("document.querySelectorAll('img[src=x]').length + (window.pwned ?? 0)"), 0);
    await_idle(&world);
    let folder = world.home().join("exports");
    let allowed = json!({"behavior": "allow", "downloadPath": folder});
    page.client.call("Browser.setDownloadBehavior", allowed, None);
    page.run("(document.querySelector('.chats summary[aria-label=More]').click(), 0)");
    page.press("Save as Markdown");
    let exported = find_eventually(20, || {
        let file = std::fs::read_dir(&folder)
            .ok()?
            .flatten()
            .find(|one| one.path().extension().is_some_and(|end| end == "md"))?;
        std::fs::read_to_string(file.path()).ok().filter(|text| text.contains("## You"))
    });
    let exported = exported.expect("the export is saved");
    assert!(exported.contains("It is a **form**.") && exported.contains("`navigate`"), "{exported}");
    // A reload of the page shows the chat again; a lost daemon leaves its transcript.
    page.client.call("Page.reload", json!({}), Some(&page.session));
    page.becomes("document.querySelector('.chats .theirs strong')?.textContent === 'form'");
    assert_eq!(page.run("violations"), json!([]));
    world.run(&["daemon", "stop"]).succeeded();
    page.shows("The connection to the daemon is lost.");
    page.becomes("document.querySelector('.chats textarea').disabled && document.querySelector('.chats .theirs strong') !== null");
    page.save_screenshot("dashboard-chats-stale");
}
