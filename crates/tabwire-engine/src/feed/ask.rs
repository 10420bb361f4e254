//! Questions to a script: what happens to a paused request.

use std::sync::{Arc, PoisonError};

use serde_json::Value;
use tabwire_api::TargetId;
use tokio::sync::oneshot;

use super::{EventFeed, EventKind, FeedEvent, Listener};
use crate::network::{AbortReason, Change, MockResponse};

/// Paused requests that wait for scripts. Beyond this they go on.
const OPEN_QUESTIONS: usize = 1_000;

/// What a script decides about a paused request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RouteDecision {
    /// It goes on as if there were no script.
    Pass,
    /// It fails.
    Abort(AbortReason),
    /// It is fulfilled.
    Fulfil(MockResponse),
    /// It is changed and continued.
    Continue(Change),
}

/// A question that waits for its decision.
#[derive(Debug)]
pub(crate) struct PendingDecision {
    listener: Arc<Listener>,
    decision: oneshot::Sender<RouteDecision>,
}

impl PendingDecision {
    pub(super) fn is_of(&self, listener: &Arc<Listener>) -> bool {
        Arc::ptr_eq(&self.listener, listener)
    }
}

impl EventFeed {
    /// Asks the scripts that route requests of this page, the newest first. Returns a receiver for each.
    pub(crate) fn ask_route(
        &self,
        target: &TargetId,
        urls: &[String],
        facts: &Value,
    ) -> Option<oneshot::Receiver<RouteDecision>> {
        let listeners = self.listeners();
        let routes = |listener: &&Arc<Listener>| {
            let patterns = listener.patterns();
            patterns.contains_key(&None) || patterns.contains_key(&Some(target.clone()))
        };
        let listener = listeners.iter().rev().find(routes)?;
        let mut questions = self.inner.questions.lock().unwrap_or_else(PoisonError::into_inner);
        if questions.len() >= OPEN_QUESTIONS {
            return None;
        }
        let id = self.inner.last_question.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
        let event = FeedEvent {
            kind: EventKind::Route,
            target: target.clone(),
            urls: urls.to_vec(),
            data: facts.clone(),
            question: Some(id),
        };
        if !listener.send(event) {
            return None;
        }
        let (decision, receiver) = oneshot::channel();
        questions.insert(id, PendingDecision { listener: Arc::clone(listener), decision });
        Some(receiver)
    }

    /// Decides a question. False when no client waits for the decision any more.
    pub(crate) fn decide(&self, question: u64, decision: RouteDecision) -> bool {
        let mut questions = self.inner.questions.lock().unwrap_or_else(PoisonError::into_inner);
        questions.remove(&question).is_some_and(|asked| asked.decision.send(decision).is_ok())
    }

    /// Lets a paused request go on, because its question is not shown to the script.
    pub fn pass(&self, question: u64) {
        self.decide(question, RouteDecision::Pass);
    }

    /// Removes a question that no client waits for.
    pub(crate) fn forget_closed_questions(&self) {
        let mut questions = self.inner.questions.lock().unwrap_or_else(PoisonError::into_inner);
        questions.retain(|_, asked| !asked.decision.is_closed());
    }
}
