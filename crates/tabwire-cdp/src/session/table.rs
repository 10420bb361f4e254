//! The CDP sessions of one connection: their parents, event listeners and held events.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};

use tabwire_api::CdpSessionId;

use crate::error::CdpError;
use crate::protocol::event::{Event, Subscriber};
use crate::session::state::{SessionLife, SessionState};

/// Detached CDP sessions remembered, so that their late events are not held again: 256.
const GONE_SESSIONS_REMEMBERED: usize = 256;

/// CDP sessions without a handle that may hold events at once; the oldest is dropped first: 256.
const HELD_SESSIONS: usize = 256;

/// Events held for one CDP session without a handle (F21): 256.
const HELD_EVENTS_PER_SESSION: usize = 256;

/// All CDP sessions of one connection.
#[derive(Debug, Default)]
pub(crate) struct SessionTable {
    entries: HashMap<CdpSessionId, Entry>,
    /// Listeners on the browser itself.
    root: Vec<Subscriber>,
    /// Sessions without a handle, oldest first.
    unclaimed: VecDeque<CdpSessionId>,
    gone: VecDeque<CdpSessionId>,
}

#[derive(Debug)]
struct Entry {
    parent: Option<CdpSessionId>,
    stage: Stage,
    subscribers: Vec<Subscriber>,
}

#[derive(Debug)]
enum Stage {
    /// No handle exists yet: events are held (F21).
    Unclaimed(HeldEvents),
    /// A handle exists. Each new listener gets the held events until the first command is sent.
    Claimed { state: Weak<SessionState>, life: Arc<SessionLife>, held: Option<HeldEvents> },
    /// All handles were dropped: events are discarded.
    Released,
}

#[derive(Debug, Default)]
struct HeldEvents {
    events: VecDeque<Event>,
    missed: u64,
}

impl SessionTable {
    /// Whether an event has a receiver.
    pub(crate) fn wants(&self, session: &str, method: &str) -> bool {
        let wanted = |subscribers: &[Subscriber]| subscribers.iter().any(|each| each.filter.accepts(method));
        if session.is_empty() {
            return wanted(&self.root);
        }
        match self.entries.get(session) {
            None => true,
            Some(entry) => match &entry.stage {
                Stage::Unclaimed(_) | Stage::Claimed { held: Some(_), .. } => true,
                Stage::Claimed { held: None, .. } => wanted(&entry.subscribers),
                Stage::Released => false,
            },
        }
    }

    /// Sends an event to its listeners, and holds it while the session is being set up.
    pub(crate) fn deliver(&mut self, event: &Event) {
        let Some(session) = event.session() else { return publish(&mut self.root, event) };
        if self.gone.contains(session) && !self.entries.contains_key(session) {
            return;
        }
        self.announce(session, None);
        let Some(entry) = self.entries.get_mut(session) else { return };
        publish(&mut entry.subscribers, event);
        match &mut entry.stage {
            Stage::Unclaimed(held) | Stage::Claimed { held: Some(held), .. } => held.hold(event.clone()),
            Stage::Claimed { held: None, .. } | Stage::Released => {}
        }
    }

    /// Records a session and its parent before a handle exists.
    pub(crate) fn announce(&mut self, session: &CdpSessionId, parent: Option<CdpSessionId>) {
        if let Some(entry) = self.entries.get_mut(session) {
            entry.parent = entry.parent.take().or(parent);
            return;
        }
        if self.unclaimed.len() >= HELD_SESSIONS
            && let Some(oldest) = self.unclaimed.pop_front()
        {
            self.entries.remove(&oldest);
        }
        let entry = Entry { parent, stage: Stage::Unclaimed(HeldEvents::default()), subscribers: Vec::new() };
        self.entries.insert(session.clone(), entry);
        self.unclaimed.push_back(session.clone());
    }

    /// The shared state of the session's handles; `make` creates it for the first handle.
    pub(crate) fn claim(
        &mut self,
        session: &CdpSessionId,
        make: impl FnOnce() -> Arc<SessionState>,
    ) -> Arc<SessionState> {
        if self.gone.contains(session) {
            let state = make();
            state.life().end();
            return state;
        }
        self.announce(session, None);
        self.unclaimed.retain(|unclaimed| unclaimed != session);
        let Some(entry) = self.entries.get_mut(session) else { return make() };
        if let Stage::Claimed { state, .. } = &entry.stage
            && let Some(state) = state.upgrade()
        {
            return state;
        }
        let state = make();
        let held = match std::mem::replace(&mut entry.stage, Stage::Released) {
            Stage::Unclaimed(held) => Some(held),
            Stage::Claimed { .. } | Stage::Released => None,
        };
        entry.stage = Stage::Claimed { state: Arc::downgrade(&state), life: Arc::clone(state.life()), held };
        state
    }

