//! What the extension answered, and what follows from it.

use serde_json::{Value, json};
use tabwire_cdp::lenient_json;
use tabwire_wire::ErrorCode;

use crate::debuggee::DebuggeeId;
use crate::emulated_browser::EmulatedBrowser;
use crate::link_message::{LinkFailure, TabDescription};
use crate::page_command::Command;
use crate::pending::{Asker, Pending, Task};
use crate::reply::ProtocolError;

impl EmulatedBrowser {
    pub(crate) fn answered(&mut self, pending: Pending, answer: Result<&str, LinkFailure>) {
        let Pending { asker, task } = pending;
        if let Task::Capture(place) = &task {
            self.captured(place);
        }
        let answer = match (answer, &task) {
            (Ok(answer), _) => answer,
            (Err(failure), Task::Attach(tab)) => return self.tab_attach_failed(*tab, failure),
            // It is there, though its page would not load; a browser says no more than that either.
            (Err(failure), Task::Arrive { .. }) if failure.code == ErrorCode::CdpError.as_str() => "{}",
            (Err(failure), _) => return self.fail(&asker, &ProtocolError::of(failure)),
        };
        match task {
            Task::Pass | Task::Capture(_) => self.succeed(&asker, answer),
            Task::Done => self.succeed(&asker, "{}"),
            Task::Close => self.succeed(&asker, r#"{"success":true}"#),
            Task::Attach(tab) => self.tab_attached(tab, answer),
            Task::Arrive { target } => {
                self.succeed(&asker, &json!({"targetId": target}).to_string());
            }
            Task::Open { url } => self.tab_opened(&url, asker, answer),
            Task::AddScript { session, place, given } => {
                let result = lenient_json::read(answer.as_bytes());
                let real = result.get("identifier").and_then(Value::as_str).unwrap_or_default().to_owned();
                if let Some(entry) = self.sessions.get_mut(&session) {
                    entry.scripts.insert(given.unwrap_or_else(|| real.clone()), Some(real));
                } else {
                    // Its session ended meanwhile.
                    let params = json!({"identifier": real}).to_string();
                    let command = Command::new("Page.removeScriptToEvaluateOnNewDocument", &params);
                    self.pass_on(&place, &command, Asker::Nobody, Task::Pass);
                }
                self.succeed(&asker, answer);
            }
        }
    }

    /// A tab was opened for a client: it goes where it was asked for, and then the client is told of it.
    fn tab_opened(&mut self, url: &str, asker: Asker, answer: &str) {
        let Ok(tab) = lenient_json::read_as::<TabDescription>(answer.as_bytes()) else {
            let error = ProtocolError::ours(ErrorCode::CdpError, "The extension did not say what it opened.");
            return self.fail(&asker, &error);
        };
        let (place, target) = (DebuggeeId { tab: tab.tab, child: None }, tab.target.clone());
        self.tab_seen(tab);
        if url.is_empty() || url == "about:blank" {
            return self.succeed(&asker, &json!({"targetId": target}).to_string());
        }
        let command = Command::new("Page.navigate", &json!({"url": url}).to_string());
        self.run(&place, None, command, asker, Task::Arrive { target });
    }
}
