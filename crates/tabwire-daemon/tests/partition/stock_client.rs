//! Stock Playwright and Puppeteer, each in a partition with a context of its own: they behave as in a separate browser.

use std::path::PathBuf;
use std::process::Stdio;

use serde_json::Value;
use tabwire_api::PartitionId;
use tabwire_cdp::limits::CLIENT_MESSAGE_CEILING;
use tabwire_cdp::{TaskGroup, websocket};
use tabwire_daemon::Hub;
use tabwire_mux::{ClientOptions, PartitionScope};
use tabwire_testkit::{Site, by_size};
use tokio::net::TcpListener;
use tokio::process::Command;
use tokio_websockets::ServerBuilder;

use crate::partition::kept_browser::KeptBrowser;
use crate::partition::partition_client::PartitionClient;

/// Operations of each client. All of them run in `clients::together` of the end-to-end tests.
fn operations() -> u64 {
    by_size(24, 100)
}

/// Serves CDP clients of one partition; returns the URL.
async fn serve_partition(hub: &Hub, partition: &str, tasks: &TaskGroup) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = format!("ws://{}", listener.local_addr().expect("a local address"));
    let (hub, partition, stopping) = (hub.clone(), PartitionId::new(partition), tasks.clone());
    tasks.start("listener", async move {
        loop {
            let stream = tokio::select! {
                accepted = listener.accept() => accepted.expect("a connection").0,
                () = stopping.stopping() => return,
            };
            let stream: Box<dyn websocket::ByteStream> = Box::new(stream);
            let (_, socket) = ServerBuilder::new()
                .config(websocket::stream_config())
                .limits(websocket::stream_limits(CLIENT_MESSAGE_CEILING))
                .accept(stream)
                .await
                .expect("a handshake");
            let (source, sink) = websocket::split(socket);
            let options = ClientOptions { partition: Some(partition.clone()), ..ClientOptions::default() };
            hub.join(source, sink, options).await.expect("joined");
        }
    });
    address
}

/// Runs one of the client suites; every operation must pass, and it must see no foreign target.
async fn passes(program: &str, endpoint: &str, site: &Site) {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/clients");
    assert!(
        directory.join("node_modules").is_dir(),
        "tests/clients/node_modules is missing: run `cargo xtask setup`"
    );
    let output = Command::new("node")
        .current_dir(&directory)
        .arg(program)
        .args(["--endpoint", endpoint, "--site-port", &site.port().to_string()])
        .args(["--operations", &operations().to_string(), "--seed", "7"])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .kill_on_drop(true)
        .output()
        .await
        .expect("node is there: `cargo xtask setup` says what is needed");
    let text = String::from_utf8_lossy(&output.stdout);
    let score: Value = serde_json::from_str(text.lines().last().unwrap_or_default()).unwrap_or_default();
    assert_eq!(score["failures"], Value::Array(Vec::new()), "{program}: {score:#}");
    assert!(score["passed"].as_u64() >= Some(operations()), "{program}: {text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn stock_clients_work_in_partitions() {
    let (browser, site, tasks) =
        (KeptBrowser::start(), Site::start().await.expect("a site"), TaskGroup::new());
    let hub = browser.serve(&tasks).await;
    let mut urls = Vec::new();
    for partition in ["playwright", "puppeteer"] {
        let context = hub.make_context(None).await.expect("a hub").expect("a context");
        hub.reserve(PartitionId::new(partition), PartitionScope::Context(context)).await.expect("reserved");
        hub.open_tab("about:blank", Some(PartitionId::new(partition))).await.expect("a hub").expect("a tab");
        urls.push(serve_partition(&hub, partition, &tasks).await);
    }
    tokio::join!(
        passes("playwright/suite.mjs", &urls[0], &site),
        passes("puppeteer/suite.mjs", &urls[1], &site),
    );
    // What they did stayed in their partitions.
    let outsider = PartitionClient::join(&hub, None, &tasks).await;
    assert!(outsider.cookies().await.is_empty());
    let facts = hub.facts().await.expect("facts");
    assert_eq!(facts.counters.responses_misrouted, 0, "{facts:?}");
    hub.detach().await;
}
