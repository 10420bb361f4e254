//! The views of the dashboard in a real browser: policy, clients, timeline with replay and export, files and health.

use serde_json::{Value, json};

use crate::mcp::client::McpClient;
use crate::support::cdp_client::CdpClient;
use crate::support::chromium::Chromium;
use crate::support::dashboard_page::{Dashboard, dashboard_url};
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::find_eventually;
use crate::support::world::World;

/// The name of an agent, and of a file that an agent writes.
const MARKUP: &str = "<img src=x onerror=window.pwned=1>";

/// Sets a text field.
fn fill(page: &mut Dashboard, placeholder: &str, text: &str) {
    page.run(&format!(
        "(() => {{ const one = document.querySelector('[placeholder={placeholder:?}]'); one.value = {text:?}; \
         one.dispatchEvent(new Event('input')); }})()"
    ));
}

/// Scrolls to the button with this text, and clicks it.
fn scroll_and_press(page: &mut Dashboard, text: &str) {
    page.run(&format!(
        "[...document.querySelectorAll('button')].find((one) => one.textContent === {text:?}).scrollIntoView({{block: 'center'}})"
    ));
    page.press(text);
}

fn press_key(page: &mut Dashboard, key: &str) {
    for kind in ["rawKeyDown", "keyUp"] {
        let event = json!({"type": kind, "key": key, "code": key});
        page.client.call("Input.dispatchKeyEvent", event, Some(&page.session));
    }
}

#[test]
fn the_policy_view_grants_denies_checks_and_marks_a_fault() {
    let world = World::new();
    let browser = Chromium::with_port();
    let mut page = Dashboard::open(&browser, &dashboard_url(&world));
    page.shows("connected");
    page.show_view("policy");
    page.shows("Nothing is granted.");
    fill(&mut page, "https://example.com", "not a site");
    page.press("Allow");
    page.shows("Invalid site");
    fill(&mut page, "https://example.com", "https://shop.test");
    fill(&mut page, "every agent", MARKUP);
    page.run("document.querySelector('input[value=act]').checked = true");
    page.press("Allow");
    page.shows("is allowed on https://shop.test");
    let granted = world.json(&["grants", "list"])["entries"][0].clone();
    assert_eq!(
        (&granted["given_by"], &granted["agent"], &granted["capabilities"]),
        (&json!("the dashboard"), &json!(MARKUP), &json!(["read", "act"]))
    );
    page.shows("for <img");
    fill(&mut page, "https://example.com", "https://bad.test");
    page.press("Deny to every agent");
    page.shows("denied to every agent");
    // The grant holds for its agent only.
    fill(&mut page, "https://example.com/page", "https://shop.test/cart");
    scroll_and_press(&mut page, "Check");
    page.shows("act: ask");
    fill(&mut page, "any", MARKUP);
    scroll_and_press(&mut page, "Check");
    page.shows("act: allow, by");
    let cli = ["policy", "check", "https://shop.test", "click", "--policy", "guarded", "--agent", MARKUP];
    assert_eq!(world.json(&cli)["decision"], "allow");
    assert_eq!(page.run("document.querySelectorAll('img[src=x]').length + (window.pwned ?? 0)"), 0);
    page.save_screenshot("dashboard-policy-grants");
    std::fs::create_dir_all(world.home().join("config")).expect("a directory");
    std::fs::write(world.home().join("config/policy.toml"), "unlisted = \"ask\"\n\nrules = 7\n")
        .expect("written");
    page.shows("The policy file has a fault.");
    page.becomes("document.querySelector('.source .fault')?.innerText.includes('rules = 7') ?? false");
    page.shows("line 3:");
    page.save_screenshot("dashboard-policy-fault");
    assert_eq!(page.run("violations"), json!([]));
    let log = world.run(&["log", "--json", "--action", "policy_allow"]);
    assert!(log.text().contains("the dashboard"), "{log:?}");
}

#[test]
fn the_clients_view_lists_and_disconnects() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.open(&[&site.page("/plain")]);
    let browser = Chromium::with_port();
    let mut page = Dashboard::open(&browser, &dashboard_url(&world));
    page.shows("connected");
    page.show_view("clients");
    page.shows("No client is connected.");
    page.save_screenshot("dashboard-clients-empty");
    let mut client = CdpClient::connect(&format!("{}?client=driver", world.cdp_url()));
    client.call("Target.getTargets", json!({}), None);
    // In the list, not in the activity beside it.
    let list = |text: &str| format!("document.getElementById('view-body').innerText.includes('{text}')");
    page.becomes(&list("driver"));
    let mut mcp = McpClient::start(&world, &[]);
    page.becomes(&list("MCP"));
    page.save_screenshot("dashboard-clients");
    page.press("Disconnect");
    page.becomes("!document.getElementById('view-body').innerText.includes('driver')");
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    let is_closed = loop {
        match client.read_message(deadline) {
            Ok(Some(_)) => {}
            Ok(None) => break false,
            Err(_) => break true,
        }
    };
    assert!(is_closed, "its websocket is closed");
    let log = find_eventually(10, || {
        let log = world.run(&["log", "--json", "--action", "client_disconnect"]);
        log.text().contains("\"client\":\"driver\"").then_some(())
    });
    assert!(log.is_some(), "the disconnect has a row");
    // An MCP client's next message opens a new connection.
    page.press("Disconnect");
    page.shows("No client is connected.");
    assert!(mcp.ask("tools/list", json!({}))["result"]["tools"].is_array());
    page.shows("MCP");
    assert_eq!(page.run("violations"), json!([]));
    mcp.close();
}

