//! Several sessions in one browser: a partition does not see another partition's targets.

use serde_json::{Value, json};
use tabwire_api::{BrowserContextId, PartitionId, TargetId};
use tabwire_mux::{PartitionScope, Share};

use crate::support::fake_browser::DEFAULT_CONTEXT;
use crate::support::stage::Stage;

/// The tab around a page.
fn tab_of(stage: &Stage, page: &str) -> String {
    stage.browser.targets[page].tab.clone().unwrap()
}

/// A page and its tab, as a client that sees all its own targets receives them.
fn with_tabs(stage: &Stage, pages: &[&String]) -> Vec<String> {
    let mut all: Vec<String> = pages.iter().flat_map(|page| [(*page).clone(), tab_of(stage, page)]).collect();
    all.sort();
    all
}

/// Without the targets of the browser's own UI.
fn pages_and_tabs(stage: &mut Stage, client: u64) -> Vec<String> {
    let surface = |stage: &Stage, id: &str| {
        let inside = |target: &crate::support::fake_page::FakeTarget| target.tab.as_deref() == Some(id);
        stage.browser.targets[id].kind == "browser_ui"
            || stage.browser.targets.values().any(|target| target.kind == "browser_ui" && inside(target))
    };
    let mut shown = stage.shown(client);
    shown.retain(|id| !surface(stage, id));
    shown.sort();
    shown
}

#[test]
fn partitions_see_only_their_own_targets_even_with_share_all() {
    let mut stage = Stage::new();
    let context = stage.reserve_context("a");
    stage.reserve_context("b");
    stage.reserve_tabs("c", &[]);
    stage.reserve_tabs("d", &[]);
    let mut pages = Vec::new();
    for (client, partition) in (1..).zip(["a", "b", "c", "d"]) {
        stage.join_in(client, partition, Share::SessionTabs);
        stage.discover(client);
        pages.push(stage.create(client));
    }
    assert_eq!(stage.browser.targets[&pages[0]].context, context);
    assert_eq!(stage.browser.targets[&pages[2]].context, DEFAULT_CONTEXT);
    for (client, partition) in (5..).zip(["a", "b", "c", "d"]) {
        stage.join_in(client, partition, Share::All);
        let own = &pages[usize::try_from(client).unwrap() - 5];
        assert_eq!(pages_and_tabs(&mut stage, client), with_tabs(&stage, &[own]), "{partition}");
        let listed = stage.ask(client, "", "Target.getTargets", json!({}));
        assert_eq!(listed["targetInfos"].as_array().unwrap().len(), 1, "{listed}");
    }
    stage.join_with(9, Share::All, tabwire_mux::OnLoss::Close);
    assert_eq!(pages_and_tabs(&mut stage, 9), ["T-001.", "T-002."]);
    stage.take_heard();
    for (client, other) in [(5, &pages[1]), (6, &pages[2]), (7, &pages[3]), (8, &pages[0]), (9, &pages[2])] {
        let named = json!({"targetId": other, "flatten": true});
        let response = stage.ask(client, "", "Target.attachToTarget", named);
        assert_eq!(response["code"], -32602, "{response}");
    }
    assert!(stage.take_heard().is_empty(), "nothing of it reached the browser");
    assert_eq!(stage.mux.partitions(), 4);
}

#[test]
fn partition_keeps_released_targets_and_popups() {
    let mut stage = Stage::new();
    stage.reserve_tabs("c", &[]);
    stage.join_in(1, "c", Share::SessionTabs);
    let page = stage.create(1);
    stage.leave(1);
    // Its opener's owner has left already.
    let popup = stage.browser.open("page", DEFAULT_CONTEXT, Some(&page), None);
    stage.flow();
    for (client, partition) in [(2, None), (3, Some("c")), (4, Some("d"))] {
        match partition {
            Some(partition) => stage.join_in(client, partition, Share::SessionTabs),
            None => stage.join_with(client, Share::Released, tabwire_mux::OnLoss::Close),
        }
    }
    assert_eq!(pages_and_tabs(&mut stage, 2), ["T-001.", "T-002."]);
    assert_eq!(pages_and_tabs(&mut stage, 3), with_tabs(&stage, &[&page, &popup]));
    assert!(pages_and_tabs(&mut stage, 4).is_empty());
}

