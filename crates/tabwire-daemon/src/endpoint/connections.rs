//! The clients that are connected: who they are, since when, and how to disconnect one.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use schemars::JsonSchema;
use serde::Serialize;
use tabwire_api::{ClientId, SessionKey};
use tabwire_audit::ClientInfo;
use tabwire_cdp::CloseFrame;
use tokio::sync::watch;

use crate::hub::Hub;

/// The close reason for a client that the user has disconnected.
const DISCONNECTED: &str = "DISCONNECTED: the user has disconnected this client in the dashboard";

/// How a client is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ClientKind {
    /// Over MCP.
    Mcp,
    /// Over CDP.
    Cdp,
    /// A launcher behind the Chrome shim.
    Shim,
    /// The process of a script.
    Script,
    /// The extension of the user's own browser.
    Extension,
}

/// A connected client, for the dashboard.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ListedClient {
    pub(crate) id: String,
    pub(crate) kind: ClientKind,
    pub(crate) name: Option<String>,
    pub(crate) program: Option<String>,
    pub(crate) pid: Option<i32>,
    /// When it connected, in milliseconds since 1970.
    pub(crate) since: Option<u64>,
    pub(crate) session: String,
    /// Calls or commands that wait for their response.
    pub(crate) pending: usize,
    /// Whether the user can disconnect it.
    pub(crate) disconnects: bool,
}

/// The connected clients of a daemon.
#[derive(Debug, Default)]
pub(crate) struct ConnectedClients(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    last: u64,
    clients: BTreeMap<u64, Arc<Entry>>,
}

#[derive(Debug)]
struct Entry {
    kind: ClientKind,
    info: Mutex<ClientInfo>,
    session: SessionKey,
    since: u64,
    calls: AtomicUsize,
    /// Where a CDP client is joined.
    joined: OnceLock<(Hub, ClientId)>,
    /// Whether the user wants it to be disconnected.
    ending: watch::Sender<bool>,
}

/// A connected client, which is listed until this is dropped.
#[derive(Debug)]
pub(crate) struct Registration {
    clients: Arc<ConnectedClients>,
    id: u64,
    entry: Arc<Entry>,
}

/// Signals that the user wants a client to be disconnected.
#[derive(Debug)]
pub(crate) struct DisconnectSignal(watch::Receiver<bool>);

/// A running call, which counts until this is dropped.
#[derive(Debug)]
pub(crate) struct RunningCall<'a>(&'a AtomicUsize);

impl Drop for RunningCall<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ConnectedClients {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a client.
    pub(crate) fn enter(
        self: &Arc<Self>,
        kind: ClientKind,
        info: ClientInfo,
        session: SessionKey,
    ) -> Registration {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let entry = Arc::new(Entry {
            kind,
            info: Mutex::new(info),
            session,
            since: u64::try_from(since).unwrap_or(u64::MAX),
            calls: AtomicUsize::new(0),
            joined: OnceLock::new(),
            ending: watch::Sender::new(false),
        });
        let mut table = self.table();
        table.last += 1;
        let id = table.last;
        table.clients.insert(id, Arc::clone(&entry));
        Registration { clients: Arc::clone(self), id, entry }
    }

    /// Lists the clients, the oldest first.
    pub(crate) async fn list(&self) -> Vec<ListedClient> {
        let all: Vec<(u64, Arc<Entry>)> =
            self.table().clients.iter().map(|(id, entry)| (*id, Arc::clone(entry))).collect();
        let mut listed = Vec::with_capacity(all.len());
        for (id, entry) in all {
            listed.push(entry.describe(id).await);
        }
        listed
    }

    /// Signals a client that the user wants it to be disconnected; returns it if there is one.
    pub(crate) async fn disconnect(&self, id: &str) -> Option<(ListedClient, SessionKey)> {
        let number = id.parse::<u64>().ok()?;
        let entry = Arc::clone(self.table().clients.get(&number)?);
        let listed = entry.describe(number).await;
        entry.ending.send_replace(true);
        Some((listed, entry.session.clone()))
    }
}

impl Entry {
    async fn describe(&self, id: u64) -> ListedClient {
        let commands = match self.joined.get() {
            Some((hub, client)) => hub.facts().await.map_or(0, |facts| facts.pending_of(*client)),
            None => 0,
        };
        let ClientInfo { name, pid, program, .. } =
            self.info.lock().unwrap_or_else(PoisonError::into_inner).clone();
        ListedClient {
            id: id.to_string(),
            kind: self.kind,
            name,
            program,
            pid,
            since: Some(self.since),
            session: self.session.to_string(),
            pending: commands + self.calls.load(Ordering::Relaxed),
            disconnects: self.ending.receiver_count() > 0,
        }
    }
}

impl Registration {
    /// The signal to disconnect. A client without one is listed only.
    pub(crate) fn signal(&self) -> DisconnectSignal {
        DisconnectSignal(self.entry.ending.subscribe())
    }

    /// Replaces the name that the client gives itself.
    pub(crate) fn set_name(&self, name: &str) {
        self.entry.info.lock().unwrap_or_else(PoisonError::into_inner).name = Some(name.to_owned());
    }

    /// Counts a call while it runs.
    pub(crate) fn begin_call(&self) -> RunningCall<'_> {
        self.entry.calls.fetch_add(1, Ordering::Relaxed);
        RunningCall(&self.entry.calls)
    }

    /// What follows a CDP client once it has joined a hub.
    pub(crate) fn follower(&self) -> ClientFollower {
        ClientFollower { entry: Arc::clone(&self.entry), signal: self.signal() }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.clients.table().clients.remove(&self.id);
        // Followers hold the entry, so the end is signaled and not only dropped.
        self.entry.ending.send_replace(true);
    }
}

impl DisconnectSignal {
    /// Waits until the client is to be disconnected, or is gone.
    pub(crate) async fn wanted(mut self) {
        // An error means that the entry is gone, and so is the client.
        let _ = self.0.wait_for(|ends| *ends).await;
    }
}

/// Disconnects a CDP client when the user wants it.
#[derive(Debug)]
pub(crate) struct ClientFollower {
    entry: Arc<Entry>,
    signal: DisconnectSignal,
}

impl ClientFollower {
    /// Waits until the client is gone or to be disconnected. The hub ignores a client that is gone.
    pub(crate) async fn follow(self, hub: Hub, client: ClientId) {
        let _ = self.entry.joined.set((hub.clone(), client));
        self.signal.wanted().await;
        hub.dismiss(client, CloseFrame::Gone(DISCONNECTED)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_client_is_listed_while_connected_and_gets_its_signal() {
        let clients = Arc::<ConnectedClients>::default();
        let info = ClientInfo { name: Some("agent".to_owned()), ..ClientInfo::default() };
        let one = clients.enter(ClientKind::Mcp, info, SessionKey::default());
        let call = one.begin_call();
        let listed = clients.list().await;
        assert_eq!((listed[0].name.as_deref(), listed[0].pending), (Some("agent"), 1));
        assert!(!listed[0].disconnects, "nothing waits for the signal");
        drop(call);
        let signal = one.signal();
        assert!(clients.disconnect("7").await.is_none() && clients.disconnect("../1").await.is_none());
        let (found, _) = clients.disconnect(&listed[0].id).await.expect("a client");
        assert!(found.disconnects && found.pending == 0);
        signal.wanted().await;
        drop(one);
        assert!(clients.list().await.is_empty());
    }
}
