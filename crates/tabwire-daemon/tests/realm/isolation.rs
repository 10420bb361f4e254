//! Two partitions with contexts and two with tabs, in one browser and over a change of daemons.

use std::collections::BTreeSet;
use std::time::Instant;

use serde_json::json;
use tabwire_api::{PartitionId, TargetId};
use tabwire_cdp::TaskGroup;
use tabwire_daemon::Hub;
use tabwire_mux::PartitionScope;
use tabwire_testkit::Site;

use crate::realm::kept_browser::{KeptBrowser, TIMEOUT};
use crate::realm::realm_client::{RealmClient, ask, evaluate};

const PARTITIONS: [&str; 4] = ["first", "second", "third", "fourth"];

/// Whether a partition has a context of its own.
fn has_context(partition: &str) -> bool {
    matches!(partition, "first" | "second")
}

/// Makes contexts for the first two partitions; the others have tabs in the default one.
async fn new_places(hub: &Hub) -> Vec<PartitionScope> {
    let mut places = Vec::new();
    for partition in PARTITIONS {
        places.push(if has_context(partition) {
            PartitionScope::Context(hub.make_context(None).await.expect("a hub").expect("a context"))
        } else {
            PartitionScope::Tabs(Vec::new())
        });
    }
    places
}

async fn reserve_all(hub: &Hub, places: &[PartitionScope]) {
    for (partition, place) in PARTITIONS.iter().zip(places) {
        hub.reserve(PartitionId::new(partition), place.clone()).await.expect("reserved");
    }
}

async fn join_all(hub: &Hub, tasks: &TaskGroup) -> Vec<RealmClient> {
    let mut clients = Vec::new();
    for partition in PARTITIONS {
        clients.push(RealmClient::join(hub, Some(partition), tasks).await);
    }
    clients
}

#[tokio::test(flavor = "multi_thread")]
async fn partitions_share_a_browser_unseen_by_each_other_and_outlive_their_daemon() {
    let (browser, site, tasks) =
        (KeptBrowser::start(), Site::start().await.expect("a site"), TaskGroup::new());
    let hub = browser.serve(&tasks).await;
    let mut places = new_places(&hub).await;
    reserve_all(&hub, &places).await;
    assert_eq!(hub.facts().await.expect("facts").partitions, 4);
    let clients = join_all(&hub, &tasks).await;
    let pages = open_everywhere(&hub, &clients, &site).await;
    cookies_stay(&clients, &pages).await;
    popups_follow(&clients, &pages).await;
    foreign_things_cannot_be_named(&clients, &pages, &places).await;

    // The daemon goes, and another takes the browser over.
    let before = all_pages(&clients).await;
    hub.detach().await;
    for (at, place) in places.iter_mut().enumerate() {
        if let PartitionScope::Tabs(tabs) = place {
            // One tab is not in the list: its opener is.
            tabs.extend(pages[at].iter().take(2).map(|page| TargetId::new(page)));
        }
    }
    let hub = browser.serve(&tasks).await;
    reserve_all(&hub, &places).await;
    let clients = join_all(&hub, &tasks).await;
    assert_eq!(all_pages(&clients).await, before, "the same tabs");
    for client in &clients {
        let until = Instant::now() + TIMEOUT;
        while client.tabs().await != 3 {
            assert!(Instant::now() < until, "its tab targets: {}", client.tabs().await);
        }
    }
    cookies_stay(&clients, &pages).await;
    ends_leave_the_others_alone(&hub, &clients, &before, &tasks).await;
    hub.detach().await;
}

async fn all_pages(clients: &[RealmClient]) -> Vec<BTreeSet<String>> {
    let mut all = Vec::new();
    for client in clients {
        all.push(client.sees_pages(3).await);
    }
    all
}

