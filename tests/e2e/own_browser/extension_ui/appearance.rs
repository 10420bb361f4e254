//! How the views look: screenshots of every state in both colour schemes, contrast, names for screen readers, no
//! violation of the content security policy.

use serde_json::Value;

use crate::mcp::client::McpClient;
use crate::own_browser::driving::{await_connected, own_browser};
use crate::own_browser::extension_ui::states::{open_tabs, unpaired_browser};
use crate::support::chromium::Chromium;
use crate::support::extension_pages::ExtensionView;
use crate::support::fixture_site::FixtureSite;
use crate::support::http_server::{Response, TinyServer};
use crate::support::page_checks::FAULTS;
use crate::support::world::World;

/// Checks a view in both schemes and saves its screenshots.
pub(crate) fn check(view: &mut ExtensionView, name: &str, is_whole: bool) {
    view.evaluate("(window.violations ??= (addEventListener('securitypolicyviolation', (event) => window.violations.push(event.violatedDirective)), []), 0)");
    for scheme in ["light", "dark"] {
        view.use_scheme(scheme);
        let faults = view.evaluate(FAULTS);
        assert_eq!(faults, Value::Array(Vec::new()), "{name} in the {scheme} scheme");
    }
    view.save_screenshots(name, is_whole);
}

fn popup(browser: &Chromium, shows: &str) -> ExtensionView {
    let mut view = ExtensionView::popup(browser);
    view.shows(shows);
    view
}

/// A site with titles that a user could have open.
fn shop() -> TinyServer {
    TinyServer::start("127.0.0.1:0", |request| {
        let (title, colour) = match request.host.split('.').next() {
            Some("mail") => ("Inbox (12) — Mail", "%232360b5"),
            Some("forge") => ("Issues · finch/shop", "%23333"),
            _ => ("Your basket — Alder & Finch", "%2324523d"),
        };
        let icon = format!(
            "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='32' height='32' viewBox='0 0 16 16'>\
             <rect width='16' height='16' rx='4' fill='{colour}'/><circle cx='8' cy='8' r='3' fill='white'/></svg>"
        );
        Response::page(format!(
            "<!doctype html><title>{title}</title><link rel=icon href=\"{icon}\"><h1>{title}</h1>"
        ))
    })
}

#[test]
fn every_state_of_the_popup_is_readable_in_both_schemes() {
    let (world, shop) = (World::new(), shop());
    let browser = own_browser(&world);
    await_connected(&world);
    let url = |host: &str| shop.url(&format!("{host}.localhost"), "/");
    open_tabs(&browser, &[&url("mail"), &url("forge"), &url("shop")]);
    let mut view = popup(&browser, "Your basket");
    check(&mut view, "popup-rest", false);
    view.press("Other tabs in this window");
    view.shows("Inbox (12)");
    check(&mut view, "popup-other-tabs", false);
    view.press("Other tabs in this window");
    view.press("Share this tab");
    view.shows("Agents ask you before they read or use it.");
    check(&mut view, "popup-shared", false);

    let mut claude = McpClient::start_as(&world, "claude-code", &["--upstream", "extension"]);
    let call = |host: &str| serde_json::json!({"name": "navigate", "arguments": {"url": url(host)}});
    let first = claude.begin("tools/call", call("shop"));
    view.shows("Claude Code wants to");
    view.becomes(
        "its buttons are enabled",
        "[...document.querySelectorAll('.answers button')].every((one) => !one.disabled)",
    );
    check(&mut view, "popup-question", false);
    view.press("Always for Claude Code");
    claude.response(first);
    view.becomes("its tab is in use", "document.querySelector('#tabs .tag.agent') !== null");
    let mut codex = McpClient::start_as(&world, "codex-mcp-client", &["--upstream", "extension"]);
    let second = claude.begin("tools/call", call("pay"));
    let third = codex.begin("tools/call", call("mail"));
    view.shows("2 questions");
    view.becomes(
        "its buttons are enabled",
        "[...document.querySelectorAll('.answers button')].every((one) => !one.disabled)",
    );
    check(&mut view, "popup-two-questions", false);
    view.press("No");
    view.shows("1 question");
    view.press("No");
    claude.response(second);
    codex.response(third);
    view.becomes(
        "the refusals are counted",
        "Number(document.querySelector('#refusal-count').textContent) >= 1",
    );
    check(&mut view, "popup-in-use", false);
    view.press("Sites granted");
    view.press("Recently refused");
    view.shows("Refused by the policy");
    view.evaluate("document.querySelector('main').scrollTo(0, 10_000)");
    check(&mut view, "popup-lists", false);
    view.evaluate("document.querySelector('main').scrollTo(0, 0)");

    for width in [1280, 400] {
        let mut options = ExtensionView::options(&browser);
        options.use_width(width);
        options.shows("Connected to Tabwire");
        options.shows("Claude Code");
        check(&mut options, &format!("options-{width}"), true);
    }
    view = popup(&browser, "Your basket");
    view.press("Pause everything");
    view.shows("Everything is paused.");
    check(&mut view, "popup-paused", false);
    view.press("Resume");
    view.shows_no_more("Everything is paused.");
    claude.close();
    codex.close();
}

#[test]
fn a_browser_without_tabwire_is_readable_in_both_schemes() {
    let (world, site) = (World::new(), FixtureSite::start());
    let browser = own_browser(&world);
    await_connected(&world);
    open_tabs(&browser, &[&site.page("/plain")]);
    world.run(&["daemon", "stop"]).succeeded();
    let mut view = popup(&browser, "Tabwire is not running.");
    check(&mut view, "popup-not-running", false);
    let mut options = ExtensionView::options(&browser);
    options.use_width(1280);
    options.shows("Tabwire is not running.");
    check(&mut options, "options-not-running", true);
}

#[test]
fn a_browser_that_is_not_paired_is_readable_in_both_schemes() {
    let world = World::new();
    let browser = unpaired_browser(&world);
    let mut view = popup(&browser, "This browser is not paired.");
    check(&mut view, "popup-not-paired", false);
    let mut options = ExtensionView::options(&browser);
    options.use_width(400);
    options.shows("This browser is not paired.");
    check(&mut options, "options-not-paired-400", true);
}