    /// Called when the last handle was dropped.
    pub(crate) fn release(&mut self, session: &CdpSessionId) {
        if let Some(entry) = self.entries.get_mut(session)
            && let Stage::Claimed { state, .. } = &entry.stage
            && state.strong_count() == 0
        {
            entry.stage = Stage::Released;
        }
    }

    /// Adds a listener and sends it the held events. A listener on a detached session ends at once.
    pub(crate) fn subscribe(&mut self, session: Option<&CdpSessionId>, subscriber: Subscriber) {
        let Some(session) = session else {
            self.root.retain(|each| !each.sender.is_abandoned());
            self.root.push(subscriber);
            return;
        };
        let Some(entry) = self.entries.get_mut(session) else {
            subscriber.sender.end(CdpError::SessionGone { session: session.clone() });
            return;
        };
        if let Stage::Claimed { held: Some(held), .. } = &entry.stage {
            held.replay(&subscriber);
        }
        entry.subscribers.retain(|each| !each.sender.is_abandoned());
        entry.subscribers.push(subscriber);
    }

    /// Drops held events: the session's first command is being sent.
    pub(crate) fn finish_setup(&mut self, session: &CdpSessionId) {
        if let Some(entry) = self.entries.get_mut(session)
            && let Stage::Claimed { held, .. } = &mut entry.stage
        {
            *held = None;
        }
    }

    /// Removes a session and its descendants, ends their listeners and returns their ids.
    pub(crate) fn detach(&mut self, session: &CdpSessionId) -> Vec<CdpSessionId> {
        let mut gone = vec![session.clone()];
        let mut next = 0;
        while let Some(parent) = gone.get(next).cloned() {
            next += 1;
            let children = self.entries.iter().filter(|(_, entry)| entry.parent.as_ref() == Some(&parent));
            let children: Vec<CdpSessionId> = children.map(|(child, _)| child.clone()).collect();
            gone.extend(children.into_iter().filter(|child| *child != parent));
            self.remove(&parent);
        }
        gone
    }

    fn remove(&mut self, session: &CdpSessionId) {
        if let Some(entry) = self.entries.remove(session) {
            // `life`, not `state`: upgrading `state` could make this the last handle, and its drop takes the router's
            // lock, which is held here.
            if let Stage::Claimed { life, .. } = &entry.stage {
                life.end();
            }
            for subscriber in entry.subscribers {
                subscriber.sender.end(CdpError::SessionGone { session: session.clone() });
            }
        }
        self.unclaimed.retain(|unclaimed| unclaimed != session);
        if self.gone.len() >= GONE_SESSIONS_REMEMBERED {
            self.gone.pop_front();
        }
        self.gone.push_back(session.clone());
    }

    /// Ends every listener and removes every session.
    pub(crate) fn close(&mut self, error: &CdpError) {
        let entries = std::mem::take(&mut self.entries);
        let listeners = entries.into_values().flat_map(|entry| entry.subscribers);
        for subscriber in listeners.chain(std::mem::take(&mut self.root)) {
            subscriber.sender.end(error.clone());
        }
        self.unclaimed.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The listeners whose readers are alive.
    pub(crate) fn listeners(&self) -> usize {
        let all = self.entries.values().flat_map(|entry| &entry.subscribers).chain(&self.root);
        all.filter(|subscriber| !subscriber.sender.is_abandoned()).count()
    }
}

fn publish(subscribers: &mut Vec<Subscriber>, event: &Event) {
    subscribers.retain(|subscriber| {
        if subscriber.filter.accepts(event.method()) {
            subscriber.sender.deliver(event.clone());
        }
        !subscriber.sender.is_abandoned()
    });
}

impl HeldEvents {
    fn hold(&mut self, event: Event) {
        if self.events.len() >= HELD_EVENTS_PER_SESSION {
            self.missed += 1;
        } else {
            self.events.push_back(event);
        }
    }

    fn replay(&self, subscriber: &Subscriber) {
        for event in self.events.iter().filter(|event| subscriber.filter.accepts(event.method())) {
            subscriber.sender.deliver(event.clone());
        }
        if self.missed > 0 {
            subscriber.sender.miss(self.missed);
        }
    }
}