#[test]
fn unowned_tab_is_visible_in_its_partition_only() {
    let mut stage = Stage::new();
    let context = stage.reserve_context("a");
    stage.reserve_tabs("c", &[]);
    for (client, partition) in [(1, "a"), (2, "a"), (3, "c")] {
        stage.join_in(client, partition, Share::SessionTabs);
    }
    stage.join(4);
    let (first, second) = (stage.open_tab(Some("a")), stage.open_tab(Some("c")));
    assert_eq!(stage.browser.targets[&first].context, context);
    for (client, own) in [(1, &first), (2, &first), (3, &second)] {
        assert_eq!(pages_and_tabs(&mut stage, client), with_tabs(&stage, &[own]));
        assert!(!stage.is_held(own));
    }
    assert_eq!(pages_and_tabs(&mut stage, 4), ["T-001.", "T-002."]);
}

#[test]
fn partition_context_replaces_the_default_one() {
    let mut stage = Stage::new();
    let (home, other) = (stage.reserve_context("a"), stage.reserve_context("b"));
    stage.join_in(1, "a", Share::SessionTabs);
    let page = stage.create(1);
    let session = stage.attach(1, &page);
    let context_of = |response: &Value| response["echo"]["browserContextId"].clone();
    for method in tabwire_mux::COMMANDS_IN_A_CONTEXT.iter().filter(|method| **method != "Target.createTarget")
    {
        let response = stage.ask(1, "", method, json!({"x": 1.5}));
        assert_eq!((context_of(&response), &response["echo"]["x"]), (json!(home), &json!(1.5)), "{method}");
        let named = stage.ask(1, "", method, json!({"browserContextId": home}));
        assert_eq!(context_of(&named), json!(home), "{method}");
        let foreign = stage.ask(1, "", method, json!({"browserContextId": other}));
        assert_eq!(foreign["code"], -32602, "{method}: {foreign}");
        // On a page, storage commands mean the page's context.
        let asked = context_of(&stage.ask(1, &session, method, json!({})));
        assert_eq!(asked.is_null(), method.starts_with("Storage."), "{method} on a page");
    }
    stage.send_raw(1, r#"{"id":3,"method":"Storage.getCookies"}"#);
    stage.flow();
    assert_eq!(context_of(&stage.take_frames(1).pop().unwrap()["result"]), json!(home));
    for method in ["Storage.clearDataForOrigin", "Fetch.enable"] {
        let refused = stage.ask(1, "", method, json!({"origin": "*"}));
        assert_eq!(refused["data"], "POLICY_DENIED", "{method} affects more than the partition");
        assert!(stage.ask(1, &session, method, json!({}))["echo"].is_object(), "{method} on a page");
    }
    let extra = stage.ask_for(1, "Target.createBrowserContext", json!({}), "browserContextId");
    let listed = stage.ask(1, "", "Target.getBrowserContexts", json!({}));
    assert_eq!(listed, json!({"browserContextIds": [extra], "defaultBrowserContextId": home}));
    stage.join_in(2, "b", Share::All);
    let listed = stage.ask(2, "", "Target.getBrowserContexts", json!({}));
    assert_eq!(listed, json!({"browserContextIds": [], "defaultBrowserContextId": other}));
    stage.join_with(3, Share::All, tabwire_mux::OnLoss::Close);
    let listed = stage.ask(3, "", "Target.getBrowserContexts", json!({}));
    assert_eq!(listed, json!({"browserContextIds": [], "defaultBrowserContextId": DEFAULT_CONTEXT}));
    for (client, context) in [(1, DEFAULT_CONTEXT), (2, &home), (3, &home), (3, &extra), (2, &extra)] {
        let params = json!({"url": "", "browserContextId": context});
        let response = stage.ask(client, "", "Target.createTarget", params);
        assert_eq!(response["code"], -32602, "{client} in {context}: {response}");
    }
}

#[test]
fn contexts_stay_in_the_partition_when_their_client_leaves() {
    let mut stage = Stage::new();
    stage.reserve_context("a");
    stage.join_in(1, "a", Share::SessionTabs);
    let made = stage.ask_for(1, "Target.createBrowserContext", json!({}), "browserContextId");
    let inside =
        stage.ask_for(1, "Target.createTarget", json!({"url": "", "browserContextId": made}), "targetId");
    stage.leave(1);
    stage.join_in(2, "a", Share::SessionTabs);
    stage.join(3);
    let contexts = |stage: &mut Stage, client| stage.ask(client, "", "Target.getBrowserContexts", json!({}));
    assert_eq!(contexts(&mut stage, 2)["browserContextIds"], json!([made]));
    assert_eq!(contexts(&mut stage, 3)["browserContextIds"], json!([]));
    assert_eq!(pages_and_tabs(&mut stage, 2), with_tabs(&stage, &[&inside]));
    assert_eq!(
        stage.ask(2, "", "Target.disposeBrowserContext", json!({"browserContextId": made})),
        json!({})
    );
    assert!(!stage.browser.contexts.contains_key(&made));
}

#[test]
fn browser_close_in_a_partition_closes_the_clients_own_targets() {
    let mut stage = Stage::new();
    let home = stage.reserve_context("a");
    stage.join_in(1, "a", Share::SessionTabs);
    stage.join_in(2, "a", Share::SessionTabs);
    let (mine, other) = (stage.create(1), stage.create(2));
    let dispose = json!({"browserContextId": home});
    assert_eq!(stage.ask(1, "", "Target.disposeBrowserContext", dispose), json!({}));
    assert!(!stage.browser.targets.contains_key(&mine) && stage.browser.targets.contains_key(&other));
    let again = stage.create(1);
    assert_eq!(stage.ask(1, "", "Browser.close", json!({})), json!({}));
    assert_eq!(
        stage.take_notices(),
        ["close 1: closed by Browser.close; the browser keeps running for its other clients"]
    );
    assert!(!stage.browser.targets.contains_key(&again) && stage.browser.targets.contains_key(&other));
    assert!(stage.browser.contexts.contains_key(&home));
    assert_eq!(stage.ask(2, "", "Fake.echo", json!({}))["echo"]["tag"], "c2-");
}

#[test]
fn later_daemon_finds_the_tabs_of_every_partition() {
    let mut stage = Stage::new();
    let home = stage.reserve_context("a");
    for (client, partition) in [(1, "a"), (2, "c"), (3, "d")] {
        stage.join_in(client, partition, Share::SessionTabs);
    }
    let pages = [stage.create(1), stage.create(2), stage.create(3)];
    // Left by a client of `a`; its owner is no longer known.
    let extra = stage.ask_for(1, "Target.createBrowserContext", json!({}), "browserContextId");
    stage.ask(1, "", "Target.createTarget", json!({"url": "", "browserContextId": extra}));
    // Opened while no daemon was running.
    let popup = stage.browser.open("page", DEFAULT_CONTEXT, Some(&pages[1]), None);
    stage.take_over(|mux, now| {
        mux.reserve(PartitionId::new("a"), PartitionScope::Context(BrowserContextId::new(&home)), now);
        mux.reserve(PartitionId::new("c"), PartitionScope::Tabs(vec![TargetId::new(&pages[1])]), now);
        mux.reserve(PartitionId::new("d"), PartitionScope::Tabs(vec![TargetId::new(&pages[2])]), now);
    });
    for (client, partition) in [(11, "a"), (12, "c"), (13, "d")] {
        stage.join_in(client, partition, Share::All);
    }
    stage.join_with(14, Share::All, tabwire_mux::OnLoss::Close);
    assert_eq!(pages_and_tabs(&mut stage, 11), with_tabs(&stage, &[&pages[0]]));
    assert_eq!(pages_and_tabs(&mut stage, 12), with_tabs(&stage, &[&pages[1], &popup]));
    assert_eq!(pages_and_tabs(&mut stage, 13), with_tabs(&stage, &[&pages[2]]));
    assert_eq!(pages_and_tabs(&mut stage, 14), ["T-001.", "T-002."]);
    let listed = stage.ask(14, "", "Target.getBrowserContexts", json!({}));
    assert_eq!(listed["browserContextIds"], json!([]));
    // Auto-attach reaches the page through its tab, as Puppeteer requests it.
    let through = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true,
        "filter": [{"type": "page", "exclude": true}, {}]});
    stage.take_inbox(12);
    stage.ask(12, "", "Target.setAutoAttach", through);
    let tab = tab_of(&stage, &pages[1]);
    assert!(stage.take_inbox(12).contains(&format!("attachedToTarget tab {tab}")));
}

