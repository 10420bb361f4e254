//! The events of a browser for the scripts that listen: a bounded queue for each listener, and decisions that a script
//! makes, such as what happens to a paused request.

mod ask;
mod kind;
mod page;
mod request;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use serde_json::{Value, json};
use tabwire_api::TargetId;
use tokio::sync::mpsc;

pub(crate) use ask::{PendingDecision, RouteDecision};
pub use kind::{EventKind, EventKinds};
pub(crate) use page::PageFeed;
pub(crate) use request::{NetworkFeed, header_pairs, paused_facts, request_facts, response_facts};

use crate::limits::QUEUED_EVENTS;

/// Pages whose dialogs one script closes.
const DIALOG_PAGES: usize = 1_000;

/// An event for a listener.
#[derive(Clone, Debug)]
pub struct FeedEvent {
    /// What happened.
    pub kind: EventKind,
    /// The page, or the frame of a download.
    pub target: TargetId,
    /// The URLs that the policy judges the event by.
    pub urls: Vec<String>,
    /// The facts.
    pub data: Value,
    /// The number of the question, when the event is one.
    pub question: Option<u64>,
}

impl FeedEvent {
    /// Masks cookies, credentials and tokens in headers and bodies.
    pub fn mask(&mut self) {
        let Some(members) = self.data.as_object_mut() else { return };
        if let Some(headers) = members.get_mut("headers").and_then(Value::as_array_mut) {
            for header in headers {
                let text = |at: usize| header.get(at).and_then(Value::as_str).unwrap_or_default().to_owned();
                *header = json!([text(0), tabwire_secrets::mask_header(&text(0), &text(1))]);
            }
        }
        members.remove("post_bytes");
        for name in ["post_data", "payload"] {
            if let Some(text) = members.get(name).and_then(Value::as_str) {
                let masked = tabwire_secrets::mask_body(text, "");
                members.insert(name.to_owned(), json!(masked));
            }
        }
    }
}

/// The events of one browser; clones share it.
#[derive(Clone, Debug, Default)]
pub struct EventFeed {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    listeners: Mutex<Vec<Arc<Listener>>>,
    /// The kinds that any listener wants.
    wanted: AtomicU32,
    questions: Mutex<HashMap<u64, PendingDecision>>,
    last_question: AtomicU64,
}

/// One listener.
#[derive(Debug)]
struct Listener {
    kinds: AtomicU32,
    sender: mpsc::Sender<FeedEvent>,
    dropped: AtomicU64,
    /// The pages whose dialogs the script closes.
    dialogs: Mutex<HashSet<TargetId>>,
    /// Patterns of requests that the script is asked about: of one page, or of all for `None`.
    patterns: Mutex<HashMap<Option<TargetId>, Vec<String>>>,
    /// Dialogs that found the queue full. Their pages wait, so they are not dropped.
    late_dialogs: Mutex<VecDeque<FeedEvent>>,
}

impl Listener {
    fn patterns(&self) -> MutexGuard<'_, HashMap<Option<TargetId>, Vec<String>>> {
        self.patterns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the listener closes the dialogs of a page.
    fn closes_dialogs(&self, target: &TargetId) -> bool {
        let pages = self.dialogs.lock().unwrap_or_else(PoisonError::into_inner);
        self.wants(EventKind::Dialog) && pages.contains(target)
    }

    fn wants(&self, kind: EventKind) -> bool {
        EventKinds::from_bits(self.kinds.load(Ordering::Relaxed)).has(kind)
    }

    /// Queues an event; beyond the limit it is only counted. Whether it was queued.
    fn send(&self, event: FeedEvent) -> bool {
        let Err(error) = self.sender.try_send(event) else { return true };
        let event = error.into_inner();
        let mut late = self.late_dialogs();
        if event.kind == EventKind::Dialog && late.len() < DIALOG_PAGES {
            late.push_back(event);
            return true;
        }
        self.dropped.fetch_add(1, Ordering::Relaxed);
        false
    }

