//! Two partitions with contexts and two with tabs, in one browser and over a change of daemons.

use std::collections::BTreeSet;
use std::time::Instant;

use serde_json::json;
use tabwire_api::{PartitionId, TargetId};
use tabwire_cdp::TaskGroup;
use tabwire_daemon::Hub;
use tabwire_mux::PartitionScope;
use tabwire_testkit::Site;

use crate::partition::kept_browser::{KeptBrowser, TIMEOUT};
use crate::partition::partition_client::{PartitionClient, evaluate, send};

const PARTITIONS: [&str; 4] = ["first", "second", "third", "fourth"];

/// Whether a partition has a context of its own.
fn has_context(partition: &str) -> bool {
    matches!(partition, "first" | "second")
}

/// Makes contexts for the first two partitions; the others have tabs in the default one.
async fn new_scopes(hub: &Hub) -> Vec<PartitionScope> {
    let mut scopes = Vec::new();
    for partition in PARTITIONS {
        scopes.push(if has_context(partition) {
            PartitionScope::Context(hub.make_context(None).await.expect("a hub").expect("a context"))
        } else {
            PartitionScope::Tabs(Vec::new())
        });
    }
    scopes
}

async fn reserve_all(hub: &Hub, scopes: &[PartitionScope]) {
    for (partition, place) in PARTITIONS.iter().zip(scopes) {
        hub.reserve(PartitionId::new(partition), place.clone()).await.expect("reserved");
    }
}

async fn join_all(hub: &Hub, tasks: &TaskGroup) -> Vec<PartitionClient> {
    let mut clients = Vec::new();
    for partition in PARTITIONS {
        clients.push(PartitionClient::join(hub, Some(partition), tasks).await);
    }
    clients
}

#[tokio::test(flavor = "multi_thread")]
async fn partitions_are_isolated_and_survive_the_daemon() {
    let (browser, site, tasks) =
        (KeptBrowser::start(), Site::start().await.expect("a site"), TaskGroup::new());
    let hub = browser.serve(&tasks).await;
    let mut scopes = new_scopes(&hub).await;
    reserve_all(&hub, &scopes).await;
    assert_eq!(hub.facts().await.expect("facts").partitions, 4);
    let clients = join_all(&hub, &tasks).await;
    let pages = open_everywhere(&hub, &clients, &site).await;
    cookies_stay(&clients, &pages).await;
    popups_follow(&clients, &pages).await;
    foreign_ids_are_refused(&clients, &pages, &scopes).await;

    // The daemon ends, and another one takes over the browser.
    let before = all_pages(&clients).await;
    hub.detach().await;
    for (at, place) in scopes.iter_mut().enumerate() {
        if let PartitionScope::Tabs(tabs) = place {
            // One tab is left out of the list, and its opener is in it.
            tabs.extend(pages[at].iter().take(2).map(|page| TargetId::new(page)));
        }
    }
    let hub = browser.serve(&tasks).await;
    reserve_all(&hub, &scopes).await;
    let clients = join_all(&hub, &tasks).await;
    assert_eq!(all_pages(&clients).await, before, "the same tabs");
    for client in &clients {
        let until = Instant::now() + TIMEOUT;
        while client.tabs().await != 3 {
            assert!(Instant::now() < until, "its tab targets: {}", client.tabs().await);
        }
    }
    cookies_stay(&clients, &pages).await;
    ending_one_leaves_the_others(&hub, &clients, &before, &tasks).await;
    hub.detach().await;
}

async fn all_pages(clients: &[PartitionClient]) -> Vec<BTreeSet<String>> {
    let mut all = Vec::new();
    for client in clients {
        all.push(client.sees_pages(3).await);
    }
    all
}

/// Each partition gets a page of its client and an unowned page, and sees only these two.
async fn open_everywhere(hub: &Hub, clients: &[PartitionClient], site: &Site) -> Vec<Vec<String>> {
    let mut pages = Vec::new();
    for (partition, client) in PARTITIONS.iter().zip(clients) {
        let own = client.open(&site.url("a", "/plain")).await;
        let partition = Some(PartitionId::new(partition));
        let unowned = hub.open_tab("about:blank", partition).await.expect("a hub").expect("a tab");
        pages.push(vec![own, unowned.as_str().to_owned()]);
    }
    for (client, own) in clients.iter().zip(&pages) {
        assert_eq!(client.sees_pages(2).await, own.iter().cloned().collect::<BTreeSet<_>>());
    }
    pages
}

