//! The name that the browser's user sees for a client: in the extension's popup and as the title of a tab group.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tabwire_api::TargetId;

/// Targets with a name of their own; above this the client's own name is shown.
const TARGETS_NAMED: usize = 1024;

/// How a client is shown at one target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShownClient {
    pub(crate) name: String,
    /// What its tab group stands for: the name, or one chat of the agent.
    pub(crate) group: String,
}

/// The name of a client, and other names for some of its targets: the engine of a session drives the tabs of several
/// agents. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClientLabel(Arc<Mutex<Names>>);

#[derive(Debug, Default)]
struct Names {
    own: String,
    targets: HashMap<TargetId, ShownClient>,
}

impl ClientLabel {
    pub(crate) fn new(name: impl Into<String>) -> Self {
        Self(Arc::new(Mutex::new(Names { own: name.into(), targets: HashMap::new() })))
    }

    fn names(&self) -> MutexGuard<'_, Names> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client's own name.
    pub(crate) fn own(&self) -> String {
        self.names().own.clone()
    }

    /// What to show for a target.
    pub(crate) fn of_target(&self, target: &TargetId) -> ShownClient {
        let names = self.names();
        let own = || ShownClient { name: names.own.clone(), group: names.own.clone() };
        names.targets.get(target).cloned().unwrap_or_else(own)
    }

    /// Replaces the client's own name.
    pub(crate) fn set_own(&self, name: &str) {
        name.clone_into(&mut self.names().own);
    }

    /// Names the agent that drives a target.
    pub(crate) fn set_target(&self, target: &TargetId, client: ShownClient) {
        let mut names = self.names();
        if names.targets.len() < TARGETS_NAMED || names.targets.contains_key(target) {
            names.targets.insert(target.clone(), client);
        }
    }

    /// Drops the names of closed targets.
    pub(crate) fn retain(&self, is_open: impl Fn(&TargetId) -> bool) {
        self.names().targets.retain(|target, _| is_open(target));
    }
}
