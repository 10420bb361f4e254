//! What the popup says about the connection, the tabs and the policy, and that it is true.

use serde_json::{Value, json};

use crate::own_browser::driving::{await_connected, install_into, own_browser};
use crate::own_browser::tabs::connected_browser;
use crate::support::cdp_client::CdpClient;
use crate::support::chromium::Chromium;
use crate::support::extension_pages::{ExtensionView, ExtensionWorker};
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::eventually;
use crate::support::world::{World, wait};

/// Whether the strong button of the popup is this one alone.
pub(super) fn strong_button(text: &str) -> String {
    format!(
        "(() => {{ const strong = [...document.querySelectorAll('button.strong')].filter((one) => one.checkVisibility()); \
         return strong.length === 1 && strong[0].textContent === {text:?}; }})()"
    )
}

/// Opens tabs as the user does; the last one is in front.
pub(crate) fn open_tabs(browser: &Chromium, urls: &[&str]) {
    let mut user = CdpClient::connect(&browser.websocket());
    for url in urls {
        user.call("Target.createTarget", json!({"url": url}), None);
    }
}

fn origin_of(url: &str) -> String {
    url.splitn(4, '/').take(3).collect::<Vec<_>>().join("/")
}

#[test]
fn a_stopped_daemon_is_not_running_and_not_unpaired() {
    let world = World::new();
    let browser = own_browser(&world);
    await_connected(&world);
    let mut worker = ExtensionWorker::of(&browser);
    eventually("the badge says connected", 10, || worker.badge() == "on");
    world.run(&["daemon", "stop"]).succeeded();
    let mut popup = ExtensionView::popup(&browser);
    popup.shows("Tabwire is not running.");
    popup.shows("It starts by itself with the next command or agent.");
    let text = popup.text();
    assert!(!text.contains("not paired") && !text.contains("extension install"), "{text}");
    eventually("the badge says off", 20, || worker.badge() == "off");
    let mut options = ExtensionView::options(&browser);
    options.shows("Tabwire is not running.");
    options.shows("Connect now");
    // An open page of the extension looks for the daemon.
    world.run(&["daemon", "start"]).succeeded();
    options.becomes(
        "it is connected",
        "document.querySelector('#pairing').textContent.startsWith('Connected to Tabwire')",
    );
    options.becomes("its button", "document.querySelector('#connect').textContent === 'Reconnect'");
}

/// A browser with the extension and without the native host.
pub(crate) fn unpaired_browser(world: &World) -> Chromium {
    Chromium::with_extension(|profile| {
        let package = install_into(world, profile);
        std::fs::remove_dir_all(profile.join("NativeMessagingHosts")).expect("the host was registered");
        package
    })
}

#[test]
fn a_browser_without_the_native_host_says_how_to_pair() {
    let world = World::new();
    let browser = unpaired_browser(&world);
    let mut worker = ExtensionWorker::of(&browser);
    eventually("the badge is not empty", 20, || worker.badge() == "!");
    assert_eq!(worker.evaluate("chrome.action.getTitle({})"), "Tabwire: not paired with this computer");
    let mut popup = ExtensionView::popup(&browser);
    popup.shows("This browser is not paired.");
    popup.shows("tabwire extension install");
}

#[test]
fn a_shared_tab_is_usable_only_where_its_site_is_granted() {
    let (world, site) = (World::new(), FixtureSite::start());
    let browser = connected_browser(&world);
    let url = site.page("/form");
    let origin = origin_of(&url);
    open_tabs(&browser, &[&url]);
    let mut popup = ExtensionView::popup(&browser);
    popup.becomes("at rest the strong button shares the tab", &strong_button("Share this tab"));
    // Title and icon of the tab, not only a sentence about it.
    popup.becomes("it has a title", "document.querySelector('#front .texts strong').textContent === 'Form'");
    popup.becomes("it has an icon", "document.querySelector('#front .site-icon') !== null");
    popup.press("Share this tab");
    popup.shows("Shared. Agents ask you before they read or use it.");
    let allow = |flags: &[&str]| {
        let line = [&["allow", origin.as_str(), "--without-terminal"], flags].concat();
        world.run(&line).succeeded();
    };
    allow(&["--for", "session"]);
    popup.shows("Shared. Some agents can read it; the others ask you first.");
    allow(&[]);
    popup.shows("Shared. Agents can read it, and ask you before they click or type.");
    allow(&["--act"]);
    popup.shows("Shared. Agents can read and use it.");
    world.run(&["deny", &origin]).succeeded();
    popup.shows("Shared. The policy denies this site to agents.");
}

#[test]
fn two_questions_leave_header_and_footer_in_sight() {
    let (world, site) = (World::new(), FixtureSite::start());
    let browser = connected_browser(&world);
    open_tabs(&browser, &[&site.page("/plain")]);
    let mut popup = ExtensionView::popup(&browser);
    let asked: Vec<_> = ["a", "b"]
        .iter()
        .map(|name| {
            let url = site.url(name, "/plain");
            world.start(&["--json", "open", "--session", name, "--upstream", "extension", &url])
        })
        .collect();
    popup.shows("2 questions");
    for part in [".top", ".bottom", "#pause", "#options"] {
        let is_seen = format!(
            "(() => {{ const {{top, bottom}} = document.querySelector({part:?}).getBoundingClientRect(); \
             return top >= 0 && bottom <= innerHeight && innerHeight <= 600; }})()"
        );
        popup.becomes(part, &is_seen);
    }
    popup.press("No");
    popup.shows("1 question");
    popup.press("No");
    for child in asked {
        assert_eq!(wait(child, &["open"]).failure().0, "POLICY_DENIED");
    }
    for name in ["a", "b"] {
        world.run(&["close", "--session", name]);
    }
}

#[test]
fn another_tab_is_shared_by_a_click_and_pausing_keeps_the_list() {
    let (world, site) = (World::new(), FixtureSite::start());
    let browser = connected_browser(&world);
    let (other, front) = (site.page("/form"), site.page("/plain"));
    open_tabs(&browser, &[&other, &front]);
    let mut popup = ExtensionView::popup(&browser);
    popup.press("Other tabs in this window");
    popup.press("Share Form");
    let shared = "[...document.querySelectorAll('#tabs .texts > .cut')].map((one) => one.textContent).join() === 'Form'";
    popup.becomes("the other tab is shared", shared);
    let tabs =
        |world: &World| -> Value { world.json(&["extension", "status"])["connected"][0]["tabs"].clone() };
    eventually("the daemon sees one tab", 10, || tabs(&world) == 1);
    popup.press("Pause everything");
    popup.shows("Everything is paused.");
    popup.becomes("the list stays", shared);
    popup.becomes(
        "while paused the strong button resumes, or shares",
        "document.querySelector('#pause').className === 'strong'",
    );
    popup.press("Resume");
    popup.shows_no_more("Everything is paused.");
    popup.press("Stop sharing Form");
    popup.shows("No tab is shared: agents see none.");
    eventually("the daemon sees none", 10, || tabs(&world) == 0);
}

#[test]
fn status_says_that_the_browser_is_the_users_own() {
    let (world, site) = (World::new(), FixtureSite::start());
    let _browser = connected_browser(&world);
    world.open(&["--upstream", "extension", "--policy", "open", &site.page("/plain")]);
    let status = world.run(&["session", "status"]).succeeded();
    assert!(status.stdout.contains("your own, through the extension"), "{}", status.stdout);
    assert!(!status.stdout.contains("headless"), "{}", status.stdout);
    assert_eq!(world.json(&["session", "status"])["result"]["headed"], true);
    world.run(&["close"]).succeeded();
}