#[test]
fn ending_a_partition_ends_its_pages_contexts_and_clients() {
    let mut stage = Stage::new();
    let home = stage.reserve_context("a");
    for (client, partition) in [(1, "a"), (2, "c"), (3, "d")] {
        stage.join_in(client, partition, Share::SessionTabs);
    }
    let pages = [stage.create(1), stage.create(2), stage.create(3)];
    let extra = stage.ask_for(2, "Target.createBrowserContext", json!({}), "browserContextId");
    let here = |stage: &Stage, id: &String| stage.browser.targets.contains_key(id);
    for (ticket, partition, client) in [(7, "a", 1), (8, "c", 2)] {
        stage.mux.end_partition(ticket, &PartitionId::new(partition), Vec::new(), stage.now);
        stage.flow();
        let ended = "BROWSER_GONE: the session ended and its pages were closed";
        assert_eq!(stage.take_notices(), [format!("close {client}: {ended}"), format!("{ticket}: ended")]);
        stage.leave(client);
    }
    assert!(!here(&stage, &pages[0]) && !here(&stage, &pages[1]) && here(&stage, &pages[2]));
    assert!(!stage.browser.contexts.contains_key(&home) && !stage.browser.contexts.contains_key(&extra));
    assert!(here(&stage, &"T-002.".to_owned()));
    assert_eq!(stage.mux.partitions(), 1);
    // An unknown partition counts as ended, and so does every partition when the browser is gone.
    stage.mux.end_partition(9, &PartitionId::new("a"), Vec::new(), stage.now);
    stage.settle();
    assert_eq!(stage.take_notices(), ["9: ended"]);
    stage.mux.end_partition(10, &PartitionId::new("d"), Vec::new(), stage.now);
    stage.mux.browser_lost(stage.now);
    stage.settle();
    assert!(stage.take_notices().contains(&"10: ended".to_owned()));
}

