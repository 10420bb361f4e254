//! The nodes of a document that are known to have click listeners, and whether Chrome must be queried again.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::OwnedMutexGuard;
use tokio::time::Instant;

/// Listeners of a document that a snapshot waits for. A document with more is queried only every `REQUERY_INTERVAL`.
pub(super) const FAST_LISTENERS: usize = 1_000;

/// How often a document with many listeners is queried, and how long a listener count stays valid.
const REQUERY_INTERVAL: Duration = Duration::from_secs(2);

/// Elements with click listeners that are tracked per document.
const TRACKED_NODES: usize = 20_000;

/// A `backendNodeId`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct NodeNumber(i64);

/// The listener table of one document. An update holds the lock for its whole duration.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClickListeners(Arc<tokio::sync::Mutex<ListenerTable>>);

impl ClickListeners {
    /// Locks the table for an update; `None` while another update runs.
    pub(super) fn try_lock(&self) -> Option<OwnedMutexGuard<ListenerTable>> {
        Arc::clone(&self.0).try_lock_owned().ok()
    }
}

/// The nodes that the document's agent knows of.
#[derive(Debug, Default)]
pub(super) struct ListenerTable {
    /// The remote object id of the document.
    pub(super) document: Option<String>,
    nodes: HashSet<NodeNumber>,
    /// A hash of Chrome's last response, once the agent knows all of it.
    last_response: Option<u64>,
    /// The fingerprint taken just before that response, and when.
    fingerprint: Option<(Fingerprint, Instant)>,
    /// Set when Chrome refuses `Memory.getDOMCounters`.
    pub(super) has_no_counters: bool,
    /// Set when the browser cannot list listeners: Firefox.
    pub(super) has_no_listeners: bool,
    /// When Chrome was queried, for a document with more than `FAST_LISTENERS`.
    queried: Option<Instant>,
}

/// A cheap sign that the listeners are the same as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fingerprint {
    /// `jsEventListeners` of the document's process.
    pub(super) listeners: u64,
    /// The page's activity counter. A removed listener stays counted until it is collected, so the count alone does
    /// not prove that nothing changed.
    pub(super) activity: u64,
}

/// A listener as `DOMDebugger.getEventListeners` reports it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Listener {
    #[serde(rename = "type")]
    kind: String,
    backend_node_id: Option<NodeNumber>,
}

/// Events that make an element clickable. Touch events are left out: they mostly serve swiping.
const KINDS: &[&str] = &["click", "dblclick", "mousedown", "mouseup", "pointerdown", "pointerup"];

/// The difference between the agent's nodes and Chrome's.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ListenerChanges {
    /// In document order.
    pub(super) added: Vec<NodeNumber>,
    pub(super) removed: Vec<NodeNumber>,
}

impl ListenerTable {
    /// Whether a snapshot waits for the update.
    pub(super) fn is_fast(&self) -> bool {
        self.queried.is_none()
    }

    /// Whether Chrome is to be queried now.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        !self.has_no_listeners && self.queried.is_none_or(|queried| now >= queried + REQUERY_INTERVAL)
    }

    /// Whether a response equals the last one, all of which the agent knows.
    pub(super) fn is_unchanged(&mut self, response: &[u8], now: Instant) -> bool {
        let is_same = self.last_response.take().is_some_and(|last| last == digest(response));
        if is_same {
            self.set_last_response(response);
            self.queried = self.queried.map(|_| now);
        }
        is_same
    }

    /// The agent knows all of this response.
    pub(super) fn set_last_response(&mut self, response: &[u8]) {
        self.last_response = Some(digest(response));
    }

    /// Whether a fingerprint suffices: the agent recently knew all listeners, and since then the page was only read.
    pub(super) fn is_fresh(&self, activity: u64, now: Instant) -> bool {
        let is_fresh = |(fingerprint, taken): (Fingerprint, Instant)| {
            fingerprint.activity == activity && now < taken + REQUERY_INTERVAL
        };
        self.last_response.is_some() && self.fingerprint.is_some_and(is_fresh)
    }

    /// Whether the agent knows all listeners, by the fingerprint.
    pub(super) fn is_complete(&self, fingerprint: Option<Fingerprint>) -> bool {
        self.last_response.is_some()
            && fingerprint.is_some()
            && self.fingerprint.map(|(known, _)| known) == fingerprint
    }

    /// Stores the fingerprint taken before a response that the agent knows all of.
    pub(super) fn set_fingerprint(&mut self, fingerprint: Option<Fingerprint>, now: Instant) {
        self.fingerprint = fingerprint.map(|fingerprint| (fingerprint, now));
    }

    /// Compares the agent's nodes with all listeners of the document.
    pub(super) fn compare(&mut self, all: &[Listener], now: Instant) -> ListenerChanges {
        self.queried = (all.len() > FAST_LISTENERS).then_some(now);
        let mut listening = HashSet::new();
        let mut added = Vec::new();
        for listener in all.iter().filter(|listener| KINDS.contains(&listener.kind.as_str())) {
            let Some(node) = listener.backend_node_id else { continue };
            if listening.len() < TRACKED_NODES && listening.insert(node) && !self.nodes.contains(&node) {
                added.push(node);
            }
        }
        let mut removed: Vec<NodeNumber> = self.nodes.difference(&listening).copied().collect();
        removed.sort_unstable();
        ListenerChanges { added, removed }
    }

    /// The agent knows these nodes now.
    pub(super) fn add(&mut self, nodes: &[NodeNumber]) {
        self.nodes.extend(nodes);
    }

    /// The agent has forgotten these nodes.
    pub(super) fn remove(&mut self, nodes: &[NodeNumber]) {
        for node in nodes {
            self.nodes.remove(node);
        }
    }
}

