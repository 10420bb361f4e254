//! The extension pages by keyboard: every control is reachable, and the focus is visible.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::own_browser::tabs::connected_browser;
use crate::support::cdp_client::CdpClient;
use crate::support::extension_pages::ExtensionView;
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::find_eventually;
use crate::support::world::{World, wait};

/// Names every enabled control and returns the names; radio buttons of a group count as one.
const CONTROLS: &str = "(() => { \
    const all = [...document.querySelectorAll('a[href], button, input, textarea, select, summary')]; \
    const usable = all.filter((one) => !one.disabled && one.checkVisibility()); \
    const nameOf = (one) => one.type === 'radio' ? 'group ' + one.name \
        : one.tagName + ' ' + (one.id || one.getAttribute('aria-label') || one.textContent.trim()); \
    window.nameOf = nameOf; \
    return [...new Set(usable.map(nameOf))]; \
})()";

/// The focused control: its name, and whether an outline of at least 2 px shows it within the view.
const FOCUSED: &str = "(() => { \
    const one = document.activeElement; \
    if (!one || one === document.body) return null; \
    const { outlineStyle, outlineWidth } = getComputedStyle(one); \
    const { top, bottom } = one.getBoundingClientRect(); \
    const isSeen = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 && bottom > 0 && top < innerHeight; \
    return [window.nameOf(one), isSeen, one.textContent.trim()]; \
})()";

/// Moves through the page with Tab only; every control must be reached with a visible focus.
fn check_stops(view: &mut ExtensionView) {
    let wanted: BTreeSet<String> = serde_json::from_value(view.evaluate(CONTROLS)).expect("names");
    assert!(wanted.len() > 3, "{wanted:?}");
    let mut reached = BTreeSet::new();
    for _ in 0..wanted.len() * 2 + 4 {
        view.key("Tab");
        let focused = view.evaluate(FOCUSED);
        let Some(name) = focused[0].as_str() else { continue };
        assert_eq!(focused[1], true, "the focus on {name} is not visible");
        reached.insert(name.to_owned());
    }
    let missed: Vec<_> = wanted.difference(&reached).collect();
    assert!(missed.is_empty(), "not reached by keys: {missed:?}");
}

/// Moves with Tab to the control with this text and presses a key.
fn press_by_key(view: &mut ExtensionView, text: &str, key: &str) {
    let found = find_eventually(20, || {
        view.evaluate(CONTROLS);
        view.key("Tab");
        view.evaluate(FOCUSED)[2].as_str().is_some_and(|focused| focused.starts_with(text)).then_some(())
    });
    assert!(found.is_some(), "Tab does not reach {text:?}: {}", view.text());
    view.key(key);
}

#[test]
fn popup_and_options_work_with_the_keyboard_alone() {
    let (world, site) = (World::new(), FixtureSite::start());
    let browser = connected_browser(&world);
    let mut user = CdpClient::connect(&browser.websocket());
    user.call("Target.createTarget", json!({"url": site.page("/form")}), None);
    let mut popup = ExtensionView::popup(&browser);
    popup.take_keys();
    popup.shows("Not shared with agents.");
    press_by_key(&mut popup, "Share this tab", "Enter");
    popup.shows("Shared: agents can read and use it.");
    // An approval request works with keys too, once its buttons are enabled.
    let asked = world.start(&["--json", "open", "--upstream", "extension", &site.page("/plain")]);
    popup.shows("wants to see and open pages of");
    let ready = "[...document.querySelectorAll('.answers button')].every((one) => !one.disabled)";
    find_eventually(10, || (popup.evaluate(ready) == true).then_some(())).expect("its buttons are enabled");
    check_stops(&mut popup);
    press_by_key(&mut popup, "This session", " ");
    wait(asked, &["open"]).succeeded();
    press_by_key(&mut popup, "Sites granted", "Enter");
    press_by_key(&mut popup, "Recently refused", " ");
    check_stops(&mut popup);
    press_by_key(&mut popup, "Revoke", "Enter");
    popup.shows("Nothing is granted.");
    press_by_key(&mut popup, "Pause everything", " ");
    popup.shows("Everything is paused.");
    press_by_key(&mut popup, "Resume", "Enter");
    popup.shows_no_more("Everything is paused.");

    let mut options = ExtensionView::options(&browser);
    options.take_keys();
    options.shows("Connected to Tabwire");
    options.evaluate(CONTROLS);
    press_by_key(&mut options, "Pair by hand", "Enter");
    check_stops(&mut options);
    press_by_key(&mut options, "Connect now", "Enter");
    options.shows("Connected to Tabwire");
    // The group of radio buttons is one Tab stop, and arrow keys move within it.
    let at_modes = "document.activeElement?.name === 'mode'";
    let came = find_eventually(20, || {
        options.key("Tab");
        (options.evaluate(at_modes) == true).then_some(())
    });
    assert!(came.is_some(), "Tab reaches the modes");
    for (key, mode) in [("ArrowDown", "all"), ("ArrowUp", "shared")] {
        options.key(key);
        let chosen = "chrome.storage.local.get('mode').then(({mode}) => mode ?? null)";
        let chosen = find_eventually(10, || Some(options.evaluate(chosen)).filter(|now| *now == mode));
        assert_eq!(chosen, Some(Value::from(mode)));
    }
    world.run(&["close"]);
}