    fn late_dialogs(&self) -> MutexGuard<'_, VecDeque<FeedEvent>> {
        self.late_dialogs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventFeed {
    fn listeners(&self) -> MutexGuard<'_, Vec<Arc<Listener>>> {
        self.inner.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts to listen, to nothing at first.
    #[must_use]
    pub fn subscribe(&self) -> Subscription {
        let (sender, receiver) = mpsc::channel(QUEUED_EVENTS);
        let listener = Arc::new(Listener {
            kinds: AtomicU32::new(0),
            sender,
            dropped: AtomicU64::new(0),
            dialogs: Mutex::default(),
            patterns: Mutex::default(),
            late_dialogs: Mutex::default(),
        });
        self.listeners().push(Arc::clone(&listener));
        Subscription { listener, receiver, feed: Arc::downgrade(&self.inner) }
    }

    /// Whether anyone listens to a kind of event.
    pub(crate) fn wants(&self, kind: EventKind) -> bool {
        EventKinds::from_bits(self.inner.wanted.load(Ordering::Relaxed)).has(kind)
    }

    /// Sends an event to everyone who listens to its kind. The facts are computed only then.
    pub(crate) fn emit(
        &self,
        kind: EventKind,
        target: &TargetId,
        facts: impl FnOnce() -> (Vec<String>, Value),
    ) {
        if !self.wants(kind) {
            return;
        }
        let (urls, data) = facts();
        let event = FeedEvent { kind, target: target.clone(), urls, data, question: None };
        let is_meant = |listener: &&Arc<Listener>| match kind {
            // Other clients of the session close the dialogs of their own pages.
            EventKind::Dialog => listener.closes_dialogs(target),
            kind => listener.wants(kind),
        };
        for listener in self.listeners().iter().filter(is_meant) {
            listener.send(event.clone());
        }
    }

    /// Whether a script closes the dialogs of a page.
    pub(crate) fn closes_dialogs(&self, target: &TargetId) -> bool {
        self.wants(EventKind::Dialog)
            && self.listeners().iter().any(|listener| listener.closes_dialogs(target))
    }

    /// The browser's patterns of requests that scripts are asked about in a page.
    pub(crate) fn patterns(&self, target: &TargetId) -> Vec<String> {
        let mut patterns = Vec::new();
        for listener in self.listeners().iter() {
            let own = listener.patterns();
            let lists = [own.get(&None), own.get(&Some(target.clone()))];
            patterns.extend(lists.into_iter().flatten().flatten().cloned());
        }
        patterns.sort_unstable();
        patterns.dedup();
        patterns
    }
}

/// The events of one listener. Dropping it ends the listener and its questions.
#[derive(Debug)]
pub struct Subscription {
    listener: Arc<Listener>,
    receiver: mpsc::Receiver<FeedEvent>,
    feed: Weak<Inner>,
}

impl Subscription {
    /// Listens to these kinds from now on.
    pub fn listen(&self, kinds: EventKinds) {
        self.listener.kinds.store(kinds.bits(), Ordering::Relaxed);
        self.update();
    }

    /// Whether the listener closes the dialogs of a page.
    #[must_use]
    pub fn closes_dialogs_of(&self, target: &TargetId) -> bool {
        self.listener.dialogs.lock().unwrap_or_else(PoisonError::into_inner).contains(target)
    }

    /// Closes the dialogs of a page from now on.
    pub fn close_dialogs_of(&self, target: TargetId) {
        let mut pages = self.listener.dialogs.lock().unwrap_or_else(PoisonError::into_inner);
        if pages.len() >= DIALOG_PAGES {
            // Pages that are gone stay in the set; those that are used come back with their next call.
            pages.clear();
        }
        pages.insert(target);
    }

