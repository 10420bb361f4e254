//! The extension pages by keyboard: every control is reachable, and the focus is visible.

use serde_json::{Value, json};

use crate::own_browser::tabs::connected_browser;
use crate::support::cdp_client::CdpClient;
use crate::support::extension_pages::ExtensionView;
use crate::support::fixture_site::FixtureSite;
use crate::support::page_checks::{CONTROLS, check_stops, press_by_key};
use crate::support::wait::find_eventually;
use crate::support::world::{World, wait};

#[test]
fn popup_and_options_work_with_the_keyboard_alone() {
    let (world, site) = (World::new(), FixtureSite::start());
    let browser = connected_browser(&world);
    let mut user = CdpClient::connect(&browser.websocket());
    user.call("Target.createTarget", json!({"url": site.page("/form")}), None);
    let mut popup = ExtensionView::popup(&browser);
    popup.take_keys();
    popup.shows("Not shared: agents cannot see it.");
    press_by_key(&mut popup, "Share this tab", "Enter");
    popup.shows("Shared. Agents ask you before they read or use it.");
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
    press_by_key(&mut popup, "Other tabs in this window", " ");
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
    press_by_key(&mut options, "Reconnect", "Enter");
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