/// Every partition gets a page of its client's and one of nobody's, and sees these two.
async fn open_everywhere(hub: &Hub, clients: &[RealmClient], site: &Site) -> Vec<Vec<String>> {
    let mut pages = Vec::new();
    for (partition, client) in PARTITIONS.iter().zip(clients) {
        let own = client.open(&site.url("a", "/plain")).await;
        let partition = Some(PartitionId::new(partition));
        let nobodys = hub.open_tab("about:blank", partition).await.expect("a hub").expect("a tab");
        pages.push(vec![own, nobodys.as_str().to_owned()]);
    }
    for (client, own) in clients.iter().zip(&pages) {
        assert_eq!(client.sees_pages(2).await, own.iter().cloned().collect::<BTreeSet<_>>());
    }
    pages
}

/// A cookie set in a page is its context's; the partitions of tabs share theirs.
async fn cookies_stay(clients: &[RealmClient], pages: &[Vec<String>]) {
    for ((client, own), partition) in clients.iter().zip(pages).zip(PARTITIONS) {
        let page = client.attach(&own[0]).await;
        let until = Instant::now() + TIMEOUT;
        while evaluate(&page, "location.protocol === 'http:' && document.readyState === 'complete'").await
            != true
        {
            assert!(Instant::now() < until, "the page never came");
        }
        evaluate(&page, &format!("document.cookie = '{partition}=1'")).await;
    }
    let expected = [&["first=1"][..], &["second=1"], &["fourth=1", "third=1"], &["fourth=1", "third=1"]];
    for (client, expected) in clients.iter().zip(expected) {
        assert_eq!(client.cookies().await, expected.iter().map(|cookie| (*cookie).to_owned()).collect());
    }
}

/// A page opens another, which its partition alone sees.
async fn popups_follow(clients: &[RealmClient], pages: &[Vec<String>]) {
    for (client, own) in clients.iter().zip(pages) {
        let page = client.attach(&own[0]).await;
        assert_eq!(evaluate(&page, "window.open('about:blank') !== null").await, true);
        client.sees_pages(3).await;
    }
    for client in clients {
        client.sees_pages(3).await;
    }
}

async fn foreign_things_cannot_be_named(
    clients: &[RealmClient],
    pages: &[Vec<String>],
    places: &[PartitionScope],
) {
    for (at, client) in clients.iter().enumerate() {
        for (other, own) in pages.iter().enumerate().filter(|(other, _)| *other != at) {
            for method in ["Target.getTargetInfo", "Target.closeTarget", "Target.activateTarget"] {
                let refused = client.ask(method, json!({"targetId": own[0]})).await;
                assert!(
                    refused.is_err(),
                    "{} may {method} in {}: {refused:?}",
                    PARTITIONS[at],
                    PARTITIONS[other]
                );
            }
        }
        let contexts = client.ask("Target.getBrowserContexts", json!({})).await.expect("a list");
        assert_eq!(contexts["browserContextIds"], json!([]), "{contexts}");
        for (other, place) in places.iter().enumerate() {
            if let PartitionScope::Context(context) = place {
                let named = client.ask("Storage.getCookies", json!({"browserContextId": context})).await;
                assert_eq!(named.is_ok(), at == other, "{} in {}", PARTITIONS[at], PARTITIONS[other]);
            }
        }
    }
}

/// Ending a partition, or a client that closes the browser, leaves every other as it is.
async fn ends_leave_the_others_alone(
    hub: &Hub,
    clients: &[RealmClient],
    before: &[BTreeSet<String>],
    tasks: &TaskGroup,
) {
    let closing = RealmClient::join(hub, Some("first"), tasks).await;
    let own = closing.open("about:blank").await;
    let page = closing.attach(&own).await;
    assert_eq!(ask(&page, "Browser.close", json!({})).await, Ok(json!({})));
    clients[0].sees_pages(3).await;
    for partition in ["second", "third"] {
        hub.end_partition(PartitionId::new(partition)).await.expect("ended");
    }
    assert_eq!(clients[0].pages().await, before[0]);
    assert_eq!(clients[3].pages().await, before[3]);
    let outsider = RealmClient::join(hub, None, tasks).await;
    let left = outsider.pages().await;
    assert!(before.iter().all(|pages| pages.is_disjoint(&left)), "{left:?}");
    assert!(!outsider.cookies().await.contains("second=1"));
    assert_eq!(hub.facts().await.expect("facts").partitions, 2);
    outsider.close();
}