    /// Sets the patterns of requests that the script is asked about: in one page, or in all.
    pub fn set_patterns(&self, target: Option<TargetId>, patterns: Vec<String>) {
        let mut own = self.listener.patterns();
        if patterns.is_empty() {
            own.remove(&target);
        } else {
            own.insert(target, patterns);
        }
    }

    /// The next event. Cancel safe. Never returns when the browser is gone.
    pub async fn next(&mut self) -> FeedEvent {
        if let Some(event) = self.listener.late_dialogs().pop_front() {
            return event;
        }
        match self.receiver.recv().await {
            Some(event) => event,
            None => std::future::pending().await,
        }
    }

    /// The next event that has already arrived.
    pub fn take_next(&mut self) -> Option<FeedEvent> {
        let late = self.listener.late_dialogs().pop_front();
        late.or_else(|| self.receiver.try_recv().ok())
    }

    /// How many events were dropped since the last call.
    #[must_use]
    pub fn take_dropped(&self) -> u64 {
        self.listener.dropped.swap(0, Ordering::Relaxed)
    }

    fn update(&self) {
        let Some(inner) = self.feed.upgrade() else { return };
        let listeners = inner.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        let all = listeners.iter().fold(0, |all, one| all | one.kinds.load(Ordering::Relaxed));
        inner.wanted.store(all, Ordering::Relaxed);
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let Some(inner) = self.feed.upgrade() else { return };
        let is_own = |other: &Arc<Listener>| Arc::ptr_eq(other, &self.listener);
        inner.listeners.lock().unwrap_or_else(PoisonError::into_inner).retain(|other| !is_own(other));
        let mut questions = inner.questions.lock().unwrap_or_else(PoisonError::into_inner);
        questions.retain(|_, asked| !asked.is_of(&self.listener));
        drop(questions);
        self.update();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_counts_what_it_drops() {
        let feed = EventFeed::default();
        let target = TargetId::new("t");
        let mut listener = feed.subscribe();
        feed.emit(EventKind::Load, &target, || unreachable!("no listener"));
        listener.listen(EventKinds::default().with(EventKind::Load));
        for _ in 0..QUEUED_EVENTS + 3 {
            feed.emit(EventKind::Load, &target, || (Vec::new(), Value::Null));
        }
        feed.emit(EventKind::Console, &target, || unreachable!("no listener"));
        assert_eq!((listener.take_dropped(), listener.take_dropped()), (3, 0));
        assert_eq!(std::iter::from_fn(|| listener.take_next()).count(), QUEUED_EVENTS);
        drop(listener);
        assert!(!feed.wants(EventKind::Load));
    }

    #[test]
    fn a_dialog_is_reported_though_the_queue_is_full() {
        let feed = EventFeed::default();
        let target = TargetId::new("t");
        let mut listener = feed.subscribe();
        listener.listen(EventKinds::default().with(EventKind::Load).with(EventKind::Dialog));
        listener.close_dialogs_of(target.clone());
        for _ in 0..QUEUED_EVENTS {
            feed.emit(EventKind::Load, &target, || (Vec::new(), Value::Null));
        }
        feed.emit(EventKind::Dialog, &target, || (Vec::new(), Value::Null));
        assert_eq!(listener.take_next().map(|event| event.kind), Some(EventKind::Dialog));
        assert_eq!(listener.take_dropped(), 0);
    }

    #[test]
    fn secrets_in_headers_and_bodies_can_be_masked() {
        let data = json!({
            "headers": [["Cookie", "a=canary"], ["X-A", "1"]], "post_data": "{\"password\":\"canary\"}",
            "post_bytes": "Y2FuYXJ5",
        });
        let mut event = FeedEvent {
            kind: EventKind::Request,
            target: TargetId::new("t"),
            urls: Vec::new(),
            data,
            question: None,
        };
        event.mask();
        assert!(!event.data.to_string().contains("canary"), "{}", event.data);
        assert!(!event.data.to_string().contains("Y2FuYXJ5"), "{}", event.data);
        assert!(event.data.to_string().contains("X-A"));
    }
}
