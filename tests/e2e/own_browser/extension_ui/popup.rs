//! The popup with a real pointer: what it shows, and the user's decisions.

use std::process::Child;

use serde_json::{Value, json};

use crate::own_browser::driving::{await_connected, connected, own_browser};
use crate::support::cdp_client::CdpClient;
use crate::support::chromium::Chromium;
use crate::support::extension_pages::{ExtensionView, ExtensionWorker};
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::{eventually, find_eventually};
use crate::support::world::{Outcome, World, wait};

const OWN: [&str; 2] = ["--upstream", "extension"];

fn pending(world: &World) -> Vec<Value> {
    world.json(&["approvals"])["pending"].as_array().cloned().expect("a list")
}

fn grants(world: &World) -> Vec<Value> {
    world.json(&["grants", "list"])["entries"].as_array().cloned().expect("a list")
}

fn origin_of(url: &str) -> String {
    url.splitn(4, '/').take(3).collect::<Vec<_>>().join("/")
}

fn ended(child: Child) -> Outcome {
    wait(child, &["a command that was asked about"])
}

#[test]
fn t15_approvals_work_in_the_popup_and_the_first_answer_wins() {
    let site = FixtureSite::start();
    let world = World::new();
    let browser = own_browser(&world);
    await_connected(&world);
    let (url, origin) = (site.page("/plain"), origin_of(&site.page("/plain")));
    let mut popup = ExtensionView::popup(&browser);
    let mut worker = ExtensionWorker::of(&browser);

    // The popup shows client, action and site; the badge and the terminal show the same request.
    let opening = world.start(&["--json", "open", OWN[0], OWN[1], &url]);
    popup.shows("wants to see and open pages of");
    assert!(popup.text().contains(&origin) && popup.text().contains("open in session default"));
    assert_eq!(pending(&world)[0]["site"], origin.as_str());
    eventually("the badge is updated", 10, || worker.badge() == "1?");
    // A scripted click does not count (T15): it would be the first answer and leave a grant.
    popup.evaluate("[...document.querySelectorAll('.answers button')].at(4).click()");
    popup.press("Once");
    ended(opening).succeeded();
    popup.shows(&format!("{origin}: allowed once."));
    assert_eq!((pending(&world), grants(&world)), (vec![], vec![]));
    eventually("the badge is updated", 10, || worker.badge() != "1?");

    // A denial is applied, and listed as a refusal.
    let running = world.start(&["--json", "eval", "1"]);
    popup.shows("wants to run code in pages of");
    popup.press("No");
    assert_eq!(ended(running).failure(), ("POLICY_DENIED".to_owned(), 3));
    popup.shows_no_more("wants to run code in pages of");
    popup.becomes("one refusal is counted", "document.querySelector('#refusal-count').textContent === '1'");
    popup.press("Recently refused");
    popup.shows("Refused by the policy: ");

    // Allowed for the session, and revoked again.
    let reading = world.start(&["--json", "snapshot"]);
    popup.press("This session");
    ended(reading).succeeded();
    assert_eq!(grants(&world)[0]["site"], origin.as_str());
    world.run(&["snapshot"]).succeeded();
    popup.press("Sites granted");
    popup.press("Revoke");
    eventually("the grant is gone", 10, || grants(&world).is_empty());
    popup.shows("Nothing is granted.");

    // Answered in a terminal: the popup no longer shows it.
    let reading = world.start(&["--json", "snapshot"]);
    popup.shows("1 question");
    let asked = pending(&world)[0]["id"].as_str().expect("an id").to_owned();
    world.run(&["approvals", "answer", &asked, "no", "--without-terminal"]).succeeded();
    assert_eq!(ended(reading).failure().0, "POLICY_DENIED");
    popup.shows_no_more("question");
    let output = world.run(&["log", "--json"]).succeeded().stdout;
    assert!(
        output.contains("the extension in Chromium"),
        "the audit log names where it was answered: {output}"
    );
    world.run(&["close"]).succeeded();
}

/// The URLs of the tabs that the session sees.
fn tabs(world: &World) -> Vec<String> {
    listed(&world.json(&["tabs"]))
}

fn listed(response: &Value) -> Vec<String> {
    let tabs = response["result"]["tabs"].as_array().expect("a list");
    tabs.iter().map(|tab| tab["url"].as_str().unwrap_or_default().to_owned()).collect()
}

/// Opens a tab as the user, in front of the others.
fn open_as_user(browser: &Chromium, url: &str) {
    let mut client = CdpClient::connect(&browser.websocket());
    client.call("Target.createTarget", json!({"url": url}), None);
}

