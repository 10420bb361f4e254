//! Which nodes of a document listen for clicks, as far as is known. Knows nothing of how that is found out.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::limits::{LISTENERS_AGAIN, LISTENERS_KNOWN, LISTENERS_QUICK};

/// The browser's number for a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct NodeNumber(i64);

/// What is known of one document; whoever finds out more holds it meanwhile.
#[derive(Debug, Default)]
pub(crate) struct Listeners {
    pub(crate) known: Arc<tokio::sync::Mutex<Known>>,
}

/// The nodes that the document's agent knows of.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// The browser's name for the document.
    pub(crate) document: Option<String>,
    nodes: HashSet<NodeNumber>,
    /// A digest of the browser's last answer, once the agent knew all of it.
    heard: Option<u64>,
    /// What was counted just before that answer, and when.
    census: Option<(Census, Instant)>,
    /// The browser does not count.
    pub(crate) is_uncounted: bool,
    /// When the browser was asked, if it told of so many that it is not to be asked every time.
    asked: Option<Instant>,
}

/// What tells, without listing them, that listeners are the same as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Census {
    /// How many there are in the document's process.
    pub(crate) listeners: u64,
    /// How often something other than looking was done with the page. One that is removed is counted for a while.
    pub(crate) deeds: u64,
}

/// A listener as the browser describes it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Listener {
    #[serde(rename = "type")]
    kind: String,
    backend_node_id: Option<NodeNumber>,
}

/// Events that say an element can be clicked. Touches are left out: mostly they are for swiping.
const KINDS: &[&str] = &["click", "dblclick", "mousedown", "mouseup", "pointerdown", "pointerup"];

/// What the agent has to be told.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct News {
    /// Nodes that listen, in the order of the document.
    pub(crate) come: Vec<NodeNumber>,
    /// Nodes that listen no longer.
    pub(crate) gone: Vec<NodeNumber>,
}

impl Known {
    /// Whether a snapshot waits for what is found out: not so where the browser has much to tell.
    pub(crate) fn is_quick(&self) -> bool {
        self.asked.is_none()
    }

    /// Whether it is time to ask the browser.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.asked.is_none_or(|asked| now >= asked + LISTENERS_AGAIN)
    }

    /// Whether the browser's answer is the one that it gave last, which the agent knows all of.
    pub(crate) fn has_heard(&mut self, answer: &[u8], now: Instant) -> bool {
        let is_same = self.heard.take().is_some_and(|heard| heard == digest(answer));
        if is_same {
            self.hear(answer);
            self.asked = self.asked.map(|_| now);
        }
        is_same
    }

    /// The agent knows all of this answer.
    pub(crate) fn hear(&mut self, answer: &[u8]) {
        self.heard = Some(digest(answer));
    }

    /// Whether it is enough to count: a moment ago the agent knew all, and since then the page was only looked at.
    pub(crate) fn is_fresh(&self, deeds: u64, now: Instant) -> bool {
        let is_fresh =
            |(census, counted): (Census, Instant)| census.deeds == deeds && now < counted + LISTENERS_AGAIN;
        self.heard.is_some() && self.census.is_some_and(is_fresh)
    }

    /// Whether the agent knows all there is, as far as can be told from counting.
    pub(crate) fn is_complete(&self, census: Option<Census>) -> bool {
        self.heard.is_some() && census.is_some() && self.census.map(|(census, _)| census) == census
    }

    /// Takes note of what was counted before an answer that the agent knows all of.
    pub(crate) fn count(&mut self, census: Option<Census>, now: Instant) {
        self.census = census.map(|census| (census, now));
    }

    /// What the agent has to be told, given all listeners of the document.
    pub(crate) fn compare(&mut self, all: &[Listener], now: Instant) -> News {
        self.asked = (all.len() > LISTENERS_QUICK).then_some(now);
        let mut listening = HashSet::new();
        let mut come = Vec::new();
        for listener in all.iter().filter(|listener| KINDS.contains(&listener.kind.as_str())) {
            let Some(node) = listener.backend_node_id else { continue };
            if listening.len() < LISTENERS_KNOWN && listening.insert(node) && !self.nodes.contains(&node) {
                come.push(node);
            }
        }
        let mut gone: Vec<NodeNumber> = self.nodes.difference(&listening).copied().collect();
        gone.sort_unstable();
        News { come, gone }
    }

    /// The agent was told of nodes that listen.
    pub(crate) fn add(&mut self, nodes: &[NodeNumber]) {
        self.nodes.extend(nodes);
    }

    /// The agent was told of nodes that listen no longer.
    pub(crate) fn remove(&mut self, nodes: &[NodeNumber]) {
        for node in nodes {
            self.nodes.remove(node);
        }
    }
}

fn digest(answer: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(answer);
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
    fn only_what_was_counted_the_same_is_complete() {
        let census = |listeners, deeds| Some(Census { listeners, deeds });
        let mut known = Known::default();
        let now = Instant::now();
        assert!(!known.is_complete(None) && !known.is_complete(census(3, 0)), "nothing is known yet");
        known.hear(b"answer");
        known.count(census(3, 1), now);
        assert!(
            known.is_fresh(1, now) && !known.is_fresh(2, now) && !known.is_fresh(1, now + LISTENERS_AGAIN)
        );
        assert!(known.is_complete(census(3, 1)));
        assert!(!known.is_complete(census(4, 1)), "one has come");
        assert!(!known.is_complete(census(3, 2)), "something was done");
        assert!(!known.is_complete(None), "the browser does not count");
    }

    #[test]
    fn only_what_is_new_or_gone_is_told() {
        let mut known = Known::default();
        let now = Instant::now();
        let compare = |known: &mut Known, all: &[(&str, i64)]| known.compare(&listeners(all), now);
        let news = compare(&mut known, &[("click", 3), ("keydown", 4), ("mousedown", 3), ("click", 1)]);
        assert_eq!(news, News { come: vec![NodeNumber(3), NodeNumber(1)], gone: Vec::new() });
        known.add(&news.come);
        assert_eq!(compare(&mut known, &[("click", 3), ("click", 1)]), News::default());
        let news = compare(&mut known, &[("pointerup", 9), ("click", 1)]);
        assert_eq!(news, News { come: vec![NodeNumber(9)], gone: vec![NodeNumber(3)] });
        known.remove(&news.gone);
        assert_eq!(compare(&mut known, &[("click", 1)]), News::default());
    }

    #[test]
    fn a_document_with_many_listeners_is_asked_now_and_then() {
        let mut known = Known::default();
        let now = Instant::now();
        let many: Vec<(&str, i64)> = (0..30_000).map(|node| ("click", node)).collect();
        assert_eq!(known.compare(&listeners(&many), now).come.len(), LISTENERS_KNOWN);
        assert!(!known.is_quick() && !known.is_due(now));
        let later = now + LISTENERS_AGAIN;
        assert!(!known.is_quick() && known.is_due(later));
        known.compare(&listeners(&many[..10]), later);
        assert!(known.is_quick() && known.is_due(later));
    }

    #[test]
    fn the_same_answer_is_only_read_once_its_news_was_told() {
        let mut known = Known::default();
        let now = Instant::now();
        assert!(!known.has_heard(b"one", now));
        assert!(!known.has_heard(b"one", now), "nobody was told yet");
        known.hear(b"one");
        assert!(known.has_heard(b"one", now) && known.has_heard(b"one", now));
        assert!(!known.has_heard(b"two", now));
        assert!(!known.has_heard(b"one", now), "the agent may have been told something else since");
    }
}
