//! Where somebody is asked whether something may be done: who asks, what, where; answered in time, or no.
//!
//! Knows nothing of how people are reached: whoever can reach one attends and hands the answer in.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tabwire_policy::Patience;
use tabwire_wire::{CallNumber, ClientName, ErrorCode, Failure};
use tokio::sync::{oneshot, watch};

use crate::limits::{APPROVAL_DEADLINE, APPROVALS, APPROVALS_DECIDED, ATTENDANCE_GRACE};

/// The id of a question, such as `a3`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ApprovalId(String);

impl std::fmt::Display for ApprovalId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(&self.0)
    }
}

/// What somebody is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ApprovalQuestion {
    /// Who asks, as the daemon knows it.
    pub who: String,
    /// The name the client gives itself.
    pub client: Option<ClientName>,
    /// The call that cannot go on, when whoever sits at its client can be asked.
    #[serde(skip)]
    pub call: Option<CallNumber>,
    /// The session it works in.
    pub session: String,
    /// The action it wants to do.
    pub action: String,
    /// Where: a site, never with a path or query.
    pub site: String,
    /// What would be allowed.
    pub capability: &'static str,
    /// Why somebody is asked.
    pub why: String,
}

/// A question that waits for its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PendingApproval {
    /// Its id.
    pub id: ApprovalId,
    /// What is asked.
    #[serde(flatten)]
    pub question: ApprovalQuestion,
    /// Until it counts as no.
    pub seconds_left: u64,
}

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalAnswer {
    /// This one time.
    Once,
    /// For as long as the session lasts.
    Session,
    /// From now on.
    Always,
    /// No.
    No,
}

/// How a question ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Somebody answered.
    Answered(ApprovalAnswer),
    /// Nobody answered in time.
    Unanswered,
    /// Nobody is there who could.
    NobodyThere,
}

/// The questions that wait, and who is there to answer.
#[derive(Debug, Default)]
pub struct ApprovalDesk {
    state: Mutex<State>,
    /// Counts changes, for those who wait for one.
    changes: watch::Sender<u64>,
}

/// A question that was answered, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DecidedApproval {
    /// Its id.
    pub id: ApprovalId,
    /// What was asked.
    #[serde(flatten)]
    pub question: ApprovalQuestion,
    /// The answer.
    pub answer: ApprovalAnswer,
    /// Where it was given.
    pub by: String,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    pending: BTreeMap<ApprovalId, Waiting>,
    /// Those who attend, each for one call's questions or for everybody's.
    attending: BTreeMap<u64, Option<CallNumber>>,
    /// What was answered lately, the newest first.
    decided: VecDeque<DecidedApproval>,
    /// When somebody last attended to everybody's questions.
    last_seen: Option<Instant>,
}

#[derive(Debug)]
struct Waiting {
    question: ApprovalQuestion,
    until: Instant,
    answer: oneshot::Sender<ApprovalAnswer>,
}

/// Somebody who is there to answer; leaves when dropped.
#[derive(Debug)]
pub struct Attendance {
    desk: Arc<ApprovalDesk>,
    number: u64,
    call: Option<CallNumber>,
}

/// A question, taken away when nobody waits for its answer any more.
struct Asked<'a> {
    desk: &'a ApprovalDesk,
    id: ApprovalId,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        self.desk.state().pending.remove(&self.id);
        self.desk.has_changed();
    }
}

impl ApprovalDesk {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// Tells when questions come, are answered or go.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// What was answered lately, the newest first.
    #[must_use]
    pub fn decided(&self) -> Vec<DecidedApproval> {
        self.state().decided.iter().cloned().collect()
    }

    /// Asks, and waits for the answer.
    pub async fn ask(&self, question: ApprovalQuestion, patience: Patience) -> Outcome {
        let (answer, answered) = oneshot::channel();
        let id = {
            let mut state = self.state();
            let is_somebody_there = state.is_attended(question.call);
            if patience == Patience::IfSomebodyIsThere && !is_somebody_there {
                return Outcome::NobodyThere;
            }
            if state.pending.len() >= APPROVALS {
                return Outcome::Unanswered;
            }
            state.next += 1;
            let id = ApprovalId(format!("a{}", state.next));
            let until = Instant::now() + APPROVAL_DEADLINE;
            state.pending.insert(id.clone(), Waiting { question, until, answer });
            id
        };
        self.has_changed();
        let _asked = Asked { desk: self, id };
        match tokio::time::timeout(APPROVAL_DEADLINE, answered).await {
            Ok(Ok(answer)) => Outcome::Answered(answer),
            _ => Outcome::Unanswered,
        }
    }

    /// The questions that wait, oldest first; those of one call, or all.
    pub fn pending(&self, call: Option<CallNumber>) -> Vec<PendingApproval> {
        let state = self.state();
        let now = Instant::now();
        let mut waiting: Vec<_> = state
            .pending
            .iter()
            .filter(|(_, waiting)| call.is_none() || waiting.question.call == call)
            .collect();
        waiting.sort_by_key(|(_, waiting)| waiting.until);
        waiting
            .into_iter()
            .map(|(id, waiting)| PendingApproval {
                id: id.clone(),
                question: waiting.question.clone(),
                seconds_left: waiting.until.saturating_duration_since(now).as_secs(),
            })
            .collect()
    }

