//! The cdp sessions of one connection: who listens, who descends from whom, what is held. No I/O, no locks.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};

use tabwire_wire::CdpSessionId;

use crate::error::CdpError;
use crate::event::{Event, Subscriber};
use crate::limits::{GONE_SESSIONS_REMEMBERED, HELD_EVENTS_PER_SESSION, HELD_SESSIONS};
use crate::session_state::{SessionLife, SessionState};

/// All cdp sessions of one connection.
#[derive(Debug, Default)]
pub(crate) struct SessionTable {
    entries: HashMap<CdpSessionId, Entry>,
    /// Listeners to the browser itself.
    root: Vec<Subscriber>,
    /// Unclaimed sessions, oldest first.
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
    /// Nobody has a handle yet: events are held (F21).
    Unclaimed(Held),
    /// Somebody has a handle. What was held is given to each listener until the first command is sent.
    Claimed { state: Weak<SessionState>, life: Arc<SessionLife>, held: Option<Held> },
    /// All handles were dropped: events are for nobody.
    Released,
}

#[derive(Debug, Default)]
struct Held {
    events: VecDeque<Event>,
    missed: u64,
}

/// What became of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// Given to those who listen, who may be none.
    Delivered,
    /// Kept until the session is claimed.
    Held,
    /// The session is gone, or nobody has it any more.
    Unclaimed,
}

impl SessionTable {
    /// Whether an event has any reader, so that it is worth building.
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

    /// Gives an event to its listeners, or holds it.
    pub(crate) fn deliver(&mut self, event: &Event) -> Delivery {
        let Some(session) = event.session() else {
            give(&mut self.root, event);
            return Delivery::Delivered;
        };
        if !self.entries.contains_key(session) {
            if self.gone.contains(session) {
                return Delivery::Unclaimed;
            }
            self.announce(session, None);
        }
        let Some(entry) = self.entries.get_mut(session) else { return Delivery::Unclaimed };
        give(&mut entry.subscribers, event);
        match &mut entry.stage {
            Stage::Unclaimed(held) => {
                held.hold(event.clone());
                Delivery::Held
            }
            Stage::Claimed { held, .. } => {
                if let Some(held) = held {
                    held.hold(event.clone());
                }
                Delivery::Delivered
            }
            Stage::Released => Delivery::Unclaimed,
        }
    }

    /// Learns of a session and its parent before anybody claims it.
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
        let entry = Entry { parent, stage: Stage::Unclaimed(Held::default()), subscribers: Vec::new() };
        self.entries.insert(session.clone(), entry);
        self.unclaimed.push_back(session.clone());
    }

    /// The handle's state for a session, made if it is claimed for the first time.
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

    /// Notes that a handle's state was dropped.
    pub(crate) fn release(&mut self, session: &CdpSessionId) {
        if let Some(entry) = self.entries.get_mut(session)
            && let Stage::Claimed { state, .. } = &entry.stage
            && state.strong_count() == 0
        {
            entry.stage = Stage::Released;
        }
    }

    /// Adds a listener, giving it what was held; one for a gone session is ended at once.
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

    /// Lets go of held events: the session's first command is being sent.
    pub(crate) fn finish_setup(&mut self, session: &CdpSessionId) {
        if let Some(entry) = self.entries.get_mut(session)
            && let Stage::Claimed { held, .. } = &mut entry.stage
        {
            *held = None;
        }
    }

    /// Removes a session and its descendants, ends their listeners, and names them.
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
            // Not through the state: as its last owner we would drop it under the router's lock.
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

    /// Ends every listener and forgets every session.
    pub(crate) fn close(&mut self, error: &CdpError) {
        let entries = std::mem::take(&mut self.entries);
        let listeners = entries.into_values().flat_map(|entry| entry.subscribers);
        for subscriber in listeners.chain(std::mem::take(&mut self.root)) {
            subscriber.sender.end(error.clone());
        }
        self.unclaimed.clear();
    }

    /// How many sessions are known.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// How many listeners there are whose readers have not left.
    pub(crate) fn listeners(&self) -> usize {
        let all = self.entries.values().flat_map(|entry| &entry.subscribers).chain(&self.root);
        all.filter(|subscriber| !subscriber.sender.is_abandoned()).count()
    }
}

fn give(subscribers: &mut Vec<Subscriber>, event: &Event) {
    subscribers.retain(|subscriber| {
        if subscriber.filter.accepts(event.method()) {
            subscriber.sender.deliver(event.clone());
        }
        !subscriber.sender.is_abandoned()
    });
}

impl Held {
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
