//! The connection and the debugger of the user's own browser: a silent browser, Cancel on the debugger bar, stuck frames,
//! other debuggers, paused targets, and dialogs with two responses.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::own_browser::connection::restarts::hostile_extension;
use crate::own_browser::driving::{await_connected, connected, install_into};
use crate::own_browser::tabs::{connected_browser, number};
use crate::support::cdp_client::CdpClient;
use crate::support::chromium::Chromium;
use crate::support::debugger_bar::{REACHABLE, press_cancel};
use crate::support::extension_pages::{ExtensionView, ExtensionWorker};
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::eventually;
use crate::support::world::{World, wait};

const OPEN: [&str; 4] = ["--upstream", "extension", "--policy", "open"];

/// Time limit for detecting a silent connection.
const SILENCE: Duration = Duration::from_secs(15);

#[test]
fn f03_a_silent_browser_is_detected_within_15_s_and_reconnects() {
    let (world, site) = (World::new(), FixtureSite::start());
    let browser = connected_browser(&world);
    let tab = world.open(&[&OPEN[..], &[&site.page("/plain")]].concat());
    world.eval("window.kept = 42");
    // Its sockets stay open, but are not read.
    browser.pause();
    let began = Instant::now();
    let asked = world.run(&["--json", "eval", "1"]);
    let (code, took) = (asked.failure().0, began.elapsed());
    browser.resume();
    assert!(["OUTCOME_UNKNOWN", "EXTENSION_DISCONNECTED"].contains(&code.as_str()), "{asked:?}");
    assert!(took < SILENCE, "{took:?}");
    eventually("it is there again", 40, || world.run(&["eval", "1"]).code == 0);
    assert_eq!(world.eval("window.kept"), "42", "the page was not loaded again");
    assert_eq!(world.json(&["tabs"])["result"]["tabs"][0]["tab"], tab.as_str());
    world.run(&["close"]).succeeded();
}

#[test]
fn f07_cancel_on_the_debugger_bar_withdraws_every_tab_for_good() {
    let (world, site) = (World::new(), FixtureSite::start());
    let browser = Chromium::with_extensions_and(|profile| install_into(&world, profile), &[], &REACHABLE);
    await_connected(&world);
    // A tab of the user is in front: the browser's first tab has another bar, about the missing sandbox.
    let mut user = CdpClient::connect(&browser.websocket());
    user.call("Target.createTarget", json!({"url": site.page("/article")}), None);
    let first = world.open(&[&OPEN[..], &[&site.page("/plain?first")]].concat());
    let second = world.json(&["tab-new", &site.page("/plain?second")])["result"]["tab"].clone();
    let second = second.as_str().expect("a tab").to_owned();
    for tab in [&first, &second] {
        world.run(&["eval", "1", "--tab", tab]).succeeded();
    }
    assert_eq!(number(&world, "attached"), 2);
    let before = site.request_count("/plain");
    let running = world.start(&[
        "--json",
        "eval",
        &format!("fetch({:?}).then(() => new Promise(() => {{}}))", site.page("/plain?under-way")),
    ]);
    eventually("the script runs", 20, || site.request_count("/plain") > before);
    press_cancel(&browser);
    let cut = wait(running, &["eval"]);
    assert!(["DETACHED", "TARGET_GONE"].contains(&cut.failure().0.as_str()), "{cut:?}");

    // Cancel applies to all tabs: all are detached and unshared, and nothing attaches again.
    eventually("all are detached", 10, || number(&world, "attached") == 0);
    let attaches = number(&world, "attaches");
    for arguments in [
        &["--json", "eval", "1"][..],
        &["--json", "open", &site.page("/plain?again")],
        &["--json", "tab-new", &site.page("/plain?new")],
    ] {
        let refused = world.run(arguments);
        assert_eq!(refused.failure(), ("POLICY_DENIED".to_owned(), 3), "{arguments:?}: {refused:?}");
        assert!(refused.stdout.contains("pressed Cancel"), "{arguments:?}: {refused:?}");
    }
    for tab in [&first, &second] {
        assert_ne!(world.run(&["--json", "eval", "1", "--tab", tab]).code, 0);
    }
    assert_eq!((number(&world, "attaches"), number(&world, "attached")), (attaches, 0), "no retry");
    assert_eq!(connected(&world)[0]["standing"]["paused"], true);
    check_after_cancel(&world, &browser, &site);
    world.run(&["close"]).succeeded();
}

/// The popup shows the reason; only the user can resume, and withdrawn tabs stay withdrawn.
fn check_after_cancel(world: &World, browser: &Chromium, site: &FixtureSite) {
    let mut popup = ExtensionView::popup(browser);
    popup.shows("You pressed Cancel on the browser's bar");
    popup.press("Resume");
    popup.shows_no_more("You pressed Cancel");
    let shown = world.json(&["tabs"])["result"]["tabs"].to_string();
    assert!(!shown.contains("first") && !shown.contains("second"), "{shown}");
    world.run(&["open", &site.page("/form")]).succeeded();
    assert_eq!(world.eval("document.title"), "Form");
}

