//! Questions: the reason, what each answer permits, the tab's title, and notifications of a hidden page.

use serde_json::json;

use crate::support::chromium::Chromium;
use crate::support::dashboard_page::{Dashboard, dashboard_url};
use crate::support::fixture_site::FixtureSite;
use crate::support::world::{World, wait};

/// Records notifications, and says that the page is hidden while `isAway`.
const AWAY: &str = "window.shownNotifications = []; window.isAway = false; \
    window.Notification = class { static permission = 'granted'; constructor(title, {body}) { shownNotifications.push(`${title}: ${body}`); } }; \
    Object.defineProperty(document, 'hidden', {get: () => isAway})";

#[test]
fn questions_say_why_and_what_each_answer_permits() {
    let (world, site, browser) = (World::new(), FixtureSite::start(), Chromium::with_port());
    let mut page = Dashboard::open_with(&browser, &dashboard_url(&world), AWAY);
    page.shows("connected");
    let ask = |name: &str| {
        world.start(&[
            "--json",
            "--as",
            name,
            "open",
            "--session",
            name,
            "--policy",
            "guarded",
            &site.page("/plain"),
        ])
    };
    let first = ask("ann");
    page.shows("ann wants to see and open pages of");
    // The page is in front, so the card is enough.
    assert_eq!(page.run("shownNotifications"), json!([]));
    page.run("void (isAway = true)");
    let second = ask("bob");
    page.becomes("document.title === '(2) Tabwire'");
    page.becomes("shownNotifications.length === 1 && shownNotifications[0].startsWith('bob waits for your answer: http://')");
    page.run("void (isAway = false)");
    page.becomes("document.querySelectorAll('.question .reason')[0].checkVisibility() && document.querySelector('.question .reason').innerText.includes('no grant allows it')");
    let meaning = "[...document.querySelector('.answers').children].map((one) => one.ariaDescription)";
    let meanings = page.run(meaning);
    for wanted in [
        "this one action",
        "while session ann runs",
        "Nothing is stored",
        "Permits ann to",
        "Permits every agent",
    ] {
        assert!(meanings.to_string().contains(wanted), "{wanted}: {meanings}");
    }
    page.becomes("[...document.querySelectorAll('.answers button')].every((one) => !one.disabled)");
    page.show_view("questions");
    page.becomes("document.querySelectorAll('#view-body .question').length === 2");
    page.save_screenshot("dashboard-two-questions");
    for (asked, title) in [(first, "(1) Tabwire"), (second, "Tabwire")] {
        page.press("No");
        page.becomes(&format!("document.title === '{title}'"));
        // The row of the log is written before the command ends, so bob's is the latest.
        assert_eq!(wait(asked, &["open"]).failure().0, "POLICY_DENIED");
    }
    // A refused row leads to the grant that it needs.
    page.shows("no grant allows");
    page.run("document.querySelector('#latest a').click()");
    page.becomes(
        "document.querySelector('[placeholder=\"https://example.com\"]')?.value.startsWith('http://')",
    );
    assert_eq!(page.run("document.querySelector('[placeholder=\"every agent\"]').value"), "bob");
    assert_eq!(page.run("violations"), json!([]));
}
