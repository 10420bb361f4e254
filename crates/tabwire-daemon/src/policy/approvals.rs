//! The queue of approval requests. A request that is not decided in time is denied.
//!
//! Front ends that can ask the user watch the queue and submit decisions: the extension, MCP clients, the CLI.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tabwire_api::{CallNumber, ClientName, ErrorCode, Failure, Remedy, SessionKey, Step};
use tabwire_audit::ClientInfo;
use tabwire_policy::ApprovalWait;
use tokio::sync::{oneshot, watch};

use crate::audit::event::Event;
use crate::audit::writer::AuditWriter;
use crate::limits::{APPROVAL_DEADLINE, APPROVALS};
use crate::policy::store::now;

/// How long a client that polls for approval requests counts as present between two polls.
const WATCHER_GRACE: Duration = Duration::from_secs(3);

/// Decided approval requests that are kept for display.
const APPROVALS_DECIDED: usize = 10;

/// The id of a request, such as `a3`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ApprovalId(String);

impl std::fmt::Display for ApprovalId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(&self.0)
    }
}

/// What the user is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ApprovalRequest {
    /// The client, as the daemon knows it.
    pub who: String,
    /// The agent's name, as its user knows it.
    pub agent: String,
    /// The name the client gives itself.
    pub client: Option<ClientName>,
    /// The MCP call that waits, if its client can ask its user.
    #[serde(skip)]
    pub call: Option<CallNumber>,
    /// The session it works in.
    pub session: String,
    /// The action.
    pub action: String,
    /// The site, never with a path or query.
    pub site: String,
    /// The capability that would be granted.
    pub capability: &'static str,
    /// Why the user is asked.
    pub why: String,
}

/// A request that waits for a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PendingApproval {
    /// Its id.
    pub id: ApprovalId,
    /// The request.
    #[serde(flatten)]
    pub request: ApprovalRequest,
    /// Seconds until it is denied.
    pub seconds_left: u64,
}

/// A decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalDecision {
    /// Allow this action.
    Once,
    /// Allow until the session ends.
    Session,
    /// Allow this agent from now on.
    Agent,
    /// Allow every agent from now on.
    Always,
    /// Deny.
    No,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalOutcome {
    /// The user decided.
    Decided(ApprovalDecision),
    /// There was no decision in time.
    Expired,
    /// No front end that can ask the user is connected.
    NoWatcher,
}

/// The requests that wait, and the watchers that can ask the user.
#[derive(Debug, Default)]
pub struct ApprovalQueue {
    state: Mutex<State>,
    /// Counts changes, for watchers.
    changes: watch::Sender<u64>,
    /// Where questions are recorded.
    audit: Option<Arc<AuditWriter>>,
}

/// A decided request, and where it was decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DecidedApproval {
    /// Its id.
    pub id: ApprovalId,
    /// The request.
    #[serde(flatten)]
    pub request: ApprovalRequest,
    /// The decision.
    pub answer: ApprovalDecision,
    /// Where it was made.
    pub by: String,
    /// When, in seconds since 1970.
    pub when: u64,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    pending: BTreeMap<ApprovalId, PendingEntry>,
    /// Watchers, and the requests that each can show.
    watchers: BTreeMap<u64, WatchScope>,
    /// The latest decided requests, the newest first.
    decided: VecDeque<DecidedApproval>,
    /// When a watcher of all requests was last dropped.
    last_seen: Option<Instant>,
}

/// The requests that a watcher can show to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
enum WatchScope {
    All,
    Call(CallNumber),
    Client(ClientName),
}

#[derive(Debug)]
struct PendingEntry {
    request: ApprovalRequest,
    until: Instant,
    answer: oneshot::Sender<ApprovalDecision>,
}

/// A front end that can ask the user, until it is dropped.
#[derive(Debug)]
pub struct ApprovalWatcher {
    queue: Arc<ApprovalQueue>,
    number: u64,
    watched: WatchScope,
}

/// Removes a request when its action no longer waits.
struct PendingGuard<'a> {
    queue: &'a ApprovalQueue,
    id: ApprovalId,
}

impl Drop for PendingGuard<'_> {
    fn drop(&mut self) {
        let removed = self.queue.state().pending.remove(&self.id);
        if let Some(waiting) = removed {
            let event = Event::QuestionExpired { id: self.id.to_string() };
            self.queue.record(&event, &waiting.request);
        }
        self.queue.notify();
    }
}

impl ApprovalQueue {
    /// A queue whose questions are recorded in the audit log.
    pub(crate) fn recorded(audit: &Arc<AuditWriter>) -> Arc<Self> {
        Arc::new(Self { audit: Some(Arc::clone(audit)), ..Self::default() })
    }

