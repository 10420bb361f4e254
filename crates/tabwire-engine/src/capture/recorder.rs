//! Records one action as a capture: its parameters, its result, and the page afterwards.
//!
//! Never changes the result or the failure of the action.

use std::time::Duration;

use serde_json::{Value, json};
use tabwire_api::{Failure, TargetId};
use tabwire_cdp::Deadline;
use tokio::time::Instant;

use crate::action::context::Context;
use crate::capture::set::{Capture, CaptureOutcome};
use crate::capture::store::{CaptureSlot, CaptureStore, TabBaseline};
use crate::page::Page;
use crate::snapshot::{SnapshotLines, SnapshotRequest};
use crate::timestamp::Timestamp;

/// Bytes of an action's result in the index of captures. A longer one is left out.
const CAPTURE_RESULT: usize = 4_000;

/// How long an action waits for a snapshot before it, so that its capture can list changes.
const CAPTURE_BEFORE: Duration = Duration::from_secs(2);

/// How long the capture of one action may take.
const CAPTURE_DEADLINE: Duration = Duration::from_secs(10);

/// The action that controls captures is not recorded.
const EXCLUDED: &str = "capture";

/// One recorded action.
#[derive(Debug)]
pub struct CaptureRecorder {
    action: String,
    params: Value,
    time: Timestamp,
    since: Instant,
}

impl CaptureRecorder {
    /// Starts to record an action, if that is requested.
    pub async fn begin(context: &Context, action: &str, params: &Value) -> Option<Self> {
        let store = context.browser.captures();
        if action == EXCLUDED || !store.wants(context.capture) {
            return None;
        }
        if let Ok(page) = context.page().await {
            prepare_baseline(store, &page).await;
        }
        let (time, since) = (Timestamp::now(), Instant::now());
        Some(Self { action: action.to_owned(), params: params.clone(), time, since })
    }

    /// Writes the capture; returns notices for the caller.
    pub async fn finish(self, context: &Context, outcome: Result<&Value, &Failure>) -> Vec<String> {
        let took = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        let store = context.browser.captures();
        let set = match store.next_set(&*context.files) {
            Ok(set) => set,
            Err(failure) => return vec![format!("No capture was written: {failure}")],
        };
        let stem = format!("{:04}-{}", set.number, self.action);
        let (tab, files) = gather(context, &set, &stem).await;
        let line = store.with_redaction(|redaction| {
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
            for (name, value) in files.index {
                line[name] = redaction.clean_value(&value);
            }
            line
        });
        match store.note(&line) {
            Err(failure) => vec![format!("The capture is missing from the index: {failure}")],
            Ok(()) if context.capture => {
                vec![format!("captured {stem} in {}", set.folder.path().display())]
            }
            Ok(()) => Vec::new(),
        }
    }
}

/// Takes a first snapshot of an unseen page, so that changes can be reported, and collects its secrets, which may be
/// gone afterwards.
async fn prepare_baseline(store: &CaptureStore, page: &Page) {
    let deadline = Deadline::after(CAPTURE_BEFORE);
    let known = store.with_redaction(|redaction| redaction.known());
    if let Ok(fields) = page.secret_fields(&known, deadline).await {
        store.with_redaction(|redaction| fields.values.iter().for_each(|value| redaction.learn(value)));
    }
    if store.has_tab(page.target()) {
        return;
    }
    let mut seen = TabBaseline { console: page.state().console().count(), ..TabBaseline::default() };
    // A page that cannot be seen now has its whole snapshot in the captures.
    if let Ok((snapshot, request)) = page.view(SnapshotRequest::default(), None, deadline).await {
        seen.memory.remember(&snapshot, &request, SnapshotLines::of(&snapshot));
    }
    store.keep_tab(page.target(), seen);
}

/// Collects the state of the page, or the reason why it cannot.
async fn gather(context: &Context, set: &CaptureSlot, stem: &str) -> (Option<String>, CaptureOutcome) {
    let deadline = Deadline::after(CAPTURE_DEADLINE);
    let page = match context.page().await {
        Ok(page) => page,
        Err(failure) => return (None, CaptureOutcome::skipped(&failure.message)),
    };
    let tab = context.browser.tab_id(&page).to_string();
    let dialog = page.state().dialog().borrow().clone();
    if let Some(dialog) = dialog {
        return (Some(tab), CaptureOutcome::skipped(&dialog.to_failure().message));
    }
    let store = context.browser.captures();
    let target: TargetId = page.target().clone();
    let mut seen = store.take_tab(&target);
    let outcome = Capture { page: &page, store, set, stem, deadline }.gather(&mut seen).await;
    store.keep_tab(&target, seen);
    (Some(tab), outcome)
}

/// A result, or its length.
fn short(result: &Value) -> Value {
    let length = result.to_string().len();
    if length <= CAPTURE_RESULT { result.clone() } else { json!(format!("({length} bytes, left out)")) }
}