fn digest(response: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(response);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listeners(all: &[(&str, i64)]) -> Vec<Listener> {
        let listener = |&(kind, node): &(&str, i64)| Listener {
            kind: kind.to_owned(),
            backend_node_id: Some(NodeNumber(node)),
        };
        all.iter().map(listener).collect()
    }

    #[test]
    fn an_equal_fingerprint_means_complete() {
        let fingerprint = |listeners, activity| Some(Fingerprint { listeners, activity });
        let mut known = ListenerTable::default();
        let now = Instant::now();
        assert!(!known.is_complete(None) && !known.is_complete(fingerprint(3, 0)), "no response yet");
        known.set_last_response(b"response");
        known.set_fingerprint(fingerprint(3, 1), now);
        assert!(
            known.is_fresh(1, now) && !known.is_fresh(2, now) && !known.is_fresh(1, now + REQUERY_INTERVAL)
        );
        assert!(known.is_complete(fingerprint(3, 1)));
        assert!(!known.is_complete(fingerprint(4, 1)), "a listener was added");
        assert!(!known.is_complete(fingerprint(3, 2)), "the page was active");
        assert!(!known.is_complete(None), "no counters");
    }

    #[test]
    fn compare_reports_added_and_removed_nodes() {
        let mut known = ListenerTable::default();
        let now = Instant::now();
        let compare = |known: &mut ListenerTable, all: &[(&str, i64)]| known.compare(&listeners(all), now);
        let changes = compare(&mut known, &[("click", 3), ("keydown", 4), ("mousedown", 3), ("click", 1)]);
        assert_eq!(
            changes,
            ListenerChanges { added: vec![NodeNumber(3), NodeNumber(1)], removed: Vec::new() }
        );
        known.add(&changes.added);
        assert_eq!(compare(&mut known, &[("click", 3), ("click", 1)]), ListenerChanges::default());
        let changes = compare(&mut known, &[("pointerup", 9), ("click", 1)]);
        assert_eq!(changes, ListenerChanges { added: vec![NodeNumber(9)], removed: vec![NodeNumber(3)] });
        known.remove(&changes.removed);
        assert_eq!(compare(&mut known, &[("click", 1)]), ListenerChanges::default());
    }

    #[test]
    fn a_document_with_many_listeners_is_queried_at_intervals() {
        let mut known = ListenerTable::default();
        let now = Instant::now();
        let many: Vec<(&str, i64)> = (0..30_000).map(|node| ("click", node)).collect();
        assert_eq!(known.compare(&listeners(&many), now).added.len(), TRACKED_NODES);
        assert!(!known.is_fast() && !known.is_due(now));
        let later = now + REQUERY_INTERVAL;
        assert!(!known.is_fast() && known.is_due(later));
        known.compare(&listeners(&many[..10]), later);
        assert!(known.is_fast() && known.is_due(later));
    }

    #[test]
    fn a_response_is_unchanged_only_after_the_agent_knows_it() {
        let mut known = ListenerTable::default();
        let now = Instant::now();
        assert!(!known.is_unchanged(b"one", now));
        assert!(!known.is_unchanged(b"one", now), "the agent does not know it yet");
        known.set_last_response(b"one");
        assert!(known.is_unchanged(b"one", now) && known.is_unchanged(b"one", now));
        assert!(!known.is_unchanged(b"two", now));
        assert!(!known.is_unchanged(b"one", now), "another response came in between");
    }
}