    /// Answers a question; `by` says where. The first answer is the one that counts.
    ///
    /// # Errors
    /// When it is answered already, or its time is up.
    pub fn answer(&self, id: &str, answer: ApprovalAnswer, by: &str) -> Result<ApprovalQuestion, Failure> {
        let id = ApprovalId(id.to_owned());
        let waiting = self.state().pending.remove(&id);
        let gone = || {
            Failure::new(ErrorCode::BadArgs, format!("There is no question `{id}`: answered, or too late."))
                .with_hint("Run `tabwire approvals` to see those there are.")
        };
        let waiting = waiting.ok_or_else(gone)?;
        waiting.answer.send(answer).map_err(|_| gone())?;
        let question = waiting.question;
        {
            let mut state = self.state();
            let (by, question) = (by.to_owned(), question.clone());
            state.decided.push_front(DecidedApproval { id: id.clone(), question, answer, by });
            state.decided.truncate(APPROVALS_DECIDED);
        }
        self.has_changed();
        Ok(question)
    }

    /// Somebody is there from now on, for everybody's questions.
    #[must_use]
    pub fn attend(self: &Arc<Self>) -> Attendance {
        self.attend_to(|_| None)
    }

    /// Somebody is there from now on for the questions of one call, which gets a number for it.
    #[must_use]
    pub fn attend_call(self: &Arc<Self>) -> Attendance {
        self.attend_to(|number| Some(CallNumber(number)))
    }

    fn attend_to(self: &Arc<Self>, which: impl FnOnce(u64) -> Option<CallNumber>) -> Attendance {
        let mut state = self.state();
        state.next += 1;
        let number = state.next;
        let call = which(number);
        state.attending.insert(number, call);
        drop(state);
        Attendance { desk: Arc::clone(self), number, call }
    }
}

impl State {
    fn is_attended(&self, call: Option<CallNumber>) -> bool {
        let is_for = |whose: &Option<CallNumber>| whose.is_none() || *whose == call;
        self.attending.values().any(is_for)
            || self.last_seen.is_some_and(|seen| seen.elapsed() < ATTENDANCE_GRACE)
    }
}

impl Attendance {
    /// The call that somebody is there for; none for everybody's.
    #[must_use]
    pub const fn call(&self) -> Option<CallNumber> {
        self.call
    }

    /// The questions that wait, as soon as there are any; none when there are none in time.
    pub async fn next(&self, patience: Duration) -> Vec<PendingApproval> {
        let mut changes = self.desk.changes();
        let waiting = async {
            loop {
                // Listening before looking, so that nothing that comes in between is missed.
                changes.mark_unchanged();
                let pending = self.desk.pending(self.call);
                if !pending.is_empty() {
                    return pending;
                }
                if changes.changed().await.is_err() {
                    return Vec::new();
                }
            }
        };
        tokio::time::timeout(patience, waiting).await.unwrap_or_default()
    }
}

impl Drop for Attendance {
    fn drop(&mut self) {
        let mut state = self.desk.state();
        state.attending.remove(&self.number);
        if self.call.is_none() {
            // Somebody who asks again and again is not gone in between.
            state.last_seen = Some(Instant::now());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(call: Option<CallNumber>) -> ApprovalQuestion {
        ApprovalQuestion {
            who: "a test".to_owned(),
            client: ClientName::new("one").ok(),
            call,
            session: "default".to_owned(),
            action: "click".to_owned(),
            site: "https://a.test".to_owned(),
            capability: "act",
            why: "nobody has allowed it".to_owned(),
        }
    }

    #[tokio::test]
    async fn a_question_is_answered_once_by_whoever_attends() {
        let desk = Arc::new(ApprovalDesk::default());
        let attendance = desk.attend_call();
        let asking = desk.ask(question(attendance.call()), Patience::IfSomebodyIsThere);
        let answering = async {
            let pending = attendance.next(Duration::from_secs(5)).await;
            let id = pending[0].id.to_string();
            desk.answer(&id, ApprovalAnswer::Session, "a test").expect("it waits");
            desk.answer(&id, ApprovalAnswer::No, "elsewhere").expect_err("only once")
        };
        let (outcome, again) = tokio::join!(asking, answering);
        assert_eq!(outcome, Outcome::Answered(ApprovalAnswer::Session));
        assert_eq!(again.code, ErrorCode::BadArgs);
        let decided = desk.decided();
        let told: Vec<_> = decided.iter().map(|one| (one.answer, one.by.as_str())).collect();
        assert_eq!(told, [(ApprovalAnswer::Session, "a test")], "the first answer is the one that counts");
        assert!(desk.pending(None).is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_there_is_no_at_once_and_nobody_answering_is_no_in_time() {
        let desk = Arc::new(ApprovalDesk::default());
        let (other, own) = (desk.attend_call(), desk.attend_call().call());
        for call in [None, own] {
            let outcome = desk.ask(question(call), Patience::IfSomebodyIsThere).await;
            assert_eq!(
                outcome,
                Outcome::NobodyThere,
                "who attends to another call answers nothing of {call:?}"
            );
        }
        let started = tokio::time::Instant::now();
        assert_eq!(desk.ask(question(None), Patience::Wait).await, Outcome::Unanswered);
        assert_eq!(started.elapsed().as_secs(), APPROVAL_DEADLINE.as_secs());
        drop(other);
        assert!(desk.pending(None).is_empty() && desk.state().attending.is_empty());
    }

    #[tokio::test]
    async fn a_question_that_nobody_waits_for_is_gone() {
        let desk = Arc::new(ApprovalDesk::default());
        let asking = desk.ask(question(None), Patience::Wait);
        let _ = tokio::time::timeout(Duration::ZERO, asking).await;
        assert!(desk.pending(None).is_empty());
    }
}