#[test]
fn the_timeline_filters_replays_and_exports_a_trail() {
    let (world, site) = (World::new(), FixtureSite::start());
    // Pages that may not be read have no screenshot, and neither have sessions without a trail.
    let refused =
        world.run(&["open", "--session", "shut", "--policy", "guarded", "--trail", &site.page("/plain")]);
    assert_ne!(refused.code, 0);
    world.open(&["--session", "plain", &site.page("/plain")]);
    assert!(!world.home().join("state/trail").exists(), "no screenshot is kept by default");
    world.open(&["--session", "work", "--trail", &site.page("/plain")]);
    world.run(&["--session", "work", "eval", "document.body.style.background = 'teal'"]).succeeded();
    world.run(&["--session", "work", "snapshot"]).succeeded();
    let (home, image) = (world.home().to_string_lossy(), world.home().join(format!("{MARKUP}.png")));
    let shot = ["--session", "work", "--root", &home, "screenshot", "-o", &image.to_string_lossy()];
    world.run(&shot).succeeded();
    let screenshots = world.files("state/trail");
    assert!(
        screenshots.len() == 4 && screenshots.iter().all(|name| name.contains("_work_")),
        "{screenshots:?}"
    );
    let browser = Chromium::with_port();
    let mut page = Dashboard::open(&browser, &dashboard_url(&world));
    page.shows("connected");
    page.show_view("timeline");
    page.shows("snapshot");
    let choose = |label: &str, value: &str| {
        format!(
            "(() => {{ const one = document.querySelector('[aria-label={label}]'); one.value = {value:?}; \
             one.dispatchEvent(new Event('input')); }})()"
        )
    };
    page.becomes(
        "[...document.querySelectorAll('[aria-label=Session] option')].some(({value}) => value === 'work')",
    );
    page.run(&choose("Session", "work"));
    page.becomes("document.querySelectorAll('#view-body .entry').length === 4");
    page.run(&choose("Kind", "refused"));
    page.shows("No row fits the filters.");
    page.run(&choose("Kind", ""));
    page.becomes("document.querySelectorAll('#view-body .entry').length === 4");
    page.run("document.querySelector('#view-body .entry details').open = true");
    page.shows("Decision");
    page.shows(MARKUP);
    assert_eq!(page.run("document.querySelectorAll('img[src=x]').length + (window.pwned ?? 0)"), 0);
    page.save_screenshot("dashboard-timeline-details");
    page.press("Replay");
    page.becomes("document.querySelector('.replay-screenshot img')?.naturalWidth > 0");
    page.becomes("document.querySelectorAll('.strip img').length === 4");
    page.save_screenshot("dashboard-replay");
    press_key(&mut page, "ArrowRight");
    page.becomes("document.querySelector('.replay input').value === '1'");
    press_key(&mut page, "End");
    page.becomes("document.querySelector('.replay input').value === '3'");
    press_key(&mut page, "Escape");
    page.becomes("document.querySelector('.replay').hidden");
    let folder = world.home().join("exports");
    let allowed = json!({"behavior": "allow", "downloadPath": folder});
    page.client.call("Browser.setDownloadBehavior", allowed, None);
    page.press("Export");
    let exported = folder.join("tabwire-work.html");
    find_eventually(20, || exported.exists().then_some(())).expect("the export is saved");
    assert_eq!(page.run("violations"), json!([]));
    let file = world.home().join("work.html");
    let written = world.json(&["log", "export", "--session", "work", "--html", &file.to_string_lossy()]);
    assert_eq!((&written["rows"], &written["screenshots"]), (&json!(4), &json!(4)));
    check_export(&browser, &file.to_string_lossy());
}

/// The file opens without a network, has its style and screenshots, and no markup of clients.
fn check_export(browser: &Chromium, file: &str) {
    let mut page = Dashboard::open(browser, &format!("file://{file}"));
    page.shows("Session work");
    assert_eq!(page.run("getComputedStyle(document.querySelector('li')).borderRadius"), "10px", "its style");
    page.becomes(
        "[...document.images].length === 4 && [...document.images].every((one) => one.naturalWidth > 0)",
    );
    page.run("document.querySelectorAll('details').forEach((one) => (one.open = true))");
    page.shows(MARKUP);
    let found = page.run("document.querySelectorAll('script, img[src=x]').length + (window.pwned ?? 0)");
    assert_eq!(found, 0);
    assert_eq!(page.run("violations"), json!([]));
    page.save_screenshot("dashboard-export");
}

#[test]
fn files_recordings_and_health_are_shown() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.open(&[&site.page("/plain")]);
    world.run(&["screenshot"]).succeeded();
    world.run(&["record", "start", "--format", "webp"]).succeeded();
    world.run(&["eval", "document.body.style.background = 'teal'"]).succeeded();
    world.run(&["record", "stop"]).succeeded();
    let browser = Chromium::with_port();
    let mut page = Dashboard::open(&browser, &dashboard_url(&world));
    page.shows("connected");
    page.show_view("files");
    page.shows("page.png");
    page.shows("session default");
    page.press("Show");
    page.becomes("document.querySelector('.preview img')?.naturalWidth > 0");
    page.save_screenshot("dashboard-files");
    page.show_view("recordings");
    page.press("Play");
    page.becomes("document.querySelector('.preview img')?.naturalWidth > 0");
    page.save_screenshot("dashboard-recordings");
    page.show_view("health");
    page.shows("Memory of the daemon");
    scroll_and_press(&mut page, "Run the checks");
    page.shows("checks found");
    page.becomes("document.querySelectorAll('.finding').length > 3");
    page.save_screenshot("dashboard-health-doctor");
    assert_eq!(page.run("violations"), json!([]));
    assert_eq!(
        page.run("[...document.querySelectorAll('button')].every((one) => one.innerText || one.ariaLabel)"),
        Value::Bool(true)
    );
}
