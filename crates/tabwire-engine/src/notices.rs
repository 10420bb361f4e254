//! What an action has to say besides its result, collected while it runs.

use std::sync::{Arc, Mutex, PoisonError};

/// How many notices one action gives.
const NOTICES: usize = 20;

/// The notices of one action; clones share them.
#[derive(Clone, Debug, Default)]
pub struct Notices(Arc<Mutex<Vec<String>>>);

impl Notices {
    /// Adds notices; the same one counts once.
    pub(crate) fn add(&self, notices: impl IntoIterator<Item = String>) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for notice in notices {
            if held.len() < NOTICES && !held.contains(&notice) {
                held.push(notice);
            }
        }
    }

    /// Takes what was collected.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