#[test]
fn the_user_shares_a_tab_stops_sharing_it_and_pauses_everything() {
    let site = FixtureSite::start();
    let world = World::new();
    let browser = own_browser(&world);
    await_connected(&world);
    let (own, users) = (site.page("/plain"), site.page("/form"));
    world.open(&[OWN[0], OWN[1], "--policy", "open", &own]);
    open_as_user(&browser, &users);
    assert_eq!(tabs(&world), [own.as_str()], "the user's own tab is not listed");

    let mut popup = ExtensionView::popup(&browser);
    popup.shows("Not shared: agents cannot see it.");
    popup.press("Share this tab");
    popup.shows("Shared. Tabwire can read and use it without asking.");
    eventually("the tab is shared", 10, || tabs(&world).contains(&users));
    // The popup shows which client uses which tab.
    popup.becomes("its client", "document.querySelector('#tabs .tag.agent')?.textContent === 'Tabwire'");
    popup.press("Stop sharing this tab");
    eventually("the tab is not shared any more", 10, || tabs(&world) == [own.as_str()]);

    popup.press("Pause everything");
    popup.shows("Everything is paused.");
    let paused = world.run(&["--json", "eval", "1"]);
    assert_ne!(paused.code, 0, "{paused:?}");
    eventually("the pause is reported", 20, || connected(&world)[0]["standing"]["paused"] == true);
    check_resume(&world, &mut popup, &own);
    eventually("code runs again", 20, || world.run(&["eval", "1 + 1"]).stdout.trim() == "2");

    check_groups(&world, &browser, (&own, &users));
    check_sites(&world, &browser, &site);
    world.run(&["close"]).succeeded();
}

/// A session without a tab gets an empty one. A session whose browser was paused keeps its tabs.
fn check_resume(world: &World, popup: &mut ExtensionView, own: &str) {
    for round in 0..5 {
        if round > 0 {
            popup.press("Pause everything");
            popup.shows("Everything is paused.");
        }
        popup.press("Resume");
        let back = find_eventually(20, || {
            let asked = world.run(&["--json", "tabs"]);
            if asked.code != 0 {
                assert_eq!(asked.failure().0, "POLICY_DENIED", "{asked:?}");
                return None;
            }
            // None yet, if the request came before the pause was reported.
            Some(listed(&asked.json())).filter(|tabs| !tabs.is_empty())
        });
        assert_eq!(back.as_deref(), Some(&[own.to_owned()][..]), "in round {round}");
        popup.shows_no_more("Everything is paused.");
    }
}

/// The agent's tab is in a group with its name. A tab dragged into it is shared, one dragged out is not.
fn check_groups(world: &World, browser: &Chromium, (own, users): (&str, &str)) {
    let mut worker = ExtensionWorker::of(browser);
    let group = "chrome.tabGroups.query({title: 'Tabwire'}).then(([group]) => group?.id ?? null)";
    let id = find_eventually(10, || worker.evaluate(group).as_i64()).expect("a group with the agent's name");
    let of_group = format!("chrome.tabs.query({{groupId: {id}}}).then((tabs) => tabs.map((tab) => tab.url))");
    assert_eq!(worker.evaluate(&of_group), json!([own]));
    let tab = format!("chrome.tabs.query({{url: {users:?}}}).then(([tab]) => tab.id)");
    let tab = worker.evaluate(&tab).as_i64().expect("the user's tab");
    worker.evaluate(&format!("chrome.tabs.group({{tabIds: {tab}, groupId: {id}}})"));
    eventually("a tab in the group is shared", 10, || tabs(world).contains(&users.to_owned()));
    worker.evaluate(&format!("chrome.tabs.ungroup({tab})"));
    eventually("a tab out of the group is not", 10, || tabs(world) == [own.to_owned()]);
}

/// The browser itself refuses a blocked site, whatever the daemon sends.
fn check_sites(world: &World, browser: &Chromium, site: &FixtureSite) {
    let elsewhere = site.url("b", "/plain");
    let host = elsewhere.split(['/', ':']).nth(3).expect("a host").to_owned();
    let mut options = ExtensionView::options(browser);
    options.shows("Connected to Tabwire");
    options.shows("does not run in private windows");
    options.type_into("#blocked", &host);
    options.press("Save blocked sites");
    options.shows("Saved 1.");
    let refused = world.run(&["--json", "open", &elsewhere]);
    assert_ne!(refused.code, 0, "{refused:?}");
    assert!(refused.stdout.contains("blocks this site"), "{refused:?}");
    options.shows("Page.navigate");
    options.shows("Refused by this browser: The user blocks this site");
    // A page that navigates there by itself is detached.
    let own = tabs(world);
    world.run(&["eval", &format!("void (location.href = {elsewhere:?})")]).succeeded();
    // A session without a tab opens an empty one when it lists its tabs.
    let there = |url: &String| tabs(world).contains(url);
    eventually("the tab is not shown any more", 10, || !there(&own[0]) && !there(&elsewhere));
    options.evaluate("document.querySelector('#blocked').value = ''");
    options.press("Save blocked sites");
    options.shows_no_more("Saved 1.");
    eventually("the tab is shown again", 20, || there(&elsewhere));
}