#[test]
fn f08_f09_stuck_frames_and_other_debuggers_do_not_end_a_session() {
    let (world, site) = (World::new(), FixtureSite::start());
    let stranger = hostile_extension(&world);
    let browser = Chromium::with_extensions(|profile| install_into(&world, profile), &[stranger]);
    await_connected(&world);
    let page = site.page("/plain");
    let tab = world.open(&[&OPEN[..], &[&page]].concat());
    world.eval("window.kept = 42");

    // F08: Chrome detaches the debugger for a frame with an unknown scheme; the extension attaches again,
    // once.
    let attaches = number(&world, "attaches");
    let frame = "const frame = document.createElement('iframe'); frame.src = 'tabwire-unknown:scheme'; document.body.append(frame); 1";
    world.run(&["eval", frame]);
    eventually("it was attached to again", 20, || number(&world, "attaches") == attaches + 1);
    eventually("work continues", 20, || world.run(&["eval", "1", "--tab", &tab]).code == 0);
    assert_eq!(world.run(&["eval", "window.kept", "--tab", &tab]).succeeded().text(), "42");
    assert_eq!(number(&world, "attaches"), attaches + 1, "once");

    // F09: DevTools on the same tab, opened after us, and another extension's debugger: all work at once.
    let mut user = CdpClient::connect(&browser.websocket());
    let targets = user.call("Target.getTargets", json!({}), None);
    let shown = |one: &&Value| one["url"] == page.as_str() && one["type"] == "page";
    let target = targets["targetInfos"].as_array().and_then(|all| all.iter().find(shown)).expect("the tab");
    let opened = user.call("Target.openDevTools", json!({"targetId": target["targetId"]}), None);
    assert!(opened["targetId"].is_string(), "{opened}");
    let mut other = ExtensionWorker::other_in(&browser);
    let attach = format!(
        "chrome.tabs.query({{url: {page:?}}}).then(([tab]) => chrome.debugger.attach({{tabId: tab.id}}, '1.3')\
         .then(() => chrome.debugger.sendCommand({{tabId: tab.id}}, 'Runtime.evaluate', {{expression: '6 * 7'}})))\
         .then((said) => said.result.value, String)"
    );
    assert_eq!(other.evaluate(&attach), 42);
    assert_eq!(world.run(&["eval", "window.kept", "--tab", &tab]).succeeded().text(), "42");
    // Debuggers that attached first do not block the session.
    world.run(&["close"]).succeeded();
    let again = "chrome.tabs.create({url: 'about:blank', active: false})\
        .then((tab) => chrome.debugger.attach({tabId: tab.id}, '1.3')).then(() => 'attached', String)";
    assert_eq!(other.evaluate(again), "attached");
    world.open(&[&OPEN[..], &[&page]].concat());
    assert_eq!(world.eval("1 + 1"), "2");
    world.run(&["close"]).succeeded();
}

#[test]
fn f11_f12_targets_resume_and_the_first_dialog_response_wins() {
    let (world, site) = (World::new(), FixtureSite::start());
    let _browser = connected_browser(&world);
    world.open(&[&OPEN[..], &[&site.page("/plain")]].concat());
    let mut client = CdpClient::connect(&world.cdp_url());
    let page = client.open_page("about:blank").session;
    client.call("Page.enable", json!({}), Some(&page));

    // F11: the client pauses every new target below its page, filters all of them out, and resumes none.
    let filter = json!([{"type": "worker", "exclude": true}, {"type": "iframe", "exclude": true}, {}]);
    for filter in [filter, json!([{}])] {
        let hold =
            json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true, "filter": filter});
        client.call("Target.setAutoAttach", hold, Some(&page));
        let is_reported = filter == json!([{}]);
        for (path, kind, done) in [
            ("/worker/dedicated", "worker", "document.getElementById('answer')?.textContent === '42'"),
            ("/frames", "iframe", "document.readyState === 'complete'"),
        ] {
            client.send("Page.navigate", json!({"url": site.page(path)}), Some(&page));
            if is_reported {
                let is_it = |event: &Value| event["params"]["targetInfo"]["type"] == kind;
                let held = client.event("Target.attachedToTarget", is_it);
                assert_eq!(held["params"]["waitingForDebugger"], true, "{held}");
                let below = held["params"]["sessionId"].as_str().expect("a session").to_owned();
                client.send("Runtime.runIfWaitingForDebugger", json!({}), Some(&below));
            }
            let there = format!("location.pathname === '{path}' && {done}");
            eventually(path, 20, || client.evaluate(&there, &page) == true);
        }
    }

    // F12: both clients get the dialog event; one responds, and the other's response fails.
    let tab = world.json(&["tabs"])["result"]["tabs"][0].clone();
    let mut second = CdpClient::connect(&format!("{}?share=all", world.cdp_url()));
    let targets = second.call("Target.getTargets", json!({}), None);
    let shown =
        targets["targetInfos"].as_array().expect("a list").iter().find(|one| one["url"] == tab["url"]);
    let other = second.attach(shown.expect("the tab")["targetId"].as_str().expect("an id"));
    second.call("Page.enable", json!({}), Some(&other));
    let opening = "setTimeout(() => { window.said = confirm('sure?'); }, 0); new Promise(() => {})";
    let blocked = world.run(&["--json", "eval", opening]);
    assert_eq!(blocked.failure().0, "DIALOG_OPEN", "{blocked:?}");
    assert!(blocked.stdout.contains("sure?"), "{blocked:?}");
    second.event("Page.javascriptDialogOpening", |event| event["params"]["message"] == "sure?");
    second.call("Page.handleJavaScriptDialog", json!({"accept": true}), Some(&other));
    let late = world.run(&["--json", "dialog", "dismiss"]);
    assert!(late.code == 0 || late.failure().0 == "NOT_ACTIONABLE", "{late:?}");
    let again = second.ask("Page.handleJavaScriptDialog", json!({"accept": false}), Some(&other));
    assert!(again.get("error").is_some(), "there is none: {again}");
    assert_eq!(world.eval("window.said"), "true", "the first answer counts");
    drop((client, second));
    world.run(&["close"]).succeeded();
}