    fn record(&self, event: &Event, request: &ApprovalRequest) {
        if let Some(audit) = &self.audit {
            let client = ClientInfo { name: Some(request.agent.clone()), ..ClientInfo::default() };
            event.record(audit, SessionKey::find(&request.session).unwrap_or_default(), client, None);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a request of this session and client waits for a decision.
    pub(crate) fn has_pending(&self, session: &str, client: Option<&ClientName>) -> bool {
        let state = self.state();
        let mut pending = state.pending.values().map(|waiting| &waiting.request);
        pending.any(|request| request.session == session && request.client.as_ref() == client)
    }

    fn notify(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// Receives a count of changes.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// The latest decided requests, the newest first.
    #[must_use]
    pub fn decided(&self) -> Vec<DecidedApproval> {
        self.state().decided.iter().cloned().collect()
    }

    /// Whether the user can be asked now.
    pub fn is_watched(&self) -> bool {
        self.state().is_watched(None, None)
    }

    /// Adds a request and waits for the decision.
    pub async fn ask(&self, request: ApprovalRequest, wait: ApprovalWait) -> ApprovalOutcome {
        let (answer, decided) = oneshot::channel();
        let id = {
            let mut state = self.state();
            let is_watched = state.is_watched(request.call, request.client.as_ref());
            if wait == ApprovalWait::IfApproverConnected && !is_watched {
                return ApprovalOutcome::NoWatcher;
            }
            if state.pending.len() >= APPROVALS {
                return ApprovalOutcome::Expired;
            }
            state.next += 1;
            let id = ApprovalId(format!("a{}", state.next));
            let until = Instant::now() + APPROVAL_DEADLINE;
            let event = Event::QuestionAsked {
                id: id.to_string(),
                action: request.action.clone(),
                site: request.site.clone(),
                capability: request.capability,
            };
            self.record(&event, &request);
            state.pending.insert(id.clone(), PendingEntry { request, until, answer });
            id
        };
        self.notify();
        let _pending = PendingGuard { queue: self, id };
        match tokio::time::timeout(APPROVAL_DEADLINE, decided).await {
            Ok(Ok(answer)) => ApprovalOutcome::Decided(answer),
            _ => ApprovalOutcome::Expired,
        }
    }

    /// The waiting requests, oldest first; those of one call, or all.
    pub fn pending(&self, call: Option<CallNumber>) -> Vec<PendingApproval> {
        let state = self.state();
        let now = Instant::now();
        let mut waiting: Vec<_> = state
            .pending
            .iter()
            .filter(|(_, waiting)| call.is_none() || waiting.request.call == call)
            .collect();
        waiting.sort_by_key(|(_, waiting)| waiting.until);
        waiting
            .into_iter()
            .map(|(id, waiting)| PendingApproval {
                id: id.clone(),
                request: waiting.request.clone(),
                seconds_left: waiting.until.saturating_duration_since(now).as_secs(),
            })
            .collect()
    }

    /// Decides a request; `by` says where. The first decision counts.
    ///
    /// # Errors
    /// When it is decided already, or expired.
    pub fn answer(&self, id: &str, answer: ApprovalDecision, by: &str) -> Result<ApprovalRequest, Failure> {
        let id = ApprovalId(id.to_owned());
        let waiting = self.state().pending.remove(&id);
        let gone = || {
            Failure::new(
                ErrorCode::BadArgs,
                format!("There is no approval request `{id}`. It is decided or expired."),
            )
            .with_remedy(Remedy::new("Run {} to list them.", [Step::command("tabwire approvals")]))
        };
        let waiting = waiting.ok_or_else(gone)?;
        waiting.answer.send(answer).map_err(|_| gone())?;
        let request = waiting.request;
        {
            let mut state = self.state();
            let (by, request) = (by.to_owned(), request.clone());
            let when = now();
            state.decided.push_front(DecidedApproval { id: id.clone(), request, answer, by, when });
            state.decided.truncate(APPROVALS_DECIDED);
        }
        self.notify();
        Ok(request)
    }

    /// Watches all requests.
    #[must_use]
    pub fn watch(self: &Arc<Self>) -> ApprovalWatcher {
        self.watch_for(|_| WatchScope::All)
    }

    /// Watches the requests of one call, and numbers the call.
    #[must_use]
    pub fn watch_call(self: &Arc<Self>) -> ApprovalWatcher {
        self.watch_for(|number| WatchScope::Call(CallNumber(number)))
    }

    /// Watches the requests of one client.
    #[must_use]
    pub(crate) fn watch_client(self: &Arc<Self>, client: ClientName) -> ApprovalWatcher {
        self.watch_for(|_| WatchScope::Client(client))
    }

    fn watch_for(self: &Arc<Self>, which: impl FnOnce(u64) -> WatchScope) -> ApprovalWatcher {
        let mut state = self.state();
        state.next += 1;
        let number = state.next;
        let watched = which(number);
        state.watchers.insert(number, watched.clone());
        drop(state);
        ApprovalWatcher { queue: Arc::clone(self), number, watched }
    }
}

impl State {
    fn is_watched(&self, call: Option<CallNumber>, client: Option<&ClientName>) -> bool {
        let is_for = |watched: &WatchScope| match watched {
            WatchScope::All => true,
            WatchScope::Call(number) => call == Some(*number),
            WatchScope::Client(name) => client == Some(name),
        };
        self.watchers.values().any(is_for)
            || self.last_seen.is_some_and(|seen| seen.elapsed() < WATCHER_GRACE)
    }
}

impl ApprovalWatcher {
    /// The call that is watched, if it is one.
    #[must_use]
    pub const fn call(&self) -> Option<CallNumber> {
        match self.watched {
            WatchScope::Call(call) => Some(call),
            WatchScope::All | WatchScope::Client(_) => None,
        }
    }

    /// The waiting requests, as soon as there are any; empty after the timeout.
    pub async fn next(&self, timeout: Duration) -> Vec<PendingApproval> {
        let mut changes = self.queue.changes();
        let waiting = async {
            loop {
                // Marked before the check, so that no change in between is missed.
                changes.mark_unchanged();
                let pending = self.queue.pending(self.call());
                if !pending.is_empty() {
                    return pending;
                }
                if changes.changed().await.is_err() {
                    return Vec::new();
                }
            }
        };
        tokio::time::timeout(timeout, waiting).await.unwrap_or_default()
    }
}

impl Drop for ApprovalWatcher {
    fn drop(&mut self) {
        let mut state = self.queue.state();
        state.watchers.remove(&self.number);
        if self.watched == WatchScope::All {
            // A client that polls is not gone between two polls.
            state.last_seen = Some(Instant::now());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(call: Option<CallNumber>) -> ApprovalRequest {
        ApprovalRequest {
            who: "a test".to_owned(),
            agent: "A test".to_owned(),
            client: ClientName::new("one").ok(),
            call,
            session: "default".to_owned(),
            action: "click".to_owned(),
            site: "https://a.test".to_owned(),
            capability: "act",
            why: "no grant allows it".to_owned(),
        }
    }

    #[tokio::test]
    async fn a_request_is_decided_once() {
        let queue = Arc::new(ApprovalQueue::default());
        let watcher = queue.watch_call();
        let asking = queue.ask(request(watcher.call()), ApprovalWait::IfApproverConnected);
        let decision = async {
            let pending = watcher.next(Duration::from_secs(5)).await;
            let id = pending[0].id.to_string();
            queue.answer(&id, ApprovalDecision::Session, "a test").expect("it waits");
            queue.answer(&id, ApprovalDecision::No, "elsewhere").expect_err("only once")
        };
        let (outcome, again) = tokio::join!(asking, decision);
        assert_eq!(outcome, ApprovalOutcome::Decided(ApprovalDecision::Session));
        assert_eq!(again.code, ErrorCode::BadArgs);
        let decided = queue.decided();
        let listed: Vec<_> = decided.iter().map(|one| (one.answer, one.by.as_str())).collect();
        assert_eq!(listed, [(ApprovalDecision::Session, "a test")], "the first decision counts");
        assert!(queue.pending(None).is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_is_denied_without_watcher_and_after_the_deadline() {
        let queue = Arc::new(ApprovalQueue::default());
        let (other, own) = (queue.watch_call(), queue.watch_call().call());
        for call in [None, own] {
            let outcome = queue.ask(request(call), ApprovalWait::IfApproverConnected).await;
            assert_eq!(
                outcome,
                ApprovalOutcome::NoWatcher,
                "a watcher of another call does not decide {call:?}"
            );
        }
        let started = tokio::time::Instant::now();
        assert_eq!(queue.ask(request(None), ApprovalWait::UntilTimeout).await, ApprovalOutcome::Expired);
        assert_eq!(started.elapsed().as_secs(), APPROVAL_DEADLINE.as_secs());
        drop(other);
        assert!(queue.pending(None).is_empty() && queue.state().watchers.is_empty());
    }

    #[tokio::test]
    async fn a_watcher_of_a_client_counts_for_its_requests_only() {
        let queue = Arc::new(ApprovalQueue::default());
        let own = queue.watch_client(ClientName::new("one").expect("a name"));
        assert!(queue.state().is_watched(None, ClientName::new("one").ok().as_ref()));
        assert!(!queue.state().is_watched(None, ClientName::new("two").ok().as_ref()));
        assert!(!queue.is_watched(), "others are not asked through it");
        drop(own);
        assert!(!queue.state().is_watched(None, ClientName::new("one").ok().as_ref()), "no grace");
    }

    #[tokio::test]
    async fn a_cancelled_request_is_removed() {
        let queue = Arc::new(ApprovalQueue::default());
        let asking = queue.ask(request(None), ApprovalWait::UntilTimeout);
        let _ = tokio::time::timeout(Duration::ZERO, asking).await;
        assert!(queue.pending(None).is_empty());
    }
}
