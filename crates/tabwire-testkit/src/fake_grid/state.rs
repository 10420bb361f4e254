//! Nodes, sessions and the queue of a fake Grid. Does no I/O.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use tokio::sync::watch;

use super::{GridFault, GridOptions};
use crate::fake_browser::{FakeBrowser, Hub, Script};

/// What happened so far.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    created: usize,
    deleted: usize,
    timed_out: usize,
    peak: usize,
}

/// A session.
#[derive(Debug)]
pub(super) struct Session {
    node: usize,
    name: String,
    downloads: bool,
    pub(super) hub: Arc<Hub>,
    /// Set when the session ends.
    pub(super) ended: watch::Sender<bool>,
    pub(super) used: Instant,
    pub(super) connections: usize,
    /// Files that were given to it.
    pub(super) uploads: usize,
}

/// The Grid's state.
#[derive(Debug)]
pub(super) struct State {
    options: GridOptions,
    pub(super) sessions: BTreeMap<String, Session>,
    /// The capabilities of requests that wait.
    queue: BTreeMap<u64, Value>,
    dead: BTreeSet<usize>,
    faults: Vec<(GridFault, usize)>,
    counts: Counts,
    next: u64,
}

impl State {
    pub(super) fn new(options: GridOptions) -> Self {
        Self {
            options,
            sessions: BTreeMap::new(),
            queue: BTreeMap::new(),
            dead: BTreeSet::new(),
            faults: Vec::new(),
            counts: Counts::default(),
            next: 0,
        }
    }

    /// Adds a fault for this many requests.
    pub(super) fn add_fault(&mut self, fault: GridFault, times: usize) {
        self.faults.push((fault, times));
    }

    /// Takes a fault of this kind.
    pub(super) fn take_fault(&mut self, fits: impl Fn(&GridFault) -> bool) -> Option<GridFault> {
        let (fault, times) = self.faults.iter_mut().find(|(fault, times)| *times > 0 && fits(fault))?;
        *times -= 1;
        Some(fault.clone())
    }

    /// Puts a request into the queue.
    pub(super) fn enqueue(&mut self, capabilities: Value) -> u64 {
        self.next += 1;
        self.queue.insert(self.next, capabilities);
        self.next
    }

    /// Removes a request from the queue.
    pub(super) fn dequeue(&mut self, ticket: u64) {
        self.queue.remove(&ticket);
    }

    /// Creates a session for the oldest request, if it is this one and a slot is free.
    pub(super) fn try_create(&mut self, ticket: u64) -> Option<String> {
        if self.queue.keys().next() != Some(&ticket) {
            return None;
        }
        let used = |node: usize| self.sessions.values().filter(|session| session.node == node).count();
        let free = |node: &usize| !self.dead.contains(node) && used(*node) < self.options.slots;
        // The emptiest node first, as a Grid distributes.
        let node = (0..self.options.nodes).filter(free).min_by_key(|node| used(*node))?;
        let wanted = self.queue.remove(&ticket)?;
        let id = format!("{:016x}{:016x}", self.next.wrapping_mul(0x9e37_79b9_7f4a_7c15), ticket);
        let name = find(&wanted, "se:name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let downloads = find(&wanted, "se:downloadsEnabled") == Some(&Value::Bool(true));
        let script = Script::parse(&self.options.script).unwrap_or_default();
        let session = Session {
            node,
            name,
            downloads,
            hub: Hub::of_websockets(FakeBrowser::new(script)),
            ended: watch::Sender::new(false),
            used: Instant::now(),
            connections: 0,
            uploads: 0,
        };
        self.sessions.insert(id.clone(), session);
        self.counts.created += 1;
        self.counts.peak = self.counts.peak.max(self.sessions.len());
        Some(id)
    }

    /// The capabilities of a session. `host` is how the Grid knows itself.
    pub(super) fn capabilities(&self, id: &str, has_cdp: bool) -> Value {
        let mut found = json!({"browserName": "chrome", "browserVersion": "156.0.0.0"});
        if let Some(session) = self.sessions.get(id) {
            found["se:name"] = json!(session.name);
            if session.downloads {
                found["se:downloadsEnabled"] = json!(true);
            }
        }
        if has_cdp {
            // A Grid in a container knows another host than its clients.
            found["se:cdp"] = json!(format!("ws://grid.invalid:1/session/{id}/se/cdp"));
        }
        found
    }

    /// Ends a session; whether there was one.
    pub(super) fn delete(&mut self, id: &str) -> bool {
        let Some(session) = self.sessions.remove(id) else { return false };
        session.ended.send_replace(true);
        self.counts.deleted += 1;
        true
    }

    /// Ends a node with its sessions.
    pub(super) fn kill_node(&mut self, node: usize) {
        self.dead.insert(node);
        self.sessions.retain(|_, session| {
            let stays = session.node != node;
            if !stays {
                session.ended.send_replace(true);
            }
            stays
        });
    }

    /// Ends sessions that were idle for too long.
    pub(super) fn end_idle(&mut self) {
        let timeout = self.options.session_timeout;
        let before = self.sessions.len();
        self.sessions.retain(|_, session| {
            let stays = session.used.elapsed() < timeout;
            if !stays {
                session.ended.send_replace(true);
            }
            stays
        });
        self.counts.timed_out += before - self.sessions.len();
    }

    /// The response to `/status`.
    pub(super) fn status(&self) -> Value {
        let nodes: Vec<Value> = (0..self.options.nodes)
            .map(|node| {
                let sessions: Vec<_> = self.sessions.iter().filter(|(_, session)| session.node == node).collect();
                let slots: Vec<Value> = (0..self.options.slots)
                    .map(|slot| {
                        let session = sessions.get(slot).map(|(id, _)| {
                            json!({"sessionId": id, "capabilities": self.capabilities(id, false)})
                        });
                        json!({"stereotype": {"browserName": "chrome"}, "session": session})
                    })
                    .collect();
                let availability = if self.dead.contains(&node) { "DOWN" } else { "UP" };
                json!({
                    "id": format!("node-{node}"), "uri": format!("http://10.0.0.{}:5555", node + 1),
                    "maxSessions": self.options.slots, "availability": availability, "slots": slots,
                    "sessionTimeout": u64::try_from(self.options.session_timeout.as_millis()).unwrap_or(u64::MAX),
                })
            })
            .collect();
        json!({"value": {"ready": true, "message": "Selenium Grid ready.", "nodes": nodes}})
    }

    /// The requests that wait.
    pub(super) fn queue(&self) -> Value {
        let waiting = self.queue.values().map(|capabilities| json!({"capabilities": [capabilities]}));
        json!({"value": waiting.collect::<Vec<_>>()})
    }

    /// The counts for tests.
    pub(super) fn counts(&self) -> Value {
        let Counts { created, deleted, timed_out, peak } = self.counts;
        let connections: usize = self.sessions.values().map(|session| session.connections).sum();
        let uploads: usize = self.sessions.values().map(|session| session.uploads).sum();
        json!({
            "created": created, "deleted": deleted, "timed_out": timed_out, "peak": peak,
            "alive": self.sessions.len(), "queued": self.queue.len(), "connections": connections,
            "uploads": uploads, "ids": self.sessions.keys().collect::<Vec<_>>(),
        })
    }
}

/// A capability of a request, from `alwaysMatch` or the first choice.
fn find<'a>(wanted: &'a Value, name: &str) -> Option<&'a Value> {
    let always = wanted.get("alwaysMatch").and_then(|always| always.get(name));
    always.or_else(|| wanted.get("firstMatch")?.get(0)?.get(name))
}
