//! Steps of a chat: what the daemon ran for its agent. The audit log has the same actions.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;
use tabwire_acp::{ItemBody, ItemId, Step};
use tabwire_api::api::ActionRequest;
use tabwire_api::{ErrorCode, Failure};

use crate::chat::Chat;
use crate::chat::screenshots::{Screenshot, read_screenshot};
use crate::daemon::Daemon;

/// Actions of one run of a script that are shown.
const SCRIPT_STEPS: usize = 50;

/// Longest label of a step.
const LABEL_BYTES: usize = 200;

/// An action of a chat's agent. Dropped before its end, it was cancelled.
#[derive(Debug)]
pub(crate) struct RunningStep {
    chat: Arc<Chat>,
    item: ItemId,
    started: Instant,
    has_ended: bool,
}

/// What is known of an action at its end.
#[derive(Debug, Default)]
pub(crate) struct StepFacts {
    /// The origin of its page.
    pub(crate) site: Option<String>,
    /// What it was about.
    pub(crate) label: Option<String>,
    pub(crate) screenshot: Option<Screenshot>,
}

impl Daemon {
    /// Shows an action, if the agent of a chat makes it.
    pub(crate) fn begin_step(&self, action: &str, request: &ActionRequest) -> Option<RunningStep> {
        let chat = self.chats.find_running(request.chat.as_deref()?)?;
        if let Some(run) = &request.run {
            let mut state = chat.state();
            if state.script.0 != *run {
                state.script = (run.clone(), 0);
            }
            state.script.1 += 1;
            if state.script.1 > SCRIPT_STEPS {
                return None;
            }
        }
        let nested = request.run.is_some();
        let step = Step { action: action.to_owned(), nested, ..Step::default() };
        let mut item = None;
        chat.update(|transcript| {
            let (id, changes) = transcript.step(step);
            item = Some(id);
            changes
        });
        Some(RunningStep { item: item?, chat, started: Instant::now(), has_ended: false })
    }
}

impl RunningStep {
    /// Shows how the action ended.
    pub(crate) fn end(mut self, facts: StepFacts, failure: Option<&Failure>) {
        self.finish(facts, failure.map(|failure| failure.code));
    }

    fn finish(&mut self, facts: StepFacts, error: Option<ErrorCode>) {
        self.has_ended = true;
        let milliseconds = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let screenshot = facts.screenshot.map(|screenshot| self.chat.state().screenshots.add(screenshot));
        let label = facts.label.map(|label| tabwire_engine::plain_line(&label, LABEL_BYTES));
        self.chat.update(|transcript| {
            transcript.change(self.item, |body| {
                if let ItemBody::Step(step) = body {
                    step.succeeded = Some(error.is_none());
                    step.error = error.map(|code| code.as_str().to_owned());
                    step.milliseconds = milliseconds;
                    (step.site, step.label, step.screenshot) = (facts.site, label, screenshot);
                }
            })
        });
    }
}

impl Drop for RunningStep {
    fn drop(&mut self) {
        if !self.has_ended {
            let is_stopped = *self.chat.stopping.borrow();
            let code = if is_stopped { ErrorCode::Paused } else { ErrorCode::OutcomeUnknown };
            self.finish(StepFacts::default(), Some(code));
        }
    }
}

/// The screenshot that an action has written.
pub(crate) async fn find_screenshot(action: &str, result: &Value) -> Option<Screenshot> {
    if !matches!(action, "screenshot" | "script_screenshot") {
        return None;
    }
    read_screenshot(Path::new(result["path"].as_str()?)).await
}

/// Whether a target says something to the user. A ref such as `e12` does not.
pub(crate) fn is_readable(target: &str) -> bool {
    let rest = target.trim_start_matches(|letter: char| letter.is_ascii_lowercase());
    rest.is_empty() || rest.contains(|letter: char| !letter.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ref_is_no_label() {
        for (target, readable) in
            [("e12", false), ("f3", false), ("#save", true), ("text=Save", true), ("button", true)]
        {
            assert_eq!(is_readable(target), readable, "{target}");
        }
    }
}
