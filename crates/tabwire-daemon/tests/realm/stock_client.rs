//! Stock Playwright and Puppeteer, each in a realm with a context of its own: as on a browser of their own.

use std::path::PathBuf;
use std::process::Stdio;

use serde_json::Value;
use tabwire_cdp::limits::CLIENT_MESSAGE_CEILING;
use tabwire_cdp::{TaskGroup, websocket};
use tabwire_daemon::Hub;
use tabwire_mux::{ClientOptions, RealmPlace};
use tabwire_testkit::Site;
use tabwire_wire::RealmId;
use tokio::net::TcpListener;
use tokio::process::Command;
use tokio_websockets::ServerBuilder;

use crate::kept_browser::KeptBrowser;
use crate::realm_client::RealmClient;

/// Operations each client does.
const OPERATIONS: u64 = 40;

/// A door for CDP clients of one realm; gives its address.
async fn open_door(hub: &Hub, realm: &str, tasks: &TaskGroup) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = format!("ws://{}", listener.local_addr().expect("an address"));
    let (hub, realm, stopping) = (hub.clone(), RealmId::new(realm), tasks.clone());
    tasks.start("door", async move {
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
            let options = ClientOptions { realm: Some(realm.clone()), ..ClientOptions::default() };
            hub.join(source, sink, options).await.expect("joined");
        }
    });
    address
}

/// Runs one of the client suites; every operation must pass and nothing foreign be seen.
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
        .args(["--operations", &OPERATIONS.to_string(), "--seed", "7"])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .kill_on_drop(true)
        .output()
        .await
        .expect("node is there: `cargo xtask setup` says what is needed");
    let text = String::from_utf8_lossy(&output.stdout);
    let score: Value = serde_json::from_str(text.lines().last().unwrap_or_default()).unwrap_or_default();
    assert_eq!(score["failures"], Value::Array(Vec::new()), "{program}: {score:#}");
    assert!(score["passed"].as_u64() >= Some(OPERATIONS), "{program}: {text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn stock_clients_in_realms_work_as_on_a_browser_of_their_own() {
    let (browser, site, tasks) =
        (KeptBrowser::start(), Site::start().await.expect("a site"), TaskGroup::new());
    let hub = browser.serve(&tasks).await;
    let mut doors = Vec::new();
    for realm in ["playwright", "puppeteer"] {
        let context = hub.make_context(None).await.expect("a hub").expect("a context");
        hub.reserve(RealmId::new(realm), RealmPlace::Context(context)).await.expect("reserved");
        hub.open_tab("about:blank", Some(RealmId::new(realm))).await.expect("a hub").expect("a tab");
        doors.push(open_door(&hub, realm, &tasks).await);
    }
    tokio::join!(
        passes("playwright-suite.mjs", &doors[0], &site),
        passes("puppeteer-suite.mjs", &doors[1], &site),
    );
    // What they did stayed in their realms.
    let outsider = RealmClient::join(&hub, None, &tasks).await;
    assert!(outsider.cookies().await.is_empty());
    let facts = hub.facts().await.expect("facts");
    assert_eq!(facts.counters.answers_misrouted, 0, "{facts:?}");
    hub.let_go().await;
}
