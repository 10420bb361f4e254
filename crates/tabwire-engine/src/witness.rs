//! Watches one action and has evidence of it written: what was asked, what came of it, and what the page shows after.
//!
//! Never changes an action's answer or failure.

use serde_json::{Value, json};
use tabwire_cdp::Deadline;
use tabwire_wire::{Failure, TargetId};
use tokio::time::Instant;

use crate::context::Context;
use crate::evidence_book::{EvidenceBook, Set, TabEvidence};
use crate::evidence_set::{EvidenceSet, Gathered};
use crate::limits::{EVIDENCE_BEFORE, EVIDENCE_DEADLINE, EVIDENCE_RESULT};
use crate::page::Page;
use crate::snapshot::{SnapshotLines, SnapshotRequest};
use crate::time_stamp::TimeStamp;

/// The action that turns it on and off is not watched itself.
const UNWATCHED: &str = "capture";

/// One action that is watched.
#[derive(Debug)]
pub struct Witness {
    action: String,
    params: Value,
    time: TimeStamp,
    since: Instant,
}

impl Witness {
    /// Watches an action that is about to run, if that is wanted.
    pub async fn begin(context: &Context, action: &str, params: &Value) -> Option<Self> {
        let book = context.browser.evidence();
        if action == UNWATCHED || !book.wants(context.capture) {
            return None;
        }
        if let Ok(page) = context.page().await {
            look_before(book, &page).await;
        }
        let (time, since) = (TimeStamp::now(), Instant::now());
        Some(Self { action: action.to_owned(), params: params.clone(), time, since })
    }

    /// Writes down what came of it; says what the caller should know.
    pub async fn finish(self, context: &Context, outcome: Result<&Value, &Failure>) -> Vec<String> {
        let took = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        let book = context.browser.evidence();
        let set = match book.next_set(&*context.files) {
            Ok(set) => set,
            Err(failure) => return vec![format!("No evidence was captured: {failure}")],
        };
        let stem = format!("{:04}-{}", set.number, self.action);
        let (tab, gathered) = gather(context, &set, &stem).await;
        let line = book.with_redaction(|redaction| {
            let mut line = json!({
                "number": set.number,
                "time": self.time.whole(),
                "action": self.action,
                "params": redaction.parameters(&self.action, &self.params, outcome.ok()),
                "ok": outcome.is_ok(),
                "took_ms": took,
                "tab": tab,
            });
            match outcome {
                Ok(result) => line["result"] = short(&redaction.result(&self.action, &self.params, result)),
                Err(failure) => line["error"] = redaction.clean_value(&json!(failure)),
            }
            for (name, value) in gathered.index {
                line[name] = redaction.clean_value(&value);
            }
            line
        });
        match book.note(&line) {
            Err(failure) => vec![format!("The evidence is not in its index: {failure}")],
            Ok(()) if context.capture => {
                vec![format!("captured {stem} in {}", set.folder.path().display())]
            }
            Ok(()) => Vec::new(),
        }
    }
}

/// Looks at a page that has not been looked at, so that what changes can be told; and at its secrets, which may be
/// gone afterwards.
async fn look_before(book: &EvidenceBook, page: &Page) {
    let deadline = Deadline::after(EVIDENCE_BEFORE);
    let known = book.with_redaction(|redaction| redaction.known());
    if let Ok(fields) = page.secret_fields(&known, deadline).await {
        book.with_redaction(|redaction| fields.values.iter().for_each(|value| redaction.learn(value)));
    }
    if book.knows(page.target()) {
        return;
    }
    let mut seen = TabEvidence { console: page.record().console().count(), ..TabEvidence::default() };
    // A page that cannot be seen now has its whole snapshot in the evidence.
    if let Ok((snapshot, request)) = page.view(SnapshotRequest::default(), None, deadline).await {
        seen.memory.remember(&snapshot, &request, SnapshotLines::of(&snapshot));
    }
    book.keep_tab(page.target(), seen);
}

/// Gathers what the page shows, or says why there is nothing.
async fn gather(context: &Context, set: &Set, stem: &str) -> (Option<String>, Gathered) {
    let deadline = Deadline::after(EVIDENCE_DEADLINE);
    let page = match context.page().await {
        Ok(page) => page,
        Err(failure) => return (None, Gathered::skipped(&failure.message)),
    };
    let tab = context.browser.tab_of(&page).to_string();
    let dialog = page.record().dialog().borrow().clone();
    if let Some(dialog) = dialog {
        return (Some(tab), Gathered::skipped(&dialog.to_failure().message));
    }
    let book = context.browser.evidence();
    let target: TargetId = page.target().clone();
    let mut seen = book.take_tab(&target);
    let gathered = EvidenceSet { page: &page, book, set, stem, deadline }.gather(&mut seen).await;
    book.keep_tab(&target, seen);
    (Some(tab), gathered)
}

/// An answer, or how long it is.
fn short(result: &Value) -> Value {
    let length = result.to_string().len();
    if length <= EVIDENCE_RESULT { result.clone() } else { json!(format!("({length} bytes, left out)")) }
}