#[test]
fn ending_a_partition_is_bounded_by_its_deadline() {
    let mut stage = Stage::new();
    stage.join_in(1, "c", Share::SessionTabs);
    stage.create(1);
    stage.mux.end_partition(7, &PartitionId::new("c"), Vec::new(), stage.now);
    stage.settle();
    stage.take_notices();
    stage.now += tabwire_mux::limits::PARTITION_END_DEADLINE;
    stage.mux.tick(stage.now);
    stage.settle();
    assert_eq!(stage.take_notices(), ["7: ended"]);
}

#[test]
fn mux_context_is_hidden_until_it_is_reserved() {
    let mut stage = Stage::new();
    stage.join_with(1, Share::All, tabwire_mux::OnLoss::Close);
    stage.ask(1, "", "Target.setDiscoverTargets", json!({"discover": true, "filter": [{}]}));
    stage.take_inbox(1);
    let context = stage.reserve_context("a");
    let page = stage.open_tab(Some("a"));
    assert!(stage.take_inbox(1).is_empty(), "a page {page} in {context}");
    assert_eq!(stage.ask(1, "", "Target.getBrowserContexts", json!({}))["browserContextIds"], json!([]));
}

#[test]
fn targets_moved_into_a_partition_are_destroyed_for_others() {
    let mut stage = Stage::new();
    stage.join(1);
    stage.discover(1);
    stage.take_inbox(1);
    stage.reserve_tabs("c", &["T-002."]);
    assert_eq!(stage.take_inbox(1), ["targetDestroyed T-002."]);
    stage.join_in(2, "c", Share::SessionTabs);
    assert_eq!(pages_and_tabs(&mut stage, 2), ["T-001.", "T-002."]);
}

#[test]
fn b1_partitions_see_the_users_tabs_and_no_others() {
    let mut stage = Stage::new();
    stage.mux.show_user_tabs();
    for (client, partition) in [(1, "c"), (2, "d")] {
        stage.join_in(client, partition, Share::UserTabs);
    }
    let own = stage.create(1);
    let users = ["T-001.".to_owned(), "T-002.".to_owned()];
    let mut expected = with_tabs(&stage, &[&own]);
    expected.extend(users.clone());
    expected.sort();
    assert_eq!(pages_and_tabs(&mut stage, 1), expected);
    assert_eq!(pages_and_tabs(&mut stage, 2), users);
    let listed = stage.ask(1, "", "Target.getTargets", json!({}));
    for info in listed["targetInfos"].as_array().unwrap() {
        assert_eq!(info["tabwireUserTab"] == true, info["targetId"] != own.as_str(), "{info}");
    }
    let named = json!({"targetId": own, "flatten": true});
    assert_eq!(stage.ask(2, "", "Target.attachToTarget", named)["code"], -32602);
}

#[test]
fn b1_a_kept_tab_of_an_ended_partition_is_the_users() {
    let mut stage = Stage::new();
    stage.mux.show_user_tabs();
    for (client, partition) in [(1, "c"), (2, "d")] {
        stage.join_in(client, partition, Share::Released);
    }
    let (kept, closed) = (stage.create(1), stage.create(1));
    stage.mux.end_partition(7, &PartitionId::new("c"), vec![TargetId::new(&kept)], stage.now);
    stage.flow();
    stage.leave(1);
    assert!(stage.take_notices().contains(&"7: ended".to_owned()));
    assert!(stage.browser.targets.contains_key(&kept) && !stage.browser.targets.contains_key(&closed));
    let mut expected = with_tabs(&stage, &[&kept]);
    expected.extend(["T-001.".to_owned(), "T-002.".to_owned()]);
    expected.sort();
    assert_eq!(pages_and_tabs(&mut stage, 2), expected);
}
