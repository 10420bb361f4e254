//! The targets of one browser, from its events. No I/O; the router updates it before event listeners run.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use tabwire_api::TargetId;

use crate::error::CdpError;
use crate::feed::{Feed, FeedSender, feed};
use crate::limits::EVENT_STREAM_BOUND;
use crate::protocol::target_info::TargetInfo;

/// The current targets, and the listeners to their changes.
#[derive(Debug, Default)]
pub(crate) struct TargetTable {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    /// In the order of their creation.
    targets: BTreeMap<u64, TargetInfo>,
    positions: HashMap<TargetId, u64>,
    listeners: Vec<(TargetChange, FeedSender<TargetInfo>)>,
    ended: Option<CdpError>,
}

/// The kind of change that a listener receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetChange {
    Created,
    Changed,
    Destroyed,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InfoParams {
    target_info: TargetInfo,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct IdParams {
    target_id: TargetId,
}

impl TargetTable {
    /// Updates the table from an event of the browser itself.
    pub(crate) fn observe(&self, method: &str, params: &str) {
        match method {
            "Target.targetCreated" | "Target.targetInfoChanged" => {
                let Ok(params) = serde_json::from_str::<InfoParams>(params) else { return };
                let mut state = self.lock();
                if method == "Target.targetCreated" {
                    state.create(params.target_info);
                } else {
                    state.change(params.target_info);
                }
            }
            "Target.targetDestroyed" => {
                let Ok(params) = serde_json::from_str::<IdParams>(params) else { return };
                self.lock().destroy(&params.target_id);
            }
            _ => {}
        }
    }

    pub(crate) fn list(&self) -> Vec<TargetInfo> {
        self.lock().targets.values().cloned().collect()
    }

    pub(crate) fn find(&self, target: &TargetId) -> Option<TargetInfo> {
        let state = self.lock();
        state.positions.get(target).and_then(|position| state.targets.get(position)).cloned()
    }

    pub(crate) fn listen(&self, change: TargetChange, name: &'static str) -> Feed<TargetInfo> {
        let (sender, feed) = feed(name.into(), EVENT_STREAM_BOUND);
        let mut state = self.lock();
        match &state.ended {
            Some(error) => sender.end(error.clone()),
            None => {
                state.listeners.retain(|(_, sender)| !sender.is_abandoned());
                state.listeners.push((change, sender));
            }
        }
        feed
    }

    pub(crate) fn close(&self, error: &CdpError) {
        let mut state = self.lock();
        state.targets.clear();
        state.positions.clear();
        state.ended = Some(error.clone());
        for (_, sender) in state.listeners.drain(..) {
            sender.end(error.clone());
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn create(&mut self, info: TargetInfo) {
        if self.positions.contains_key(&info.target_id) {
            self.change(info);
            return;
        }
        self.next += 1;
        self.positions.insert(info.target_id.clone(), self.next);
        self.notify(TargetChange::Created, &info);
        self.targets.insert(self.next, info);
    }

    fn change(&mut self, info: TargetInfo) {
        let position = self.positions.get(&info.target_id);
        if let Some(known) = position.and_then(|position| self.targets.get_mut(position)) {
            known.clone_from(&info);
            self.notify(TargetChange::Changed, &info);
        }
    }

    fn destroy(&mut self, target: &TargetId) {
        let position = self.positions.remove(target);
        if let Some(info) = position.and_then(|position| self.targets.remove(&position)) {
            self.notify(TargetChange::Destroyed, &info);
        }
    }

    fn notify(&mut self, change: TargetChange, info: &TargetInfo) {
        self.listeners.retain(|(wanted, sender)| {
            if *wanted == change {
                sender.deliver(info.clone());
            }
            !sender.is_abandoned()
        });
    }
}
