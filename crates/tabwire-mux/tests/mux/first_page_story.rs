//! The first page of each client, what clients see besides it, and connections that count as one client.

use serde_json::{Value, json};
use tabwire_api::{ClientId, TargetId};
use tabwire_mux::{ClientOptions, FirstPage, Identity, Share};

use crate::support::stage::Stage;

fn with_first_page(share: Share) -> ClientOptions {
    ClientOptions { share, first_page: FirstPage::Opens, ..ClientOptions::default() }
}

fn of(identity: Identity) -> ClientOptions {
    ClientOptions { identity, ..with_first_page(Share::Own) }
}

/// The pages that a client lists, in order.
fn pages(stage: &mut Stage, client: u64) -> Vec<String> {
    let listed = stage.ask(client, "", "Target.getTargets", json!({}));
    let infos = listed["targetInfos"].as_array().unwrap();
    let pages = infos.iter().filter(|info| info["type"] == "page");
    pages.map(|info| info["targetId"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn p1_each_client_finds_one_page_of_its_own_however_it_looks() {
    let mut stage = Stage::new();
    for client in 1..=3 {
        stage.join_as(client, with_first_page(Share::Own));
    }
    let [first] = pages(&mut stage, 1).try_into().unwrap();
    stage.auto_attach(2);
    let attached = stage.take_inbox(2);
    assert_eq!(attached.len(), 1, "{attached:?}");
    let [second] = pages(&mut stage, 2).try_into().unwrap();
    assert_eq!(attached[0], format!("attachedToTarget page {second}"));
    stage.discover(3);
    let [third] = pages(&mut stage, 3).try_into().unwrap();
    assert_eq!(stage.take_inbox(3), [format!("targetCreated page {third}")]);
    let all = [first.as_str(), &second, &third, "T-002."];
    let distinct: std::collections::BTreeSet<&str> = all.into_iter().collect();
    assert_eq!(distinct.len(), 4, "{all:?}");
    for client in 1..=3 {
        assert_eq!(pages(&mut stage, client).len(), 1, "client {client} gets no second page");
    }
    assert!(stage.ask(1, "", "Target.attachToTarget", json!({"targetId": second}))["code"].is_number());
}

#[test]
fn p1_commands_behind_the_first_look_keep_their_order() {
    let mut stage = Stage::new();
    stage.join_as(1, with_first_page(Share::Own));
    stage.send(1, "", 7, "Target.getTargets", json!({}));
    stage.send(1, "", 8, "Fake.echo", json!({}));
    assert!(stage.take_inbox(1).is_empty());
    stage.flow();
    assert_eq!(stage.take_inbox(1), ["7 ok", "8 ok"]);
}

#[test]
fn p1_unused_first_page_goes_with_its_client_and_a_used_one_stays() {
    let mut stage = Stage::new();
    for client in 1..=3 {
        stage.join_as(client, with_first_page(Share::Own));
    }
    let [idle] = pages(&mut stage, 1).try_into().unwrap();
    let [used] = pages(&mut stage, 2).try_into().unwrap();
    for (client, page) in [(1, &idle), (2, &used)] {
        let session = stage.attach(client, page);
        stage.ask(client, &session, "Page.enable", json!({}));
        if client == 2 {
            stage.ask(client, &session, "Runtime.evaluate", json!({"expression": "document.write('x')"}));
        }
        stage.leave(client);
    }
    assert!(!stage.browser.targets.contains_key(&idle), "unused");
    assert!(stage.browser.targets.contains_key(&used), "used");
    // A client that leaves while its page is being opened.
    stage.send(3, "", 7, "Target.getTargets", json!({}));
    let before = stage.browser.targets.len();
    stage.leave(3);
    stage.flow();
    assert_eq!(stage.browser.targets.len(), before - 2, "the page and its tab are closed");
    assert_eq!(stage.mux.resource_counts(), Default::default());
}

#[test]
fn p1_own_first_page_comes_before_the_users_tabs() {
    let mut stage = Stage::new();
    let session_tab = stage.open_tab(None);
    stage.join_as(1, with_first_page(Share::UserTabs));
    let listed = pages(&mut stage, 1);
    assert_eq!(listed.len(), 2, "{listed:?}");
    assert_eq!(listed[1], "T-002.", "the user's tab is second");
    assert!(!listed.contains(&session_tab), "the session's tab is not shown");
    stage.auto_attach(1);
    let attached: Vec<String> = listed.iter().map(|page| format!("attachedToTarget page {page}")).collect();
    assert_eq!(stage.take_inbox(1), attached);
}

#[test]
fn p1_joined_client_sees_the_sessions_tabs_with_the_current_one_first() {
    let mut stage = Stage::new();
    let engine = Identity { is_engine: true, ..Identity::default() };
    stage.join_as(1, ClientOptions { share: Share::Released, identity: engine, ..ClientOptions::default() });
    let own = stage.create(1);
    let current = stage.open_tab(None);
    stage.join_as(2, with_first_page(Share::Own));
    let [strange] = pages(&mut stage, 2).try_into().unwrap();
    let first_page = FirstPage::Is(TargetId::new(&current));
    stage.join_as(3, ClientOptions { share: Share::SessionTabs, first_page, ..ClientOptions::default() });
    let listed = pages(&mut stage, 3);
    assert_eq!(listed, [current.as_str(), "T-002.", &own]);
    assert!(!listed.contains(&strange), "another client's page is not shown");
}

#[test]
fn p1_first_page_of_a_listing_becomes_that_of_the_next_connection() {
    let mut stage = Stage::new();
    let process = Some(41);
    stage.join_as(1, of(Identity { process, is_discovery: true, ..Identity::default() }));
    let [listed] = pages(&mut stage, 1).try_into().unwrap();
    stage.join_as(2, of(Identity { process, ..Identity::default() }));
    assert_eq!(pages(&mut stage, 2), [listed.as_str()]);
    stage.join_as(3, of(Identity { process: Some(42), ..Identity::default() }));
    assert_ne!(pages(&mut stage, 3), [listed.as_str()], "another process has its own");
    assert_eq!(pages(&mut stage, 1), [listed.as_str()], "the listing shows the page still");
    stage.leave(1);
    assert_eq!(pages(&mut stage, 2), [listed.as_str()]);
    stage.leave(2);
    assert!(!stage.browser.targets.contains_key(&listed));
}

#[test]
fn p6_connections_of_one_process_may_name_each_others_pages_only() {
    let mut stage = Stage::new();
    for (client, process) in [(1, 41), (2, 41), (3, 42)] {
        stage.join_as(client, of(Identity { process: Some(process), ..Identity::default() }));
    }
    let page = stage.create(1);
    let context = stage.ask_for(1, "Target.createBrowserContext", json!({}), "browserContextId");
    let inside = json!({"url": "", "browserContextId": context});
    assert!(!pages(&mut stage, 2).contains(&page), "each connection has its own list");
    let session = stage.attach(2, &page);
    assert_eq!(stage.ask(2, &session, "Fake.echo", json!({}))["echo"]["tag"], "c2-");
    assert!(stage.ask(2, "", "Target.createTarget", inside.clone())["targetId"].is_string());
    let attach = json!({"targetId": page, "flatten": true});
    assert_eq!(stage.ask(3, "", "Target.attachToTarget", attach)["code"], -32602);
    assert!(stage.ask(3, "", "Target.createTarget", inside)["code"].is_number());
}

#[test]
fn b17_connections_with_one_view_share_pages_until_the_last_has_left() {
    let mut stage = Stage::new();
    let shim = |name: &str| ClientOptions {
        share: Share::Released,
        identity: Identity { view: Some(name.into()), ..Identity::default() },
        ..ClientOptions::default()
    };
    stage.join_as(1, shim("one"));
    let page = stage.create(1);
    stage.join_as(2, shim("one"));
    stage.join_as(3, shim("two"));
    stage.auto_attach(2);
    let seen = stage.take_inbox(2);
    assert!(seen.contains(&format!("attachedToTarget page {page}")), "{seen:?}");
    assert!(!pages(&mut stage, 3).contains(&page), "another shim's page");
    stage.leave(1);
    assert!(pages(&mut stage, 2).contains(&page) && !pages(&mut stage, 3).contains(&page));
    assert_eq!(stage.mux.resource_counts().targets, 2, "page and tab belong to the other connection");
    stage.ask(2, "", "Browser.close", json!({}));
    assert!(stage.mux.has_closed_browser(ClientId(2)) && !stage.mux.has_closed_browser(ClientId(3)));
    assert!(!stage.browser.targets.contains_key(&page));
}

#[test]
fn p10_discovery_has_current_titles_and_reports_attaching() {
    let mut stage = Stage::new();
    stage.join(1);
    // A change that the browser does not report.
    stage.browser.targets.get_mut("T-002.").unwrap().title = "New".to_owned();
    stage.discover(1);
    let title = |frames: &[Value]| frames[0]["params"]["targetInfo"]["title"].clone();
    assert_eq!(title(&stage.take_frames(1)), "New");
    stage.browser.targets.get_mut("T-002.").unwrap().title = "Newer".to_owned();
    let session = stage.attach(1, "T-002.");
    let frames = stage.take_frames(1);
    let info = &frames[0]["params"]["targetInfo"];
    assert_eq!((&frames[0]["method"], &info["attached"]), (&json!("Target.targetInfoChanged"), &json!(true)));
    assert_eq!((title(&frames), &frames[1]["method"]), (json!("Newer"), &json!("Target.attachedToTarget")));
    let again = stage.attach(1, "T-002.");
    assert_eq!(stage.take_inbox(1), ["attachedToTarget page T-002."], "nothing has changed");
    stage.ask(1, "", "Target.detachFromTarget", json!({"sessionId": again}));
    assert_eq!(stage.take_inbox(1), ["detachedFromTarget T-002."]);
    stage.ask(1, "", "Target.detachFromTarget", json!({"sessionId": session}));
    let frames = stage.take_frames(1);
    assert_eq!(frames[1]["params"]["targetInfo"]["attached"], false, "{frames:?}");
}

#[test]
fn p5_pages_of_a_client_with_windows_get_one_each() {
    let mut stage = Stage::new();
    stage.join_as(1, ClientOptions { opens_windows: true, ..with_first_page(Share::Own) });
    pages(&mut stage, 1);
    stage.ask(1, "", "Target.createTarget", json!({"url": "", "newWindow": false}));
    let created = stage.browser.heard.iter().filter(|(_, heard)| heard.method == "Target.createTarget");
    let windows: Vec<&Value> = created.map(|(_, heard)| &heard.params["newWindow"]).collect();
    assert_eq!(windows, [true, true]);
    stage.ask(1, "", "Target.createTarget", json!({"url": "", "hidden": true}));
    let hidden = &stage.browser.heard.last().unwrap().1.params;
    assert!(hidden["newWindow"].is_null(), "a hidden target is in no window: {hidden}");
    stage.join(2);
    stage.create(2);
    let last = &stage.browser.heard.last().unwrap().1.params;
    assert!(last["newWindow"].is_null(), "other clients' commands are not changed");
}