/// Partitions with a context have their own cookies; partitions of tabs share the cookies of the default context.
async fn cookies_stay(clients: &[PartitionClient], pages: &[Vec<String>]) {
    for ((client, own), partition) in clients.iter().zip(pages).zip(PARTITIONS) {
        let page = client.attach(&own[0]).await;
        let until = Instant::now() + TIMEOUT;
        while evaluate(&page, "location.protocol === 'http:' && document.readyState === 'complete'").await
            != true
        {
            assert!(Instant::now() < until, "the page did not load");
        }
        evaluate(&page, &format!("document.cookie = '{partition}=1'")).await;
    }
    let expected = [&["first=1"][..], &["second=1"], &["fourth=1", "third=1"], &["fourth=1", "third=1"]];
    for (client, expected) in clients.iter().zip(expected) {
        assert_eq!(client.cookies().await, expected.iter().map(|cookie| (*cookie).to_owned()).collect());
    }
}

/// Only the partition of its opener sees a popup.
async fn popups_follow(clients: &[PartitionClient], pages: &[Vec<String>]) {
    for (client, own) in clients.iter().zip(pages) {
        let page = client.attach(&own[0]).await;
        assert_eq!(evaluate(&page, "window.open('about:blank') !== null").await, true);
        client.sees_pages(3).await;
    }
    for client in clients {
        client.sees_pages(3).await;
    }
}

async fn foreign_ids_are_refused(
    clients: &[PartitionClient],
    pages: &[Vec<String>],
    scopes: &[PartitionScope],
) {
    for (at, client) in clients.iter().enumerate() {
        for (other, own) in pages.iter().enumerate().filter(|(other, _)| *other != at) {
            for method in ["Target.getTargetInfo", "Target.closeTarget", "Target.activateTarget"] {
                let refused = client.send(method, json!({"targetId": own[0]})).await;
                assert!(
                    refused.is_err(),
                    "{} may {method} in {}: {refused:?}",
                    PARTITIONS[at],
                    PARTITIONS[other]
                );
            }
        }
        let contexts = client.send("Target.getBrowserContexts", json!({})).await.expect("a list");
        assert_eq!(contexts["browserContextIds"], json!([]), "{contexts}");
        for (other, place) in scopes.iter().enumerate() {
            if let PartitionScope::Context(context) = place {
                let named = client.send("Storage.getCookies", json!({"browserContextId": context})).await;
                assert_eq!(named.is_ok(), at == other, "{} in {}", PARTITIONS[at], PARTITIONS[other]);
            }
        }
    }
}

/// Neither the end of a partition nor `Browser.close` of a client affects another partition.
async fn ending_one_leaves_the_others(
    hub: &Hub,
    clients: &[PartitionClient],
    before: &[BTreeSet<String>],
    tasks: &TaskGroup,
) {
    let closing = PartitionClient::join(hub, Some("first"), tasks).await;
    let own = closing.open("about:blank").await;
    let page = closing.attach(&own).await;
    assert_eq!(send(&page, "Browser.close", json!({})).await, Ok(json!({})));
    clients[0].sees_pages(3).await;
    for partition in ["second", "third"] {
        hub.end_partition(PartitionId::new(partition), Vec::new()).await.expect("ended");
    }
    assert_eq!(clients[0].pages().await, before[0]);
    assert_eq!(clients[3].pages().await, before[3]);
    let outsider = PartitionClient::join(hub, None, tasks).await;
    let left = outsider.pages().await;
    assert!(before.iter().all(|pages| pages.is_disjoint(&left)), "{left:?}");
    assert!(!outsider.cookies().await.contains("second=1"));
    assert_eq!(hub.facts().await.expect("facts").partitions, 2);
    outsider.close();
}
