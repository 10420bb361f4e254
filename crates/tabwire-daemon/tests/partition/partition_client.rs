//! A CDP client of one partition.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tabwire_api::{CdpSessionId, PartitionId};
use tabwire_cdp::{CdpSession, Connection, TaskGroup, channel_pair};
use tabwire_daemon::Hub;
use tabwire_mux::{ClientOptions, Share};

use crate::partition::kept_browser::TIMEOUT;

pub(crate) struct PartitionClient {
    connection: Connection,
}

impl PartitionClient {
    /// Joins a partition and sees the targets of all clients.
    pub(crate) async fn join(hub: &Hub, partition: Option<&str>, tasks: &TaskGroup) -> Self {
        let (ours, theirs) = channel_pair();
        let options = ClientOptions {
            share: Share::All,
            partition: partition.map(PartitionId::new),
            ..ClientOptions::default()
        };
        hub.join(theirs.0, theirs.1, options).await.expect("joined");
        Self { connection: Connection::start(ours.0, ours.1, tasks) }
    }

    pub(crate) async fn send(&self, method: &'static str, params: Value) -> Result<Value, String> {
        send(&self.connection.browser(), method, params).await
    }

    /// Opens a page and returns its target id.
    pub(crate) async fn open(&self, url: &str) -> String {
        let made = self.send("Target.createTarget", json!({"url": url})).await.expect("a page");
        made["targetId"].as_str().expect("an id").to_owned()
    }

    pub(crate) async fn attach(&self, target: &str) -> CdpSession {
        let params = json!({"targetId": target, "flatten": true});
        let attached = self.send("Target.attachToTarget", params).await.expect("attached");
        self.connection.session(&CdpSessionId::new(attached["sessionId"].as_str().expect("an id")))
    }

    /// The pages it is shown.
    pub(crate) async fn pages(&self) -> BTreeSet<String> {
        let listed = self.send("Target.getTargets", json!({})).await.expect("a list");
        let infos = listed["targetInfos"].as_array().expect("a list").iter();
        infos
            .filter(|info| info["type"] == "page")
            .filter_map(|info| info["targetId"].as_str().map(str::to_owned))
            .collect()
    }

    /// The tab targets it is shown.
    pub(crate) async fn tabs(&self) -> usize {
        let listed = self.send("Target.getTargets", json!({"filter": [{"type": "tab"}]})).await;
        listed.expect("a list")["targetInfos"].as_array().expect("a list").len()
    }

    /// Waits until it is shown this many pages.
    pub(crate) async fn sees_pages(&self, count: usize) -> BTreeSet<String> {
        let until = std::time::Instant::now() + TIMEOUT;
        loop {
            let pages = self.pages().await;
            if pages.len() == count {
                return pages;
            }
            assert!(std::time::Instant::now() < until, "{count} pages wanted: {pages:?}");
        }
    }

    /// The cookies of the context that it sees as the default one, as `name=value`.
    pub(crate) async fn cookies(&self) -> BTreeSet<String> {
        let listed = self.send("Storage.getCookies", json!({})).await.expect("cookies");
        let text = |cookie: &Value, field: &str| cookie[field].as_str().unwrap_or_default().to_owned();
        let cookies = listed["cookies"].as_array().expect("a list").iter();
        cookies.map(|cookie| format!("{}={}", text(cookie, "name"), text(cookie, "value"))).collect()
    }

    pub(crate) fn close(&self) {
        self.connection.close();
    }
}

pub(crate) async fn send(session: &CdpSession, method: &'static str, params: Value) -> Result<Value, String> {
    let response = session.send(method, &params, TIMEOUT).await.map_err(|error| error.to_string())?;
    response.to().map_err(|error| error.to_string())
}

/// Evaluates in a page, and awaits a promise.
pub(crate) async fn evaluate(page: &CdpSession, expression: &str) -> Value {
    let params =
        json!({"expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true});
    let response = send(page, "Runtime.evaluate", params).await.expect("evaluated");
    response["result"]["value"].clone()
}
